#include "bench/workloads/dag.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <string>

#include "bench/workloads/draw.hpp"
#include "wengert/error.hpp"
#include "wengert/ops.hpp"

namespace wengert::bench {

/// Draws the graph of `dag`. Each result carries a bound on its size, from |inputs| <= 1: results above 1 are halved (or
/// quartered) before anything else uses them, so no value exceeds about 3 whatever the inputs and however long the graph.
/// Constants enter some of the fma, so that values don't shrink to nothing either.
RandomGraph draw_random_graph(std::uint64_t seed, std::size_t inputs, std::size_t ops) {
  constexpr std::uint32_t window = 64, scales = 2, offsets = 14;
  constexpr int tries = 8;  // at finding an operand of the size wanted
  RandomGraph graph;
  std::vector<double> bound;
  std::uint32_t draws = 0;
  std::uint64_t row = 0;
  const auto below = [&](std::uint32_t n) { return Draw(seed, Stream::dag, row, draws++).below(n); };

  graph.constants = {0.5, 0.25};
  for (std::uint32_t k = 0; k < offsets; ++k) {
    const double size = 0.25 + below(1u << 16) * 0x1p-17;  // [1/4, 3/4)
    graph.constants.push_back(k % 2 ? -size : size);
  }
  for (double c : graph.constants) bound.push_back(std::fabs(c));
  bound.insert(bound.end(), inputs, 1.0);

  try {
    graph.steps.reserve(ops);
    bound.reserve(bound.size() + ops);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "a dag of " + std::to_string(ops) + " ops takes " +
                                              std::to_string(ops * (sizeof(RandomGraph::Step) + sizeof(double))) +
                                              " bytes to draw, which can't be had; choose fewer ops");
  }
  while (graph.steps.size() < ops) {
    ++row;
    draws = 0;
    const auto places = static_cast<std::uint32_t>(bound.size());
    const std::uint32_t recent = std::min(window, places - scales - offsets);
    const auto any = [&] { return places - 1 - below(recent); };
    const auto small = [&](std::uint32_t except) {
      std::uint32_t place = any();
      for (int k = 0; k < tries && (bound[place] > 1 || place == except); ++k) place = any();
      return place;
    };
    RandomGraph::Step step{static_cast<RandomGraph::Kind>(below(4)), 0, 0, 0};
    if (step.kind == RandomGraph::mul) {
      step.a = any();
      for (int k = 0; k < tries && bound[step.a] <= 1; ++k) step.a = any();
      step.b = bound[step.a] > 2 ? 1 : bound[step.a] > 1 ? 0 : small(step.a);
    } else {
      step.a = small(no_id);
      step.b = small(step.a);  // a - a would be no use
      if (step.kind == RandomGraph::fma) step.c = below(4) == 0 ? scales + below(offsets) : small(no_id);
    }
    const double a = bound[step.a], b = bound[step.b];
    switch (step.kind) {
      case RandomGraph::add:
      case RandomGraph::sub: bound.push_back(a + b); break;
      case RandomGraph::mul: bound.push_back(a * b); break;
      case RandomGraph::fma: bound.push_back(a * b + bound[step.c]); break;
    }
    graph.steps.push_back(step);
  }
  return graph;
}

}  // namespace wengert::bench
