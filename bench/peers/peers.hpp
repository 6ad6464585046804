// Peers: what people would use instead, as levels on the same batches in the same rounds, verified first like all of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/level.hpp"

namespace wengert::bench {

/// The registry of peers. Those that this build or this machine hasn't got are in it too, and say so in `missing`.
const std::vector<LevelInfo>& peers();

// Their makers, a file each.
template <class Real>
std::unique_ptr<Level<Real>> make_differences(const Workload&, const LevelOptions&);
template <class Real>
std::unique_ptr<Level<Real>> make_differences_threads(const Workload&, const LevelOptions&);
std::unique_ptr<Level<double>> make_adolc(const Workload&, const LevelOptions&);   ///< of builds with HAVE_ADOLC
std::unique_ptr<Level<double>> make_sacado(const Workload&, const LevelOptions&);  ///< of builds with HAVE_SACADO
std::unique_ptr<Level<double>> make_python(const std::string& tool, const Workload&, const LevelOptions&,
                                           const std::string& python);  ///< its interpreter
std::unique_ptr<Level<double>> make_casadi_c(const Workload&, const LevelOptions&);

/// A level that isn't there: it is named, and refuses to be made.
LevelInfo absent(LevelInfo info, std::string why);
/// Why a package of the environment WENGERT_PEERS isn't there, which `script` installs; empty where it is.
std::string missing_python_peer(const std::string& package, const std::string& script = "scripts/peers");
/// The same of PyTorch, which may be the system's instead.
std::string missing_torch();
/// A workload's graph as that script reads it: a line of JSON.
std::string graph_of(const Workload& workload);
/// Its interpreter; the one that has PyTorch; the script that they run. Empty where there is none.
std::string python_of_peers();
std::string python_with_torch();
std::string script_of_peers();

}  // namespace wengert::bench
