#include "codegen/graph.hpp"

#include <array>
#include <bit>
#include <utility>

namespace wengert::codegen {

namespace {

constexpr std::uint8_t count_of(Do what) {
  switch (what) {
    case Do::constant:
    case Do::uniform:
    case Do::table:
    case Do::streamed:
    case Do::input:
    case Do::call:
    case Do::loop_begin:
    case Do::loop_end:
    case Do::loop_again:
    case Do::take:
    case Do::carried_out: return 0;
    case Do::output:
    case Do::give:
    case Do::to_stream:
    case Do::carry:
    case Do::hold:
    case Do::copy:
    case Do::carried:
    case Do::sqrt:
    case Do::round:
    case Do::exponent:
    case Do::mantissa:
    case Do::to_int:
    case Do::to_real:
    case Do::shift_left:
    case Do::shift_right:
    case Do::shift_right_signed:
    case Do::mask_not:
    case Do::require_not: return 1;
    case Do::fma:
    case Do::blend:
    case Do::mul_where:
    case Do::compare_where:
    case Do::lookup: return 3;
    default: return 2;
  }
}

template <std::size_t... k>
constexpr std::array<std::uint8_t, operations> counts(std::index_sequence<k...>) {
  return {count_of(static_cast<Do>(k))...};
}

}  // namespace

constinit const std::array<std::uint8_t, operations> operand_counts = counts(std::make_index_sequence<operations>());

namespace {

bool commutes(Do what) {
  switch (what) {
    case Do::add:
    case Do::mul:
    case Do::bit_and:
    case Do::bit_or:
    case Do::bit_xor:
    case Do::add_int:
    case Do::mask_and:
    case Do::mask_or:
    case Do::mask_xor: return true;
    default: return false;
  }
}

std::uint64_t hash(Do what, unsigned immediate, Value a, Value b, Value c) {
  std::uint64_t h = (std::uint64_t(a) << 32 | b) ^ 0x9e3779b97f4a7c15u * (c + 1);
  h ^= (std::uint64_t(what) << 8 | immediate) * 0xd6e8feb86659fd93u;
  h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
  return h ^ h >> 29;
}
std::uint64_t hash(const Node& n) { return hash(n.what, n.immediate, n.a, n.b, n.c); }

bool same(const Node& x, const Node& y) {
  return x.what == y.what && x.immediate == y.immediate && x.a == y.a && x.b == y.b && x.c == y.c;
}

Comparison opposite(Comparison how) {
  switch (how) {
    case Comparison::equal: return Comparison::not_equal;
    case Comparison::not_equal: return Comparison::equal;
    case Comparison::unordered: return Comparison::ordered;
    case Comparison::ordered: return Comparison::unordered;
    case Comparison::less: return Comparison::not_less;
    case Comparison::not_less: return Comparison::less;
    case Comparison::less_equal: return Comparison::not_less_equal;
    case Comparison::not_less_equal: break;
  }
  return Comparison::less_equal;
}
IntComparison opposite(IntComparison how) {
  return static_cast<IntComparison>(static_cast<unsigned>(how) ^ 4);  // so AVX-512 has it
}

}  // namespace

inline Value Graph::number_of(Do what, unsigned immediate, Value a, Value b, Value c) {
  const std::uint64_t key = hash(what, immediate, a, b, c);
  const auto tag = static_cast<std::uint8_t>(key >> 56);
  std::uint16_t& latest = latest_[key % latest_size];
  const auto age_of_latest = static_cast<std::uint16_t>(recent_count_ - latest);
  const auto note = [&](Value v) {
    recent_[recent_count_ % recent_size] = {v, age_of_latest <= recent_size ? age_of_latest : std::uint16_t(0), tag};
    latest = static_cast<std::uint16_t>(recent_count_++);
    return v;
  };
  const std::uint32_t oldest = is_mask(what) && target().mask_registers ? recent_masks : recent_size;
  for (std::uint32_t age = age_of_latest, back = age; back != 0 && age <= oldest; age += back) {
    const Recent& recent = recent_[(recent_count_ - age) % recent_size];
    back = recent.back;
    if (recent.tag != tag) continue;
    const Node& node = nodes_[recent.value];
    if (node.what != what || node.immediate != immediate || node.a != a || node.b != b || node.c != c) continue;
    return age > recent_size / 2 ? note(recent.value) : recent.value;
  }
  return note(add({what, static_cast<std::uint8_t>(immediate), a, b, c}));
}

Value Graph::number_at_hand(const Node& node) {
  std::size_t at = hash(node) & (at_hand_.size() - 1);
  for (; at_hand_[at] != no_value; at = (at + 1) & (at_hand_.size() - 1))
    if (same(nodes_[at_hand_[at]], node)) return at_hand_[at];
  const Value value = at_hand_[at] = add(node);
  if (2 * ++at_hand_count_ > at_hand_.size()) grow();
  return value;
}

void Graph::grow() {
  std::vector<Value> old(2 * at_hand_.size(), no_value);
  std::swap(old, at_hand_);
  for (const Value v : old) {
    if (v == no_value) continue;
    std::size_t at = hash(nodes_[v]) & (at_hand_.size() - 1);
    while (at_hand_[at] != no_value) at = (at + 1) & (at_hand_.size() - 1);
    at_hand_[at] = v;
  }
}

std::uint64_t Graph::bits_of(double x) const {
  return real_bytes_ == 8 ? std::bit_cast<std::uint64_t>(x) : std::bit_cast<std::uint32_t>(static_cast<float>(x));
}

Value Graph::constant_bits(std::uint64_t bits) {
  return number_at_hand({Do::constant, 0, static_cast<Value>(bits), static_cast<Value>(bits >> 32), 0});
}

bool Graph::folded(Do what, Value a, Value b, std::uint64_t& result) const {
  const std::uint64_t x = bits(a), y = bits(b), mask = real_bytes_ == 8 ? ~std::uint64_t(0) : 0xffffffffu;
  const auto arithmetic = [&](auto u, auto v) {
    using Real = decltype(u);
    Real r;
    switch (what) {
      case Do::add: r = u + v; break;
      case Do::sub: r = u - v; break;
      case Do::mul: r = u * v; break;
      default: r = u / v; break;
    }
    if (r != r) return false;  // whose sign would be the compiler's
    if constexpr (sizeof(Real) == 8) result = std::bit_cast<std::uint64_t>(r);
    else result = std::bit_cast<std::uint32_t>(r);
    return true;
  };
  switch (what) {
    case Do::bit_and: result = x & y; return true;
    case Do::bit_or: result = x | y; return true;
    case Do::bit_xor: result = x ^ y; return true;
    case Do::add_int: result = (x + y) & mask; return true;
    case Do::sub_int: result = (x - y) & mask; return true;
    case Do::add:
    case Do::sub:
    case Do::mul:
    case Do::div:
      if (real_bytes_ == 8) return arithmetic(std::bit_cast<double>(x), std::bit_cast<double>(y));
      return arithmetic(std::bit_cast<float>(static_cast<std::uint32_t>(x)),
                        std::bit_cast<float>(static_cast<std::uint32_t>(y)));
    default: return false;
  }
}

void Graph::output(Value value, std::uint32_t at, Table of) {
  number_of(Do::output, 0, value, at, vector_or_table(of));
}

Value Graph::with_nothing(Do what, Value a, Value b) {
  switch (what) {
    case Do::add: return a == nothing_ ? b : a;
    case Do::sub: return b == nothing_ ? a : binary(Do::bit_xor, b, constant(-0.0));
    case Do::bit_xor: return is(a == nothing_ ? b : a, -0.0) ? nothing_ : no_value;
    default: return no_value;
  }
}

Value Graph::binary(Do what, Value a, Value b) {
  if (what >= Do::mask_and && !target().mask_registers)
    what = what == Do::mask_and ? Do::bit_and : what == Do::mask_or ? Do::bit_or : Do::bit_xor;
  if (nothing_ != no_value && (a == nothing_ || b == nothing_))
    if (const Value known = with_nothing(what, a, b); known != no_value) return known;
  std::uint64_t result;
  if (is_constant(a) && is_constant(b) && folded(what, a, b, result)) return constant_bits(result);
  if (commutes(what) && (is_constant(a) || (a > b && !is_constant(b)))) std::swap(a, b);
  // What changes no bits of any number.
  if (what == Do::add && is(b, -0.0)) return a;
  if (what == Do::sub && is(b, 0.0)) return a;
  if ((what == Do::mul || what == Do::div) && is(b, 1.0)) return a;
  return number_of(what, 0, a, b);
}

Value Graph::unary(Do what, Value a, unsigned immediate) { return number_of(what, immediate, a); }

Value Graph::ternary(Do what, Value a, Value b, Value c) {
  if (what == Do::fma && (is_constant(a) || (a > b && !is_constant(b)))) std::swap(a, b);
  if (what == Do::blend) return blend(a, b, c);
  return number_of(what, 0, a, b, c);
}

Value Graph::blend(Value mask, Value b, Value c) {
  if (b == c) return b;
  const Node how = nodes_[mask];
  if (how.what == Do::compare && how.immediate == static_cast<std::uint8_t>(Comparison::less)) {
    // As the instructions choose: the second operand where the two are equal or one is NaN.
    if (how.a == c && how.b == b) return binary(Do::max, b, c);
    if (how.a == b && how.b == c) return binary(Do::min, b, c);
    if (const Node otherwise = nodes_[c]; otherwise.what == Do::blend && otherwise.b == b)
      if (same(nodes_[otherwise.a], {Do::compare, static_cast<std::uint8_t>(Comparison::equal), how.a, how.b, 0}))
        return blend(compare(Comparison::less_equal, how.a, how.b), b, otherwise.c);
  }
  return number_of(Do::blend, 0, mask, b, c);
}

Value Graph::compare(Comparison how, Value a, Value b) {
  return number_of(Do::compare, static_cast<unsigned>(how), a, b);
}
Value Graph::compare_int(IntComparison how, Value a, Value b) {
  if (!target().mask_registers)  // these are all there is
    return how == IntComparison::less ? binary(Do::greater_int, b, a) : binary(Do::equal_int, a, b);
  return number_of(Do::compare_int, static_cast<unsigned>(how), a, b);
}
Value Graph::mask_not(Value mask) {
  const Node node = nodes_[mask];
  if (target().mask_registers) return node.what == Do::mask_not ? node.a : unary(Do::mask_not, mask);
  if (node.what == Do::compare) return compare(opposite(static_cast<Comparison>(node.immediate)), node.a, node.b);
  return binary(Do::bit_xor, mask, constant_bits(real_bytes_ == 8 ? ~std::uint64_t(0) : 0xffffffffu));
}

Value Graph::product_of_nonzeros(Value a, Value b) {
  const Value zero = constant(0);
  const auto known = [&](Value v) { return is_constant(v) && !is_zero(v); };
  if (known(a)) std::swap(a, b);
  if (known(a)) return binary(Do::mul, a, b);
  Value nonzero = compare(Comparison::not_equal, a, zero);
  if (!target().mask_registers) {
    if (!known(b)) nonzero = binary(Do::bit_and, nonzero, compare(Comparison::not_equal, b, zero));
    return binary(Do::bit_and, nonzero, binary(Do::mul, a, b));
  }
  if (!known(b)) nonzero = number_of(Do::compare_where, static_cast<unsigned>(Comparison::not_equal), b, zero, nonzero);
  return number_of(Do::mul_where, 0, nonzero, a, b);
}

Value Graph::table(const void* numbers, unsigned k) {
  Value number = 0;
  while (number < tables_.size() && tables_[number] != numbers) ++number;
  if (number == tables_.size()) tables_.push_back(numbers);
  return number_at_hand({Do::table, static_cast<std::uint8_t>(k), number, 0, 0});
}
Value Graph::lookup(const void* numbers, Value index) {
  const Value first = table(numbers, 0);
  if (real_bytes_ == 4 || shape_.point) return number_of(Do::lookup, 1, first, index, first);
  return number_of(Do::lookup, 2, first, index, table(numbers, 1));
}

void Graph::refuse(Value mask) {
  const Node node = nodes_[mask];
  switch (node.what) {
    case Do::compare:
      if (!target().mask_registers) break;
      number_of(Do::require, static_cast<unsigned>(opposite(static_cast<Comparison>(node.immediate))), node.a, node.b);
      return;
    case Do::compare_int:
      if (!target().mask_registers) break;
      number_of(Do::require_int, static_cast<unsigned>(opposite(static_cast<IntComparison>(node.immediate))), node.a,
                node.b);
      return;
    case Do::mask_or:
      refuse(node.a);
      refuse(node.b);
      return;
    case Do::mask_not: refuse_not(node.a); return;
    default: break;
  }
  number_of(Do::require_not, 0, mask);
}

void Graph::refuse_not(Value mask) {
  const Node node = nodes_[mask];
  switch (node.what) {
    case Do::compare: number_of(Do::require, node.immediate, node.a, node.b); break;
    case Do::compare_int: number_of(Do::require_int, node.immediate, node.a, node.b); break;
    case Do::mask_and:
      refuse_not(node.a);
      refuse_not(node.b);
      break;
    case Do::mask_not: refuse(node.a); break;
    default: number_of(Do::require_not, 0, mask_not(mask));
  }
}

void Graph::refuse_nan(Value a, Value b) {
  if (!target().mask_registers) return refuse(compare(Comparison::unordered, a, b));
  number_of(Do::require, static_cast<unsigned>(Comparison::ordered), a, b);
}

void Graph::repeat_for_second_vector() {
  if (shape_.vectors < 2) return;
  const Value end = static_cast<Value>(nodes_.size());
  second_.resize(end);
  for (Value v = repeated_; v < end; ++v) {
    Node node = nodes_[v];
    second_[v] = v;
    if (node.what < Do::input || node.what == Do::call) continue;
    if (node.what == Do::input || node.what == Do::output) ++node.c;
    if (node.what == Do::give || node.what == Do::take) node.immediate += registers_of_a_vector;
    Value* const operands[] = {&node.a, &node.b, &node.c};
    for (int k = 0; k < operand_count(node.what); ++k) *operands[k] = second_[*operands[k]];
    second_[v] = add(node);
  }
  repeated_ = static_cast<Value>(nodes_.size());
}

}  // namespace wengert::codegen
