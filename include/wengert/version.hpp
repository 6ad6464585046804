// wengert/version.hpp: which wengert this is.
//
//   static_assert(WENGERT_VERSION_NUMBER >= 100, "needs wengert 0.1");
//   std::puts("built with wengert " WENGERT_VERSION);
#pragma once

/// As text: major.minor.patch.
#define WENGERT_VERSION "0.1.0"
/// 10000 * major + 100 * minor + patch, for the preprocessor.
#define WENGERT_VERSION_NUMBER 100
