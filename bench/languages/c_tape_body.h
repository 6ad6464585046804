/* The sweeps of the C tape over REAL; included by c_tape.c once per precision, hence no guard. */

void NAME(c_forward)(const struct c_record* ops, size_t count, const uint32_t* operands, REAL* value) {
  for (const struct c_record* op = ops; op != ops + count; ++op) {
    REAL* y = value + op->out;
    const REAL x = value[op->op < C_SUM ? op->a : 0];
    switch (op->op) {
      case C_ADD: *y = x + value[op->b]; break;
      case C_SUB: *y = x - value[op->b]; break;
      case C_MUL: *y = x * value[op->b]; break;
      case C_DIV: *y = x / value[op->b]; break;
      case C_NEG: *y = -x; break;
      case C_FMA: *y = x * value[op->b] + value[op->c]; break;
      case C_SQUARE: *y = x * x; break;
      case C_SQRT: *y = LIBM(sqrt)(x); break;
      case C_EXP: *y = LIBM(exp)(x); break;
      case C_LOG: *y = LIBM(log)(x); break;
      case C_ERFC: *y = LIBM(erfc)(x); break;
      case C_SOFTPLUS: *y = (x > 0 ? x : 0) + LIBM(log1p)(LIBM(exp)(-LIBM(fabs)(x))); break;
      case C_SIGMOID: *y = 1 / (1 + LIBM(exp)(-x)); break;
      case C_TANH: *y = LIBM(tanh)(x); break;
      case C_MAX: *y = x < value[op->b] ? value[op->b] : x; break;
      case C_SUM: {
        const uint32_t* from = operands + op->a;
        REAL sum = 0;
        for (uint32_t i = 0; i < op->b; ++i) sum += value[from[i]];
        *y = sum;
        break;
      }
      case C_SOFTMAX: {
        const uint32_t* from = operands + op->a;
        REAL largest = value[from[0]], sum = 0;
        for (uint32_t i = 1; i < op->b; ++i)
          if (value[from[i]] > largest) largest = value[from[i]];
        for (uint32_t i = 0; i < op->b; ++i) sum += y[i] = LIBM(exp)(value[from[i]] - largest);
        for (uint32_t i = 0; i < op->b; ++i) y[i] /= sum;
        break;
      }
      case C_LOGSUMEXP: {
        const uint32_t* from = operands + op->a;
        REAL largest = value[from[0]], sum = 0;
        for (uint32_t i = 1; i < op->b; ++i)
          if (value[from[i]] > largest) largest = value[from[i]];
        for (uint32_t i = 0; i < op->b; ++i) sum += LIBM(exp)(value[from[i]] - largest);
        *y = largest + LIBM(log)(sum);
        break;
      }
      case C_DOT: {
        const uint32_t *left = operands + op->a, *right = left + op->b / 2;
        REAL sum = 0;
        for (uint32_t i = 0; i < op->b / 2; ++i) sum += value[left[i]] * value[right[i]];
        *y = sum;
        break;
      }
      case C_SQNORM: {
        const uint32_t* from = operands + op->a;
        REAL sum = 0;
        for (uint32_t i = 0; i < op->b; ++i) sum += value[from[i]] * value[from[i]];
        *y = sum;
        break;
      }
    }
  }
}

void NAME(c_backward)(const struct c_record* ops, size_t count, const uint32_t* operands, const REAL* value,
                      REAL* adjoint) {
  for (const struct c_record* op = ops + count; op-- != ops;) {
    const REAL* y = value + op->out;
    const REAL g = adjoint[op->out];
    switch (op->op) {
      case C_ADD:
        adjoint[op->a] += g;
        adjoint[op->b] += g;
        break;
      case C_SUB:
        adjoint[op->a] += g;
        adjoint[op->b] -= g;
        break;
      case C_MUL:
        adjoint[op->a] += g * value[op->b];
        adjoint[op->b] += g * value[op->a];
        break;
      case C_DIV:
        adjoint[op->a] += g / value[op->b];
        adjoint[op->b] -= g * (*y / value[op->b]);
        break;
      case C_NEG: adjoint[op->a] -= g; break;
      case C_FMA:
        adjoint[op->a] += g * value[op->b];
        adjoint[op->b] += g * value[op->a];
        adjoint[op->c] += g;
        break;
      case C_SQUARE: adjoint[op->a] += g * 2 * value[op->a]; break;
      case C_SQRT:
        if (g != 0) adjoint[op->a] += g * ((REAL)0.5 / *y); /* the slope at 0 is infinite: 0 times it would be NaN */
        break;
      case C_EXP: adjoint[op->a] += g * *y; break;
      case C_LOG: adjoint[op->a] += g / value[op->a]; break;
      case C_ERFC: {
        const REAL x = value[op->a];
        adjoint[op->a] += g * ((REAL)-1.1283791670955126 * LIBM(exp)(-x * x)); /* -2 / sqrt(pi) */
        break;
      }
      case C_SOFTPLUS: {
        const REAL x = value[op->a], e = LIBM(exp)(-LIBM(fabs)(x));
        adjoint[op->a] += g * ((x < 0 ? e : 1) / (1 + e));
        break;
      }
      case C_SIGMOID: { /* not y (1 - y), which cancels where y is nearly 1 */
        const REAL e = LIBM(exp)(-LIBM(fabs)(value[op->a]));
        adjoint[op->a] += g * (e / ((1 + e) * (1 + e)));
        break;
      }
      case C_TANH: { /* 1 / cosh^2; not 1 - y^2, which cancels where y is nearly 1 */
        const REAL e = LIBM(exp)(-2 * LIBM(fabs)(value[op->a]));
        adjoint[op->a] += g * (4 * e / ((1 + e) * (1 + e)));
        break;
      }
      case C_MAX: {
        const REAL a = value[op->a], b = value[op->b];
        if (a > b) {
          adjoint[op->a] += g;
        } else if (a < b) {
          adjoint[op->b] += g;
        } else if (!op->c) {
          adjoint[op->a] += g / 2;
          adjoint[op->b] += g / 2;
        }
        break;
      }
      case C_SUM:
        for (uint32_t i = 0; i < op->b; ++i) adjoint[operands[op->a + i]] += g;
        break;
      case C_SOFTMAX: {
        const uint32_t* to = operands + op->a;
        const REAL* gs = adjoint + op->out;
        REAL dot = 0;
        for (uint32_t i = 0; i < op->b; ++i) dot += gs[i] * y[i];
        for (uint32_t i = 0; i < op->b; ++i) adjoint[to[i]] += y[i] * (gs[i] - dot);
        break;
      }
      case C_LOGSUMEXP:
        for (uint32_t i = 0; i < op->b; ++i) {
          const uint32_t to = operands[op->a + i];
          adjoint[to] += g * LIBM(exp)(value[to] - *y);
        }
        break;
      case C_DOT:
        for (uint32_t i = 0; i < op->b / 2; ++i) {
          const uint32_t left = operands[op->a + i], right = operands[op->a + op->b / 2 + i];
          adjoint[left] += g * value[right];
          adjoint[right] += g * value[left];
        }
        break;
      case C_SQNORM:
        for (uint32_t i = 0; i < op->b; ++i) adjoint[operands[op->a + i]] += g * 2 * value[operands[op->a + i]];
        break;
    }
  }
}
