// wengert/replay.hpp: runs a Program on batches of inputs.
//
//   wengert::NaiveTape<double> tape;
//   wengert::Id x = tape.input(1.0), y = tape.input(2.0);
//   wengert::Id f = tape.softplus(tape.mul(tape.add(x, y), x));
//   wengert::Replay<double> replay(wengert::compile(tape, f));
//
//   double points[3][2] = {{1, 2}, {0.5, 2}, {-1, 4}}, values[3], gradients[3][2];
//   replay.gradient(3, wengert::rows(points[0], 2), wengert::rows(values, 1), wengert::rows(gradients[0], 2));
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>

#include "wengert/api.hpp"
#include "wengert/program.hpp"
#include "wengert/samples.hpp"

namespace wengert {

/// Runs body(chunk, begin, end) on parts of 0..count that cover it, each once; chunks are below `threads` and no two bodies
/// of one chunk run at a time. Returns when all are done; also when a body throws: that exception, or any other, comes out of
/// the call of the Replay that it ran for, which is as good as before; what that call wrote is unspecified.
using ParallelFor = std::function<void(
    std::size_t count, const std::function<void(unsigned chunk, std::size_t begin, std::size_t end)>& body)>;

/// How batches are run. None of it changes the bits of a result.
struct ReplayOptions {
  std::string isa = "auto";  ///< auto, scalar, avx2, avx512
  unsigned threads = 1;      ///< at most so many, fewer for small work; 0: all cores that this process may use
  std::size_t lanes = 0;  ///< samples in a block, a multiple of the vector's; 0: chosen from the program and the caches
  ParallelFor parallel_for = {};  ///< used instead of threads of our own, if given
  /// Samples at which a guard comes out otherwise than recorded, so that their results are of no use: false: throw; true: go
  /// on, and list them in `departures()`.
  bool report_departures = false;
  /// What runs a program; the bits are the same. "interpreter"; "native": machine code for AVX2 or AVX-512 (isa), made in the
  /// first call that needs it: of values, of gradients (and Jacobians by rows), of jvp (and Jacobians by columns), of hvp (and Hessians), of
  /// each one for single samples and batches of a few, another for more; "auto": that, once there were enough samples to pay for it. Where
  /// native code can't be had the interpreter does it (Replay::engine says why).
  std::string engine = "interpreter";
  /// Bytes that it may work in (bytes()): the workspaces of its blocks, that of what is computed once per batch, sums over samples
  /// on their way, machine code and, for as long as that is being made, what it takes. What would take more is refused before it is
  /// allocated, with out_of_memory and the number of bytes: fewer lanes or threads take less. Where there is room for the workspaces
  /// but not for machine code, the interpreter does it. Not counted: what `departures` lists, and the patterns of sparse matrices.
  std::size_t budget = std::numeric_limits<std::size_t>::max();
};

/// A sample that leaves the recorded path, and the first guard that came out otherwise there (Program::guard).
struct Departure {
  static constexpr std::size_t every_sample = std::numeric_limits<std::size_t>::max();  ///< all of the batch

  std::size_t sample;  ///< `every_sample` where the guard is the same for the batch
  std::size_t guard;   ///< number of the guard
};

template <class Real>
class Machine;
struct Compressed;
struct Seeds;

/// Evaluates a program on batches. The bits of a sample's results depend on its inputs alone: not on the instruction set,
/// block width, threads, its place in the batch or how the batch is split into calls; of a sum over the samples, on these and
/// their order alone.
///
/// A program whose tape has guards (comparisons of Vars) is right for samples that take the recorded path. At others every
/// function below throws other_path, naming the first of them and its guard, after it has run: what it wrote is then
/// unspecified. With ReplayOptions::report_departures it doesn't throw: results of the samples in `departures()` are of no use,
/// those of all others are as always (not so where samples are summed: wengert/program.hpp).
///
/// One thread at a time per Replay; any number of them share a Program. In a process that is forked off, its threads are not
/// there: it does all on the one that calls. Results have memory of their own, not even that of what is read (bad_argument). The
/// first call with a kind of result allocates the workspace; later ones allocate nothing.
template <class Real>
class WENGERT_API Replay {
 public:
  /// Made ready; what it works in is allocated by the first batch. Throws unsupported (instruction set, threads), bad_size
  /// (lanes), bad_argument.
  explicit Replay(Program<Real> program, const ReplayOptions& options = {});
  /// @{
  /// What was moved from may be assigned to or destroyed, no more.
  Replay(Replay&&) noexcept;
  Replay& operator=(Replay&&) noexcept;
  /// @}
  ~Replay();

