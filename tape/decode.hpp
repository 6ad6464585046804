// Reading a program's instructions back: what a kernel would see.
#pragma once

#include <array>
#include <bit>
#include <span>

#include "kernels/catalogue.hpp"
#include "kernels/checks.hpp"
#include "kernels/uniform_products.hpp"
#include "tape/program.hpp"

namespace wengert::plan {

/// One instruction and the slots it names.
struct Instruction {
  const kernels::Kind
      kind;  ///< of a custom op: op_call, and whether it is the adjoint; of take_sum: sum_samples; of a check: what it asks
  std::span<const Slot> writes;
  // value: the operands. adjoint: the outputs' adjoints, the values that partials read, the operands' adjoints so far (which
  // those of a custom op don't read: additions of their own follow).
  std::span<const Slot> reads;

  // Parts of an adjoint's reads.
  std::span<const Slot> adjoints() const { return reads.first(adjoints_); }
  std::span<const Slot> values() const { return reads.subspan(adjoints_, reads.size() - adjoints_ - sources_); }
  /// The operands' adjoints so far, in the order of `writes` but without those that `kind.assign` names.
  std::span<const Slot> sources() const { return reads.last(sources_); }
  /// Operands of an n-ary op.
  std::uint32_t operands() const { return static_cast<std::uint32_t>(kind.adjoint ? writes.size() : reads.size()); }

  std::size_t adjoints_ = 0, sources_ = 0;
  bool no_tie = false;    ///< a tie's slope is 0
  std::uint32_t sum = 0;  ///< of take_sum: which
  bool is_check = false, outcome = false;
  std::uint16_t number = 0;  ///< of the kind, as runs have it
  std::uint32_t item = 0;    ///< which one it is of the code's: several where products are taken apart
  bool uniform = false;      ///< a dot, and each of its terms has a factor that is the same in all lanes
};

/// How many slots an instruction writes and reads, how many of these are adjoints of results and adjoints so far, and whether
/// a word for ties follows.
struct Form {
  std::uint32_t writes = 1, reads, adjoints = 1, sources = 0;
  bool tie = false;
};
constexpr Form form_of(const kernels::Kind& kind, std::uint32_t n) {
  const OpInfo& row = info(kind.op);
  const auto count = [](unsigned bits) { return static_cast<std::uint32_t>(std::popcount(bits)); };
  if (row.arity != 0) {
    Form form{1, static_cast<std::uint32_t>(row.arity), 1, 0,
              kernels::has_tie(kind.op, kind.adjoint ? kind.active : 7)};
    if (!kind.adjoint) return form;
    form.writes = count(kind.active);
    form.sources = count(kind.active & ~unsigned(kind.assign));
    form.reads = 1 + count(kernels::used(kind.op, kind.active) & 15) + form.sources;
    return form;
  }
  const std::uint32_t m = row.outputs(n);
  if (!kind.adjoint) return {m, n, m};
  return {n, n + m + (row.uses[0] & uses::X ? n : 0) + (row.uses[0] & uses::Y ? m : 0), m, n};
}
/// Of the catalogue's kinds; of those with a list of any length, which isn't known before, nothing.
inline constexpr std::array<Form, kernels::kind_count> forms = [] {
  std::array<Form, kernels::kind_count> all{};
  for (std::size_t k = 0; k < all.size(); ++k) {
    const kernels::Kind& kind = kernels::catalogue[k];
    if (info(kind.op).arity != 0 || kind.n != 0) all[k] = form_of(kind, kind.n);
  }
  return all;
}();

/// Hands over one of the catalogue, of kind `number`. How many words it has.
template <class Use>
std::size_t use_words(const std::uint32_t* word, const Use& use, std::uint16_t number) {
  const kernels::Kind& kind = kernels::catalogue[number];
  const std::uint32_t* const first = word;
  Form form = forms[number];
  if (form.reads == 0) form = form_of(kind, *word), ++word;
  const std::uint32_t* const end = word + form.writes + form.reads;
  use(Instruction{kind,
                  {word, form.writes},
                  {word + form.writes, form.reads},
                  form.adjoints,
                  form.sources,
                  form.tie && *end != 0},
      number);
  return static_cast<std::size_t>(end - first) + form.tie;
}

/// Calls use(Instruction) for each, in order. Products with uniform factors come term by term, each with its sum.
template <class Use>
void each_instruction(const Code& code, Use use_one) {
  const std::uint32_t* word = code.words.data();
  std::uint32_t item = 0;
  for (const Run& run : code.runs) {
    const auto use = [&](Instruction instruction, std::uint16_t number) {
      instruction.number = number;
      instruction.item = item;
      instruction.uniform = run.kind == uniform_dots;
      use_one(instruction);
    };
    if (is_call(run.kind)) {
      for (std::uint32_t k = 0; k < run.count; ++k, ++item) {
        const std::span<const Slot> writes(word + call_words, word[2]), reads(writes.data() + word[2], word[3]);
        use({{op_call, run.kind == call_adjoint}, writes, reads, word[1], 0}, run.kind);
        word += call_words + writes.size() + reads.size();
      }
      continue;
    }
    if (run.kind == take_sum) {
      for (std::uint32_t k = 0; k < run.count; ++k, ++item, word += 2)
        use({{Op::sum_samples, false}, {}, {word + 1, 1}, 0, 0, false, word[0]}, run.kind);
      continue;
    }
    if (is_check(run.kind)) {
      const kernels::Question& asked = kernels::questions[run.kind - first_check];
      for (std::uint32_t k = 0; k < run.count; ++k, ++item, word += kernels::check_words)
        use({{asked.op, false}, {}, {word + 2, 2}, 0, 0, false, 0, true, asked.outcome}, run.kind);
      continue;
    }
    if (run.kind == uniform_products) {
      for (std::uint32_t k = 0; k < run.count; ++k, ++item) {
        const std::uint32_t sum = word[0], terms = word[1];
        const std::uint16_t kernel = static_cast<std::uint16_t>(word[2]);
        word += kernels::uniform_products_header;
        for (std::uint32_t term = 0; term < terms; ++term) {
          const std::size_t size = use_words(word, use, kernel);
          use({{Op::sum_samples, false}, {}, {word, 1}, 0, 0, false, sum + term}, run.kind);
          word += size;
        }
      }
      continue;
    }
    const std::uint16_t kernel = run.kind == uniform_dots ? kernels::uniform_dot_kernel : run.kind;
    for (std::uint32_t k = 0; k < run.count; ++k, ++item) word += use_words(word, use, kernel);
  }
}

}  // namespace wengert::plan
