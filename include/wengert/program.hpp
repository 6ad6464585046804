// wengert/program.hpp: a tape made ready to be replayed on many inputs.
//
//   wengert::NaiveTape<double> tape;
//   wengert::Id x = tape.input(1.0), y = tape.input(2.0);
//   wengert::Id f = tape.softplus(tape.mul(tape.add(x, y), x));
//   wengert::Program<double> program = wengert::compile(tape, f);
//   std::puts(program.describe().c_str());
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wengert/api.hpp"
#include "wengert/tape.hpp"

namespace wengert {

namespace plan {
template <class Real>
struct ProgramData;
}

/// What `compile` is asked for.
struct CompileOptions {
  /// The inputs whose derivatives are asked for, as ids of the tape; all inputs where nothing is given. Inputs that are left
  /// out cost no derivative work.
  std::optional<std::vector<Id>> differentiated;
  /// Check at each replay that all guards of the tape come out as recorded. Without, a sample at which one doesn't gets the
  /// number of the recorded branch.
  bool guards = true;
};

/// What compiling made of a tape: how much each pass bought.
struct ProgramStatistics {
  std::size_t inputs = 0;                     ///< that differ between samples
  std::size_t parameters = 0;                 ///< that don't
  std::size_t outputs = 0;                    ///< one per sample
  std::size_t uniform_outputs = 0;            ///< one per batch
  std::size_t differentiated = 0;             ///< of the inputs
  std::size_t differentiated_parameters = 0;  ///< of the parameters
  std::size_t guards = 0;                     ///< checked, by ops that count as passive
  std::size_t recorded_ops = 0;               ///< on the tape
  std::size_t dead_ops = 0;                   ///< no output depends on them
  std::size_t constant_ops = 0;               ///< computed once, now
  std::size_t common_ops = 0;                 ///< the value of an earlier op
  std::size_t hoisted_ops = 0;                ///< uniform: run once per batch, not once per sample
  std::size_t passive_ops = 0;                ///< run, but with no adjoint work
  std::size_t forward_instructions = 0;       ///< of a sweep for values
  std::size_t backward_instructions = 0;      ///< of a sweep for adjoints
  std::size_t forward_runs = 0;               ///< stretches of instructions of one kind
  std::size_t backward_runs = 0;              ///< likewise
  std::size_t variables = 0;                  ///< on the tape: slots that a sweep without a plan has, twice
  std::size_t value_slots = 0;                ///< of a gradient: values that its backward needs, and constants
  std::size_t working_slots = 0;              ///< of a gradient: values on the way and adjoints, reused
  std::size_t slots_for_values = 0;           ///< all slots where values alone are asked for
  std::size_t bytes = 0;                      ///< of the program
};

/// A comparison that decided which code was recorded, or a `decide` or `guard`.
struct GuardInfo {
  std::string file;       ///< of the comparison
  std::uint32_t line;     ///< in that file
  std::string condition;  ///< the op that decides: lt, eq, ...
  bool outcome;           ///< at recording
};

/// Which entries of a matrix may be other than zero: those of row r are in columns `column[row_start[r]]` up to, not
/// including, `column[row_start[r + 1]]`, ascending.
struct SparsityPattern {
  std::size_t rows = 0;                ///< of the matrix
  std::size_t columns = 0;             ///< of the matrix
  std::vector<std::size_t> row_start;  ///< rows + 1 places in `column`
  std::vector<std::uint32_t> column;   ///< of each entry, row by row

  std::size_t nonzeros() const { return column.size(); }  ///< entries that may be other than zero
};

/// A tape, optimised and planned. Immutable: copies share it, and any number of threads may use it at once.
template <class Real>
class WENGERT_API Program {
 public:
  /// @{
  /// Per sample: inputs that aren't parameters, in the order recorded; outputs that aren't uniform, and inputs whose
  /// derivatives it gives, in the order in which they were asked for.
  std::size_t inputs() const { return statistics().inputs; }
  std::size_t outputs() const { return statistics().outputs; }
  std::size_t differentiated() const { return statistics().differentiated; }
  /// @}
  /// @{
  /// Per batch: parameters, outputs that depend on parameters and sums over the samples alone, and parameters whose
  /// derivatives it gives.
  std::size_t parameters() const { return statistics().parameters; }
  std::size_t uniform_outputs() const { return statistics().uniform_outputs; }
  std::size_t differentiated_parameters() const { return statistics().differentiated_parameters; }
  /// @}
  const ProgramStatistics& statistics() const;  ///< what each pass bought
  /// Guard k of statistics().guards: in the order recorded, those that differ between samples before those of the batch.
  /// Throws bad_argument.
  GuardInfo guard(std::size_t k) const;
  /// A few lines of text: what each pass bought.
  std::string describe() const;

  /// Where derivatives of the outputs and, after them, the uniform outputs (rows) in the differentiated inputs of a sample (columns)
  /// may be other than zero, at any point. Takes a pass over the program for every 64 rows, or columns where these are fewer and
  /// no output is uniform.
  SparsityPattern jacobian_sparsity() const;
  /// The same for second derivatives of any weighted sum of the outputs, which Replay::hessian gives: symmetric, one row and
  /// column per differentiated input.
  /// An op with a kink counts as curved. Takes a pass for every 64 inputs.
  SparsityPattern hessian_sparsity() const;

  /// Writes it down, to be read by `load_program` on any machine (wengert/serialize.hpp). The file appears under its name
  /// as a whole or not at all; what is there and is no file (a pipe, a device) is written to. Throws bad_file where it can't be written.
  void save(const std::string& path) const;
  void save(std::ostream& stream) const;  ///< likewise, at the end of what is there

  /// @{
  /// Copies, also where it could move: what was moved from is what it was.
  Program(const Program&) noexcept = default;
  Program& operator=(const Program&) noexcept = default;
  /// @}
  /// @{
  /// For the library.
  explicit Program(std::shared_ptr<const plan::ProgramData<Real>> data) : data_(std::move(data)) {}
  const plan::ProgramData<Real>& data() const { return *data_; }
  /// @}

 private:
  std::shared_ptr<const plan::ProgramData<Real>> data_;
};

/// Compiles what `outputs` depend on, in linear time; the tape stays as it is and may go. An output may be any variable, also
/// an input, a constant, or one listed twice.
///
/// With `tape.parameter()` and `tape.sum_samples()` a whole objective is one program: what depends on parameters alone runs
/// once per batch before the samples, what depends on sums once after them; adjoints of parameters are summed over samples.
/// An op that differs from sample to sample can't use a sum of the same pass.
/// All guards of the tape are part of the program, whichever outputs are asked for.
/// Throws stale_id, not_an_input (differentiated), bad_argument (no outputs, an input twice, such an op), out_of_ids,
/// out_of_memory.
template <class Real>
WENGERT_API Program<Real> compile(const NaiveTape<Real>& tape, std::span<const Id> outputs,
                                  const CompileOptions& options = {});
/// Of one output.
template <class Real>
Program<Real> compile(const NaiveTape<Real>& tape, Id output, const CompileOptions& options = {}) {
  return compile(tape, std::span<const Id>(&output, 1), options);
}

extern template class Program<double>;
extern template class Program<float>;
extern template Program<double> compile(const NaiveTape<double>&, std::span<const Id>, const CompileOptions&);
extern template Program<float> compile(const NaiveTape<float>&, std::span<const Id>, const CompileOptions&);

}  // namespace wengert
