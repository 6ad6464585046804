// What a program was compiled from, kept small: it is saved, drawn, and recorded again to look into a sample.
//
// Variables are numbered anew: inputs, then constants, then the outputs of ops in their order. The order of ops, and so
// that of contributions to every adjoint, is the tape's: what is compiled from it again has the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "wengert/tape.hpp"

namespace wengert::plan {

struct Simplified;
struct Guards;

template <class Real>
struct Source {
  std::vector<Real> inputs;               ///< their values when compiled, parameters among them
  std::vector<std::uint32_t> parameters;  ///< which of the inputs, ascending
  std::vector<Real> constants;
  std::size_t ops = 0;
  std::vector<std::uint32_t>
      words;  ///< of each op: its number, if it is a custom one its rule, how many operands if it takes any number, the operands
  std::vector<std::shared_ptr<const CustomRule<Real>>> rules;  ///< of its custom ops, as words count them
  std::vector<Id> outputs, differentiated;
  wengert::detail::Labels labels;

  struct Guard {
    Id condition;
    std::uint32_t file, line;  ///< where in the source text; of `files`
    std::uint8_t decider;      ///< number of the op whose result it is; op_count: of none
    bool outcome;
  };
  std::vector<Guard> guards;
  std::vector<std::string> files;

  std::size_t bytes() const {
    return (inputs.size() + constants.size()) * sizeof(Real) +
           (parameters.size() + words.size() + outputs.size() + differentiated.size()) * sizeof(Id) +
           guards.size() * sizeof(Guard);
  }
};

/// What `outputs` and guards depend on of a tape that was simplified for them, and all its inputs.
template <class Real>
Source<Real> source_of(const NaiveTape<Real>& tape, const Simplified& simplified, std::span<const Id> outputs,
                       std::span<const Id> differentiated, const Guards& guards);

/// Records it all on a new tape, which the source must outlive.
template <class Real>
NaiveTape<Real> record(const Source<Real>& source, ZeroRule zero_rule);

}  // namespace wengert::plan
