#include "bench/peers/peers.hpp"

#include "wengert/error.hpp"

namespace wengert::bench {

LevelInfo absent(LevelInfo info, std::string why) {
  info.missing = std::move(why);
  info.make_f64 = [why = info.missing](const Workload&, const LevelOptions&) -> std::unique_ptr<Level<double>> {
    throw Error(ErrorCode::unsupported, why);
  };
  return info;
}

const std::vector<LevelInfo>& peers() {
  static const std::vector<LevelInfo> all = [] {
    std::vector<LevelInfo> found;
    const auto add = [&](const char* name, const char* title, const char* description) -> LevelInfo& {
      LevelInfo& info = found.emplace_back();
      info.name = name;
      info.title = title;
      info.description = description;
      info.ladder = false;
      return info;
    };
    LevelInfo& one = add("differences", "central differences", "over v5's program without its backward pass");
    one.make_f64 = make_differences<double>;
    one.make_f32 = make_differences<float>;
    one.uses_lanes = one.approximate = true;
    LevelInfo& many = add("differences-threads", "central differences, threads", "the same on several cores");
    many.make_f64 = make_differences_threads<double>;
    many.make_f32 = make_differences_threads<float>;
    many.uses_lanes = many.uses_threads = many.approximate = true;
    LevelInfo& adolc = add("adolc", "ADOL-C", "traced once, then zos_forward and fos_reverse for each evaluation");
#ifdef HAVE_ADOLC
    adolc.make_f64 = make_adolc;
#else
    adolc = absent(adolc, "this build has no ADOL-C; apt-get install libadolc-dev, and build anew");
#endif
    LevelInfo& sacado = add("sacado", "Sacado", "Rad::ADvar, computed anew and swept back for each evaluation");
#ifdef HAVE_SACADO
    sacado.make_f64 = make_sacado;
#else
    sacado = absent(sacado, "this build has no Sacado; scripts/setup peers, and build anew");
#endif
    struct Tool {
      const char *name, *package, *title, *how;
    };
    for (const Tool& tool : {
             Tool{"jax", "jax", "JAX", "jit of vmap of value_and_grad, in a process of its own"},
             Tool{"casadi", "casadi", "CasADi",
                  "SX on the virtual machine, mapped over the batch, in a process of its own"},
             Tool{"drjit", "drjit", "Dr.Jit", "a frozen function on the LLVM backend, in a process of its own"},
             Tool{"enzyme", "enzyme_ad", "Enzyme", "__enzyme_autodiff on straight C++, in a process of its own"},
         }) {
      LevelInfo& info = add(tool.name, tool.title, tool.how);
      info.make_f64 = [name = info.name](const Workload& workload, const LevelOptions& options) {
        return make_python(name, workload, options, python_of_peers());
      };
      info.own_process = true;
      if (const std::string why = missing_python_peer(tool.package); !why.empty()) info = absent(info, why);
    }
    LevelInfo& generated = add("casadi-c", "CasADi's C", "SX as C code, compiled and called for each evaluation");
    generated.make_f64 = make_casadi_c;
    if (const std::string why = missing_python_peer("casadi"); !why.empty()) generated = absent(generated, why);
    LevelInfo& torch = add("torch", "PyTorch", "eager, whole columns at a time, in a process of its own");
    torch.make_f64 = [](const Workload& workload, const LevelOptions& options) {
      return make_python("torch", workload, options, python_with_torch());
    };
    torch.own_process = true;
    if (const std::string why = missing_torch(); !why.empty()) torch = absent(torch, why);
    return found;
  }();
  return all;
}

}  // namespace wengert::bench
