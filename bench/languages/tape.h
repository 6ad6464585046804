/* What the ladder asks of a tape that is written in another language: a library with these three functions, whose own are
   the builders of the workloads, recording, and the sweeps. Double precision. */
#ifndef WENGERT_BENCH_LANGUAGES_TAPE_H
#define WENGERT_BENCH_LANGUAGES_TAPE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Records a workload (0: expr, 1: west of so many ops, whose output is the last node, or with `sum` the sum of all) as v1
   does (version 1: pointers into a pool, operands computed again) or as v2 (2: ids, every result stored).
   Null where it hasn't got that, or there is no memory. */
void* language_tape_new(int version, int workload, size_t ops, int sum);

/* Value and gradient of each evaluation, in columns as in bench/level.hpp: inputs[i * stride + e], gradients likewise. */
void language_tape_evaluate(void* tape, size_t evaluations, size_t stride, const double* inputs, double* values,
                            double* gradients);

void language_tape_delete(void* tape);

#ifdef __cplusplus
}
#endif

#endif
