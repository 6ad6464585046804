// Making a level of the registry, at the precision that the caller is compiled for.
#pragma once

#include <memory>
#include <type_traits>

#include "bench/level.hpp"
#include "wengert/error.hpp"

namespace wengert::bench {

template <class Real>
const auto& maker(const LevelInfo& info) {
  if constexpr (std::is_same_v<Real, float>) return info.make_f32;
  else return info.make_f64;
}

/// Throws bad_argument where the level isn't written for this workload or precision.
template <class Real>
void check_available(const LevelInfo& info, const Workload& workload) {
  if (!maker<Real>(info))
    throw Error(ErrorCode::bad_argument,
                "level " + info.name + " is not written for " + (std::is_same_v<Real, float> ? "f32" : "f64"));
  if (info.available && !info.available(workload))
    throw Error(ErrorCode::bad_argument, "level " + info.name + " is not written for workload " + workload.name);
}

/// Throws what check_available and making it throw.
template <class Real>
std::unique_ptr<Level<Real>> make_level(const LevelInfo& info, const Workload& workload, const LevelOptions& options) {
  check_available<Real>(info, workload);
  return maker<Real>(info)(workload, options);
}

}  // namespace wengert::bench
