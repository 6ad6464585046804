#include "tape/lane_replay.hpp"

#include <algorithm>
#include <new>
#include <string>

#include "tape/block_lanes.hpp"
#include "tape/calls.hpp"
#include "tape/records.hpp"
#include "tape/visit.hpp"

namespace wengert {
template <class Real>
LaneReplay<Real>::LaneReplay(const NaiveTape<Real>& tape, Isa isa, std::size_t lanes)
    : tape_(tape.view()), zero_rule_(tape.zero_rule()), isa_(isa), lanes_(lanes) {
  const std::size_t vector = static_cast<std::size_t>(kernels::backend<Real>(isa).lanes);
  if (lanes_ == 0)
    lanes_ = tape_lanes({2 * tape_.values.size(), sizeof(Real), vector * sizeof(Real), second_cache_bytes()});
  if (lanes_ % vector != 0)
    throw Error(ErrorCode::bad_size, "a block of " + std::to_string(lanes_) + " lanes: " + std::string(name(isa)) +
                                         " takes multiples of " + std::to_string(vector));
  std::size_t longest = 0;
  for (const OpRecord& record : tape_.ops)
    if (record.op != op_call && info(record.op).arity == 0) longest = std::max<std::size_t>(longest, record.b);
  const std::size_t slots = tape_.values.size() * lanes_;
  try {
    values_.resize(slots);
    adjoints_.resize(slots);
    scratch_.resize(std::max<std::size_t>(longest, 1) * lanes_);
    for (const Call<Real>& call : tape_.calls) {
      room_.resize(std::max(room_.size(), room_for(*call.rule) * lanes_));
      contributions_.resize(std::max(contributions_.size(), call.rule->inputs * lanes_));
    }
  } catch (const std::exception&) {
    throw Error(ErrorCode::out_of_memory, "a block of " + std::to_string(lanes_) + " lanes over " +
                                              std::to_string(tape_.values.size()) + " variables needs " +
                                              std::to_string(2 * slots * sizeof(Real)) + " bytes, which can't be had");
  }
  for (Id id : tape_.constants)
    std::fill_n(values_.begin() + static_cast<std::ptrdiff_t>(id * lanes_), lanes_, tape_.values[id]);
}

template <class Real>
std::size_t LaneReplay<Real>::bytes() const {
  return (values_.size() + adjoints_.size() + scratch_.size() + room_.size() + contributions_.size()) * sizeof(Real);
}

template <class Real>
void LaneReplay<Real>::load(const Real* columns, std::size_t stride, std::size_t count, std::size_t skipped) {
  if (count == 0 || count > lanes_)
    throw Error(ErrorCode::bad_size, std::to_string(count) + " evaluations in a block of " + std::to_string(lanes_));
  for (std::size_t i = skipped; i < tape_.inputs.size(); ++i) {
    const Real* const from = columns + (i - skipped) * stride;
    Real* const to = values_.data() + std::size_t(tape_.inputs[i]) * lanes_;
    std::copy_n(from, count, to);
    std::fill(to + count, to + lanes_, from[count - 1]);
  }
}

template <class Real>
void LaneReplay<Real>::forward() {
  each_stretch(
      tape_.calls, tape_.ops.size(),
      [&](std::size_t first, std::size_t end) {
        kernels::backend<Real>(isa_).forward({tape_.ops.data() + first, end - first, tape_.operands.data(),
                                              values_.data(), adjoints_.data(), scratch_.data(), lanes_, false,
                                              nullptr});
      },
      [&](const Call<Real>& call) {
        const OpRecord& record = tape_.ops[call.op];
        const Operands operands = operands_of(tape_, record);
        RunningCall<Real>(*call.rule, lanes_, room_.data())
            .values([&](std::size_t i) { return slot(values_, operands[i]); },
                    [&](std::size_t j) { return slot(values_, record.out + j); });
      });
}

template <class Real>
void LaneReplay<Real>::backward(std::span<const Seed<Real>> seeds) {
  for (const Seed<Real>& seed : seeds)
    if (seed.id >= tape_.values.size())
      throw Error(ErrorCode::stale_id, "id " + std::to_string(seed.id) + " names nothing on this tape of " +
                                           std::to_string(tape_.values.size()) + " variables");
  const bool ieee = zero_rule_ == ZeroRule::ieee;
  std::vector<std::uint8_t> visit;
  if (ieee) visit = visited_ops<Real>(tape_, seeds);
  std::fill(adjoints_.begin(), adjoints_.end(), Real(-0.0));
  for (const Seed<Real>& seed : seeds) {
    Real* const slot = adjoints_.data() + std::size_t(seed.id) * lanes_;
    for (std::size_t lane = 0; lane < lanes_; ++lane) slot[lane] += seed.weight;
  }
  each_stretch_back(
      tape_.calls, tape_.ops.size(),
      [&](std::size_t first, std::size_t end) {
        kernels::backend<Real>(isa_).backward({tape_.ops.data() + first, end - first, tape_.operands.data(),
                                               values_.data(), adjoints_.data(), scratch_.data(), lanes_, ieee,
                                               visit.empty() ? nullptr : visit.data() + first});
      },
      [&](const Call<Real>& call) {
        if (!visit.empty() && !visit[call.op]) return;
        const OpRecord& record = tape_.ops[call.op];
        const Operands operands = operands_of(tape_, record);
        RunningCall<Real>(*call.rule, lanes_, room_.data())
            .adjoint(
                ieee, [&](std::size_t i) { return slot(values_, operands[i]); },
                [&](std::size_t j) { return slot(values_, record.out + j); },
                [&](std::size_t j) { return slot(adjoints_, record.out + j); },
                [&](std::size_t i) { return slot(contributions_, i); });
        for (std::size_t i = 0; i < operands.size(); ++i)
          for (std::size_t lane = 0; lane < lanes_; ++lane)
            slot(adjoints_, operands[i])[lane] += slot(contributions_, i)[lane];
      });
}

template class LaneReplay<double>;
template class LaneReplay<float>;

}  // namespace wengert
