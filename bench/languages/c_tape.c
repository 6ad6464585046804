/* Both precisions of the C tape, from one body. Compiled with the flags of v2 (bench/meson.build). */
#include "bench/languages/c_tape.h"

#include <math.h>

#define REAL double
#define NAME(name) name##_f64
#define LIBM(name) name
#include "bench/languages/c_tape_body.h"
#undef REAL
#undef NAME
#undef LIBM

#define REAL float
#define NAME(name) name##_f32
#define LIBM(name) name##f
#include "bench/languages/c_tape_body.h"
