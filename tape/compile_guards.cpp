// Which guards differ between samples, and which comparisons nobody but guards wants: a check makes those itself, in registers,
// and what comes out isn't written anywhere.
#include <algorithm>
#include <string>

#include "kernels/checks.hpp"
#include "tape/compile.hpp"
#include "tape/records.hpp"
#include "wengert/error.hpp"

namespace wengert::plan {

template <class Real>
Guards sort_guards(const TapeView<Real>& tape, std::span<const Guard> guards, Simplified& s,
                   std::span<const Id> outputs) {
  constexpr std::size_t most = std::size_t(1) << 24;  // a guard's number is written down as a float
  if (guards.size() > most)
    throw Error(ErrorCode::out_of_ids, "compile of a tape with " + std::to_string(guards.size()) +
                                           " guards: a program checks at most " + std::to_string(most) +
                                           "; CompileOptions::guards = false leaves them out");
  Guards sorted;
  if (guards.empty()) return sorted;
  sorted.all.reserve(guards.size());
  for (const bool of_samples : {true, false}) {
    for (const Guard& guard : guards)
      if ((!s.has_uniform || s.is(guard.condition, Simplified::varying)) == of_samples) sorted.all.push_back(guard);
    if (of_samples) sorted.of_samples = sorted.all.size();
  }

  LargeVector<std::uint8_t> decides(tape.values.size(), 0), read(decides);
  for (const Guard& guard : guards) decides[s.same[guard.condition]] = 1;
  for (Id id : outputs) read[s.same[id]] = 1;
  for (const OpRecord& record : tape.ops)
    if ((s.flags[record.out] & (Simplified::live | Simplified::constant)) == Simplified::live)
      for (Id id : operands_of(tape, record)) read[s.same[id]] = 1;
  for (const OpRecord& record : tape.ops)
    if (kernels::asks(record.op) && decides[record.out] && !read[record.out] && !s.is(record.out, Simplified::constant))
      s.flags[record.out] |= Simplified::asked;
  return sorted;
}

template Guards sort_guards(const TapeView<double>&, std::span<const Guard>, Simplified&, std::span<const Id>);
template Guards sort_guards(const TapeView<float>&, std::span<const Guard>, Simplified&, std::span<const Id>);

}  // namespace wengert::plan
