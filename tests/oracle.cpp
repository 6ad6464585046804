#include "tests/oracle.hpp"

#include <string_view>

#include "tests/oracle_functions.hpp"

namespace wengert::test {
namespace {

#define R(expression)                                                      \
  [](const Big* o) -> Big {                                                \
    [[maybe_unused]] const Big &x = o[0], &a = o[0], &b = o[1], &c = o[2]; \
    return expression;                                                     \
  }

// Arguments are evaluated where they are unused too: a row of one operand gets three.
const Oracle oracles[] = {
    // ---- arithmetic ----
    {"add", R(a + b), {R(1), R(1)}},
    {"sub", R(a - b), {R(1), R(-1)}},
    {"mul", R(a* b), {R(b), R(a)}},
    // d/db is computed from the quotient: exact to the last places of that, also where it is subnormal.
    {"div",
     R(a / b),
     {R(1 / b), R(-(a / b) / b)},
     nullptr,
     {nullptr, R(larger(abs(a / b), Big::smallest_normal) / abs(b))}},
    {"neg", R(-x), {R(-1)}},
    {"sum_samples", R(x), {R(1)}},
    {"fma", R(fma(a, b, c)), {R(b), R(a), R(1)}},
    {"square", R(x* x), {R(2 * x)}},
    {"sqrt", R(sqrt(x)), {R(0.5 / abs(sqrt(x)))}},
    {"cbrt", R(cbrt(x)), {R(1 / (3 * (cbrt(x) * cbrt(x))))}},
    {"lerp",
     R((1 - c) * a + c * b),
     {R(1 - c), R(c), R(b - a)},
     R(abs((1 - c) * a) + abs(c * b)),
     {},
     [](const Big* o) { return !(o[0].is_finite() && o[1].is_finite() && o[2].is_finite()); }},
    // ---- exponentials and logarithms ----
    {"exp", R(exp(x)), {R(exp(x))}},
    {"exp2", R(exp2(x)), {R(exp2(x) * log(Big(2)))}},
    {"expm1", R(expm1(x)), {R(exp(x))}},
    {"log", R(log(x)), {R(x < 0 ? nan() : 1 / abs(x))}},
    {"log2", R(log2(x)), {R(x < 0 ? nan() : 1 / (abs(x) * log(Big(2))))}},
    {"log10", R(log10(x)), {R(x < 0 ? nan() : 1 / (abs(x) * log(Big(10))))}},
    {"log1p", R(log1p(x)), {R(x < -1 ? nan() : 1 / (1 + x))}},
    // ---- trigonometry ----
    {"sin", R(sin(x)), {R(cos(x))}},
    {"cos", R(cos(x)), {R(-sin(x))}},
    {"tan", R(tan(x)), {R(1 + tan(x) * tan(x))}},
    {"asin", R(asin(x)), {R(1 / sqrt((1 - x) * (1 + x)))}},
    {"acos", R(acos(x)), {R(-1 / sqrt((1 - x) * (1 + x)))}},
    {"atan", R(atan(x)), {R(1 / (1 + x * x))}},
    // Slopes through a quotient of the operands: exact to the last places of that, also where it is subnormal.
    {"atan2",
     R(atan2(a, b)),
     {R(b / (a * a + b * b)), R(-a / (a * a + b * b))},
     nullptr,
     {R(atan2_scale(a, b, b / (a * a + b * b))), R(atan2_scale(a, b, a / (a * a + b * b)))}},
    // Next to the zeros of the slope its two terms cancel: within 8 units of 2^-10 of them, docs/numerics.md.
    {"sinc", R(sinc(x)), {R(sinc_slope(x))}, nullptr, {R(larger(abs(sinc_slope(x)), 0x1p-10 / larger(abs(x), 1)))}},
    // ---- hyperbolic ----
    {"sinh", R(sinh(x)), {R(cosh(x))}},
    {"cosh", R(cosh(x)), {R(sinh(x))}},
    {"tanh", R(tanh(x)), {R(1 / (cosh(x) * cosh(x)))}},
    {"asinh", R(asinh(x)), {R(1 / sqrt(1 + x * x))}},
    {"acosh", R(acosh(x)), {R(x < 1 ? nan() : 1 / sqrt((x - 1) * (x + 1)))}},
    {"atanh", R(atanh(x)), {R(abs(x) > 1 ? nan() : 1 / abs((1 - x) * (1 + x)))}},
    // ---- choices ----
    {"abs", R(abs(x)), {R(sign(x))}},
    {"relu", R(x.is_nan() || x > 0 ? x : Big(0)), {R(x.is_nan() ? x : Big(x > 0 ? 1 : 0))}},
    {"max", R(a < b ? b : a), {R(larger_slope(a, b)), R(larger_slope(b, a))}},
    {"min", R(b < a ? b : a), {R(larger_slope(b, a)), R(larger_slope(a, b))}},
    {"fmax", R(a.is_nan() || (a < b) ? b : a), {R(fmax_slope(a, b)), R(fmax_slope(b, a))}},
    {"fmin", R(a.is_nan() || (b < a) ? b : a), {R(fmax_slope(-a, -b)), R(fmax_slope(-b, -a))}},
    {"fdim", R(a <= b ? Big(0) : a - b), {R(step(a, b)), R(-step(a, b))}},
    {"fmod",
     R(fmod(a, b)),
     {R(fmod(a, b).is_nan() ? nan() : Big(1)), R(fmod(a, b).is_nan() ? nan() : -quotient(a, b, fmod(a, b)))}},
    {"remainder",
     R(remainder(a, b)),
     {R(remainder(a, b).is_nan() ? nan() : Big(1)),
      R(remainder(a, b).is_nan() ? nan() : -quotient(a, b, remainder(a, b)))}},
    {"floor", R(floor(x)), {R(flat(x))}},
    {"ceil", R(ceil(x)), {R(flat(x))}},
    {"trunc", R(trunc(x)), {R(flat(x))}},
    {"round", R(round_away(x)), {R(flat(x))}},
    {"copysign", R(copysign(a, b)), {R(sign(a) * copysign(1, b)), R(flat(b))}},
    {"sign", R(sign(x)), {R(flat(x))}},
    {"clamp",
     R(a < b   ? b
       : c < a ? c
               : a),
     {R(any_nan(a, b, c) ? nan() : Big(b < a && a < c ? 1 : 0)), R(any_nan(a, b, c) ? nan() : Big(a <= b ? 1 : 0)),
      R(any_nan(a, b, c) ? nan() : Big(c <= a && !(a <= b) ? 1 : 0))}},
    // ---- conditions ----
    {"lt", R(a < b ? 1 : 0), {R(0), R(0)}},
    {"le", R(a <= b ? 1 : 0), {R(0), R(0)}},
    {"gt", R(a > b ? 1 : 0), {R(0), R(0)}},
    {"ge", R(a >= b ? 1 : 0), {R(0), R(0)}},
    {"eq", R(a == b ? 1 : 0), {R(0), R(0)}},
    {"ne", R(a == b ? 0 : 1), {R(0), R(0)}},
    {"isnan", R(x.is_nan() ? 1 : 0), {R(0)}},
    {"logical_and", R(a.is_zero() || b.is_zero() ? 0 : 1), {R(0), R(0)}},
    {"logical_or", R(a.is_zero() && b.is_zero() ? 0 : 1), {R(0), R(0)}},
    {"logical_not", R(x.is_zero() ? 1 : 0), {R(0)}},
    {"select", R(a.is_zero() ? c : b), {R(0), R(a.is_zero() ? 0 : 1), R(a.is_zero() ? 1 : 0)}},
    // ---- sigmoids and the normal distribution ----
    {"sigmoid", R(sigmoid(x)), {R(sigmoid(x) * sigmoid(-x))}},
    {"logit", R(logit(x)), {R(x < 0 || x > 1 ? nan() : 1 / abs(x * (1 - x)))}},
    {"softplus", R(softplus(x)), {R(sigmoid(x))}},
    {"log1mexp", R(log1mexp(x)), {R(x < 0 ? nan() : 1 / abs(expm1(x)))}},
    {"logaddexp",
     R(logaddexp(a, b)),
     {R(logaddexp_slope(a, b)), R(logaddexp_slope(b, a))},
     R(larger(larger(abs(a), abs(b)), abs(logaddexp(a, b))))},
    {"erf", R(erf(x)), {R(2 * gauss(x) / sqrt(pi()))}},
    {"erfc", R(erfc(x)), {R(-2 * gauss(x) / sqrt(pi()))}},
    {"erfcx", R(erfcx(x)), {R(erfcx_slope(x))}},
    {"normal_cdf", R(normal_cdf(x)), {R(normal_pdf(x))}},
    {"normal_pdf",
     R(normal_pdf(x)),
     {R(normal_pdf(x).is_zero() ? Big(0) : -x * normal_pdf(x))},
     nullptr,
     // The slope is computed from the value: exact to the last places of that, also where it is subnormal.
     {R(larger(normal_pdf(x), Big::smallest_normal) * larger(abs(x), 1))}},
    {"normal_icdf", R(normal_icdf(x)), {R(x < 0 || x > 1 ? nan() : 1 / normal_pdf(normal_icdf(x)))}},
    // ---- gamma ----
    // Below 0 their zeros are close together: exact to the last places of the terms that cancel there.
    {"lgamma",
     R(lgamma(x)),
     {R(digamma(x))},
     R(x < 0 ? larger(abs(lgamma(x)), 8) : abs(lgamma(x))),
     {R(x < 0 ? larger(abs(digamma(x)), 4) : abs(digamma(x)))}},
    {"tgamma",
     R(tgamma(x)),
     {R(tgamma(x) * digamma(x))},
     nullptr,
     {R(abs(tgamma(x)) * (x < 0 ? larger(abs(digamma(x)), 4) : abs(digamma(x))))}},
    {"digamma", R(digamma(x)), {R(trigamma(x))}, R(x < 0 ? larger(abs(digamma(x)), 4) : abs(digamma(x)))},
    // ---- powers and lengths ----
    // d/db is computed from the power: exact to the last places of that, also where it is subnormal.
    {"pow",
     R(pow(a, b)),
     {R(pow_slope(a, b)), R(pow_log_slope(a, b))},
     nullptr,
     {nullptr, R(larger(abs(pow(a, b)), Big::smallest_normal) * abs(log(a)))}},
    {"powi", R(pow(a, b)), {R(pow_slope(a, b)), R(0)}},
    {"hypot",
     R(hypot(a, b)),
     {R(hypot_slope(a, hypot(a, b))), R(hypot_slope(b, hypot(a, b)))},
     nullptr,
     {R(hypot_slope_scale(a, hypot(a, b))), R(hypot_slope_scale(b, hypot(a, b)))}},
    {"hypot3",
     R(hypot3(a, b, c)),
     {R(hypot_slope(a, hypot3(a, b, c))), R(hypot_slope(b, hypot3(a, b, c))), R(hypot_slope(c, hypot3(a, b, c)))},
     nullptr,
     {R(hypot_slope_scale(a, hypot3(a, b, c))), R(hypot_slope_scale(b, hypot3(a, b, c))),
      R(hypot_slope_scale(c, hypot3(a, b, c)))}},
    {"xlogy",
     R(a.is_zero() && !b.is_nan() ? Big(0) : a * log(b)),
     {R(log(b)), R(b.is_nan()    ? b
                   : a.is_zero() ? Big(0)
                   : b < 0       ? nan()
                                 : a / abs(b))}},
};

const NaryOracle nary_oracles[] = {
    {"sum", nary::sum, [](auto, std::size_t, std::size_t) { return Big(1); }, nary::sum_of_sizes, nullptr, true,
     nary::sum_of_size},
    {"prod", nary::prod, nary::prod_of_others, nary::prod_scale, nary::prod_partial_scale, true, nary::prod_of_large},
    {"softmax", nary::softmax, nary::softmax_partial},
    {"logsumexp", nary::logsumexp, nary::softmax_of, nary::logsumexp_scale},
    {"dot", nary::dot, nary::dot_partial, nary::dot_of_sizes, nullptr, true, nary::dot_of_size},
    {"sqnorm", nary::sqnorm, [](std::span<const Big> x, std::size_t, std::size_t i) { return 2 * x[i]; }, nullptr,
     nullptr, true},
    {"sincos", nary::sincos, nary::sincos_slope},
    {"norm", nary::norm, nary::norm_slope, nullptr, nary::norm_slope_scale},
};

}  // namespace

const Oracle* oracle(Op op) {
  for (const Oracle& row : oracles)
    if (std::string_view(row.name) == name(op)) return &row;
  return nullptr;
}

const NaryOracle* nary_oracle(Op op) {
  for (const NaryOracle& row : nary_oracles)
    if (std::string_view(row.name) == name(op)) return &row;
  return nullptr;
}

}  // namespace wengert::test
