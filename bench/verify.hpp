// Is a level right? Against an independent reference in long double, and rungs of the ladder bit for bit against v2 (sums of
// gradients, of what is planned, against v5).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/ladder.hpp"
#include "bench/level.hpp"

namespace wengert::bench {

/// What checking a level found.
struct Verification {
  std::uint64_t compared = 0;           ///< numbers
  std::uint64_t wrong = 0;              ///< of them
  std::vector<std::string> mismatches;  ///< the first few: evaluation, node, both numbers
  /// Largest |error| over the sum of absolute contributions to the number (see Reference): a relative error that
  /// cancellation doesn't blow up.
  double max_relative_error = 0;
  bool has_nodes = false;  ///< every node was compared, not only outputs and gradients
  /// The rung whose bits the gradients were to have, if it's a rung.
  std::string gradient_bits_of = "v2";
};

/// Holds what levels are compared with, for one workload.
template <class Real>
class Verifier {
 public:
  /// `evaluations` of the workload that `options` names, at its number of ops. Throws out_of_memory.
  Verifier(const LadderOptions& options, std::size_t evaluations);
  ~Verifier();

  /// Compares values and gradients of a batch, and, where the level keeps them, values and adjoints of every node with
  /// every node seeded. Throws what making the level throws.
  Verification check(const LevelInfo& info, const LevelOptions& options) const;

 private:
  struct Expected;
  std::unique_ptr<Expected> expected_;
};

/// What `run_ladder` checks each level with before timing it: at most 1000 ops (heston: 252 steps), the sum of all nodes as output, and
/// enough evaluations for full blocks of lanes and a tail.
template <class Real>
Verifier<Real> ladder_verifier(const LadderOptions& options);

inline constexpr std::size_t verification_ops = 1000, verification_evaluations = 150;

extern template class Verifier<double>;
extern template class Verifier<float>;

}  // namespace wengert::bench
