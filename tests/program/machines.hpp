// A program on every machine that there is here.
#pragma once

#include <string>

#include "kernels/dispatch.hpp"
#include "wengert/replay.hpp"

namespace wengert::test {

constexpr std::size_t batch_sizes[] = {0, 1, 7, 8, 9, 64, 65, 200};

/// Calls act(Replay&) for all instruction sets, with some numbers of threads and lanes.
template <class Real, class Do>
void on_every_machine(const Program<Real>& program, const Do& act) {
  for (const Isa isa : usable_isas())
    for (const unsigned threads : {1u, 2u, 7u})
      for (const std::size_t vectors : {0u, 1u, 3u}) {
        ReplayOptions options;
        options.isa = std::string(name(isa));
        options.threads = threads;
        options.lanes = vectors * static_cast<std::size_t>(kernels::backend<Real>(isa).lanes);
        Replay<Real> replay(program, options);
        act(replay);
      }
}

}  // namespace wengert::test