  /// Values of the parameters for the calls to come, in the order recorded; at first those they had when compiled.
  /// Throws bad_size.
  void set_parameters(std::span<const Real> values);
  /// Outputs, of the last call of any of the functions below, that depend on parameters and sums over the samples alone.
  std::span<const Real> uniform_outputs() const;
  /// Derivatives, by the last `gradient`, `vjp` or `hvp`, in the differentiated parameters, summed over the samples.
  std::span<const Real> parameter_gradients() const;

  /// The direction in the differentiated parameters that `jvp` and `hvp` go along in calls to come; at first 0. Throws bad_size.
  void set_parameter_directions(std::span<const Real> directions);
  /// Derivatives of the uniform outputs along the directions, by the last `jvp` or `hvp`.
  std::span<const Real> uniform_tangents() const;
  /// Derivatives of `parameter_gradients()` along the directions, by the last `hvp`.
  std::span<const Real> parameter_products() const;

  /// Outputs: per sample `program().inputs()` numbers in, `program().outputs()` out.
  /// Throws out_of_memory, saying how many bytes were asked for.
  void values(std::size_t samples, const Samples<const Real>& inputs, const Samples<Real>& values);

  /// Derivatives of the one output in the differentiated inputs. `values` may be left empty ({}).
  /// Throws bad_argument where the program has several outputs, out_of_memory.
  void gradient(std::size_t samples, const Samples<const Real>& inputs, const Samples<Real>& values,
                const Samples<Real>& gradients);

  /// Derivatives of the outputs' sum weighted by `weights` (per sample one per output) in the differentiated inputs.
  /// `values` may be left empty; so may `weights` and those of the uniform outputs, for 1 each.
  void vjp(std::size_t samples, const Samples<const Real>& inputs, const Samples<const Real>& weights,
           const Samples<Real>& values, const Samples<Real>& gradients, std::span<const Real> uniform_weights = {});

  // What follows throws unsupported where the program has custom ops (wengert/custom.hpp) that don't know how to be
  // differentiated in that way. Jacobians and Hessians take parameters as they are set, and differentiate in the inputs of each
  // sample; those in the parameters are parameter_jacobian and parameter_hessian.

  /// Forward mode: derivatives of the outputs along `directions` (per sample a number per differentiated input), and along the
  /// parameters' directions. `values` may be left empty; so may `directions`, for 0, and `tangents` where there are parameters'
  /// directions, sums over samples or uniform outputs.
  void jvp(std::size_t samples, Samples<const Real> inputs, Samples<const Real> directions, Samples<Real> values,
           Samples<Real> tangents);

