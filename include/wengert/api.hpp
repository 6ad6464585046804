// wengert/api.hpp: WENGERT_API marks what the shared library shows; all else in it is hidden. WENGERT_INLINED marks what
// is inlined where it is used, whatever the compiler thinks of its size.
//
//   class WENGERT_API Shown;
#pragma once

#if __cplusplus < 202002L
#error "wengert needs C++20: compile with -std=c++20 or later."
#endif
#ifdef __FAST_MATH__
#error "wengert promises results bit for bit; -ffast-math breaks that. Compile without it."
#endif

/// What the shared library shows.
#define WENGERT_API [[gnu::visibility("default")]]
/// Inlined always.
#define WENGERT_INLINED [[gnu::always_inline]]
