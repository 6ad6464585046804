/* Level c: an index tape as one would write it in plain C, on libm. Beside the ladder, for comparison. */
#ifndef WENGERT_BENCH_C_TAPE_H
#define WENGERT_BENCH_C_TAPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum c_op {
  C_ADD,
  C_SUB,
  C_MUL,
  C_DIV,
  C_NEG,
  C_FMA,
  C_SQUARE,
  C_SQRT,
  C_EXP,
  C_LOG,
  C_ERFC,
  C_SOFTPLUS,
  C_SIGMOID,
  C_TANH,
  C_MAX,
  C_SUM,
  C_SOFTMAX,
  C_LOGSUMEXP,
  C_DOT,
  C_SQNORM
};

/* An op. Those from sum on have their operands in an array of their own: a is the offset in it, b their number.
   max has c = 1 where one of its operands is a constant: a tie then has slope 0. */
struct c_record {
  uint32_t op, out, a, b, c;
};

void c_forward_f64(const struct c_record* ops, size_t count, const uint32_t* operands, double* value);
void c_backward_f64(const struct c_record* ops, size_t count, const uint32_t* operands, const double* value,
                    double* adjoint);
void c_forward_f32(const struct c_record* ops, size_t count, const uint32_t* operands, float* value);
void c_backward_f32(const struct c_record* ops, size_t count, const uint32_t* operands, const float* value,
                    float* adjoint);

#ifdef __cplusplus
}
#endif

#endif