  /// All first derivatives: item k * differentiated() + i of a sample is that of output k in the differentiated input i; output
  /// outputs() + u is the uniform output u. In reverse, or forward where there are fewer inputs than outputs, none of them uniform.
  /// `values` may be left empty.
  void jacobian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values, Samples<Real> jacobians);
  /// Those that may be other than zero, in the order of program().jacobian_sparsity(): structurally orthogonal columns (rows)
  /// share a sweep. The first call finds the pattern and colours it.
  void sparse_jacobian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values, Samples<Real> nonzeros);

  /// Second derivatives along `directions`, and along the parameters' directions: the Hessian of the one output times a vector.
  /// With `weights` (per sample one per output) that of the outputs' weighted sum. `values` and `gradients` may be left empty; so
  /// may `directions` and `products` as in jvp. Throws bad_argument where there are several outputs and no weights.
  void hvp(std::size_t samples, Samples<const Real> inputs, Samples<const Real> directions, Samples<Real> values,
           Samples<Real> gradients, Samples<Real> products, Samples<const Real> weights = {},
           std::span<const Real> uniform_weights = {});
  /// All second derivatives in the inputs of one sample: item i * differentiated() + j, symmetric up to rounding. The rest as hvp.
  /// Throws unsupported where outputs aren't linear in the sums over samples: they have second derivatives in the inputs of any two
  /// samples, of which hvp gives products.
  void hessian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values, Samples<Real> gradients,
               Samples<Real> hessians, Samples<const Real> weights = {}, std::span<const Real> uniform_weights = {});
  /// Those that may be other than zero, in the order of program().hessian_sparsity(). The rest as hessian.
  void sparse_hessian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values, Samples<Real> gradients,
                      Samples<Real> nonzeros, Samples<const Real> weights = {},
                      std::span<const Real> uniform_weights = {});

  /// First derivatives of the uniform outputs in the differentiated parameters, through the sums over the samples: number
  /// k * differentiated_parameters() + i is that of output k in parameter i. Throws bad_size.
  void parameter_jacobian(std::size_t samples, Samples<const Real> inputs, std::span<Real> jacobian);
  /// Second derivatives in the differentiated parameters of the one output, or of the outputs' weighted sum, over all samples:
  /// [parameter][parameter], symmetric up to rounding. A pass over the samples for each parameter. Throws bad_size, bad_argument.
  void parameter_hessian(std::size_t samples, Samples<const Real> inputs, std::span<Real> hessian,
                         Samples<const Real> weights = {}, std::span<const Real> uniform_weights = {});

  /// Of the last call, by sample; empty where all took the recorded path.
  std::span<const Departure> departures() const;

  const Program<Real>& program() const;  ///< what it runs
  std::string isa() const;               ///< scalar, avx2 or avx512
  /// "native: avx2", if any kind of evaluation has machine code so far, or "interpreter" and why not native where that was asked for.
  /// Known after the first batch.
  std::string engine() const;
  unsigned threads() const;   ///< at most so many
  std::size_t lanes() const;  ///< samples in a block of a large batch
  /// Bytes that it works in so far.
  std::size_t bytes() const;

 private:
  // Each sweep gives the derivatives of one seed; item(seed, k) says where those go.
  template <class Item>
  void forward_jacobian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                        Samples<Real> derivatives, const Seeds& seeds, const Item& item);
  template <class Item>
  void reverse_jacobian(std::size_t samples, Samples<const Real> inputs, Samples<Real> values,
                        Samples<Real> derivatives, const Seeds& seeds, const Item& item);
  template <class Tangent, class Item>
  void second_order(std::size_t samples, std::size_t seeds, Samples<const Real> inputs, Samples<const Real> weights,
                    Samples<Real> values, Samples<Real> gradients, Samples<Real> products, const Tangent& tangent,
                    const Item& item, std::span<const Real> uniform_weights, bool uniform_tangents);
  std::span<const Real> forward_pass(std::size_t samples, Samples<const Real> inputs, Samples<Real> values);
  std::span<const Real> backward_pass(std::size_t samples, Samples<const Real> inputs, Samples<const Real> weights,
                                      Samples<Real> values, Samples<Real> gradients);
  void sums_first(std::size_t samples, Samples<const Real> inputs);
  void reverse(std::size_t samples, const Samples<const Real>& inputs, const Samples<const Real>& weights,
               const Samples<Real>& values, const Samples<Real>& gradients, std::span<const Real> uniform_weights);
  void values_if_wanted(std::size_t samples, Samples<const Real> inputs, Samples<Real> to);
  bool has_sums() const;
  bool has_uniform_tangents() const;
  bool may_go_forward() const;
  void refuse_calls(const char* what, const std::string& without, const char* rule) const;
  void refuse_second(const char* what) const;
  void check_hessian(const char* what, Samples<const Real> weights, std::span<const Real> uniform_weights) const;

  std::unique_ptr<Machine<Real>> machine_;
  std::unique_ptr<Compressed> jacobian_, hessian_;  // what compressed evaluation needs to know, from the first call on
};

extern template class Replay<double>;
extern template class Replay<float>;

}  // namespace wengert
