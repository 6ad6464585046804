// What levels are checked against: values and adjoints of every variable of a workload, in long double, by rules of its
// own (libm's long double functions and textbook derivatives; nothing from the op table), and central differences.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/graph_ops.hpp"
#include "bench/workload.hpp"

namespace wengert::bench {

/// Per variable, in recording order. A scale is the sum of absolute contributions to the number, to first order: what
/// errors of 1 relative to each op's result and to each contribution would add up to. So a level whose ops err by a few
/// eps is within a few eps * scale, however much cancels. Where many are added up the roundings of partial sums count too.
struct ReferenceResult {
  std::vector<long double> values, adjoints;
  std::vector<long double> value_scales, adjoint_scales;
};

class Reference {
 public:
  /// Throws unsupported for an op it has no rule for: it has those of the workloads.
  explicit Reference(const Workload& workload);

  std::uint32_t output() const { return output_; }
  std::size_t variables() const { return graph_.constants.size(); }

  /// `seeds`: one weight per variable.
  ReferenceResult evaluate(std::span<const double> inputs, std::span<const double> seeds) const;
  /// Seeded with 1 at the output.
  ReferenceResult evaluate(std::span<const double> inputs) const;

  /// Derivative of the output in input k, by central differences of two step sizes, extrapolated: good to some 12 digits
  /// of the largest value on the way where the function is smooth, meaningless across a kink.
  long double difference(std::span<const double> inputs, std::size_t k) const;

  /// What the workload's builder records on.
  struct Graph : GraphOps<Graph, std::uint32_t> {
    struct Record {
      Op op;
      bool constant_operand;
      std::uint32_t out, first, count;  // operands[first, first + count)
    };
    std::vector<Record> records;
    std::vector<std::uint32_t> operands;
    std::vector<long double> constants;  // one per variable, 0 for what is none
    std::vector<bool> is_constant;

    std::uint32_t variable(long double value, bool constant);
    std::uint32_t constant(double value) { return variable(value, true); }
    std::uint32_t output(std::uint32_t first, std::size_t k) { return first + static_cast<std::uint32_t>(k); }
    std::uint32_t record(Op op, std::span<const std::uint32_t> of);
  };

 private:
  /// The numbers of an op's operands among those of all variables.
  std::vector<long double> at_operands(const Graph::Record& r, const std::vector<long double>& of) const;
  std::vector<long double> forward(std::span<const long double> inputs) const;

  Graph graph_;
  std::size_t inputs_;
  std::uint32_t output_ = 0;
};

}  // namespace wengert::bench
