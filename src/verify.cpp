// `wengert verify`: is every level right?
#include "bench/verify.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "bench/memory.hpp"
#include "src/exit_code.hpp"
#include "src/numbers.hpp"
#include "src/selection.hpp"
#include "src/streams.hpp"
#include "src/subcommands.hpp"
#include "wengert/error.hpp"

namespace wengert::command {
namespace {

std::string bits_of(const bench::LevelInfo& level, const bench::Verification& found) {
  if (!level.ladder) return "";
  return ", bits as with v2" + (found.gradient_bits_of == "v2" ? "" : " (gradients: " + found.gradient_bits_of + ")");
}

std::string passed(const bench::LevelInfo& level, const bench::Verification& found, double epsilon) {
  return fmt::format(
      "{:<10} ok      {} numbers, of {}{}; largest error {:.2g} eps of the sum of absolute contributions\n", level.name,
      grouped(found.compared), found.has_nodes ? "every node" : "outputs and gradients", bits_of(level, found),
      found.max_relative_error / epsilon);
}

std::string refuted(const bench::LevelInfo& level, const bench::Verification& found) {
  std::string text;
  for (const std::string& mismatch : found.mismatches) text += fmt::format("{:<10} WRONG   {}\n", level.name, mismatch);
  if (found.wrong > found.mismatches.size())
    text += fmt::format("{:<10} WRONG   {} numbers of {} in all\n", level.name, grouped(found.wrong),
                        grouped(found.compared));
  return text;
}

template <class Real>
int verify(const bench::LadderOptions& options) {
  const bench::Verifier<Real> verifier(options, options.iterations);
  int code = ExitCode::ok;
  for (const bench::LevelInfo* level : options.levels) {
    try {
      const bench::Verification found = verifier.check(*level, options.level_options);
      if (found.wrong == 0) {
        print(Stream::out, passed(*level, found, std::numeric_limits<Real>::epsilon()));
      } else {
        print(Stream::out, refuted(*level, found));
        code = ExitCode::failed;
      }
    } catch (const Failure&) {
      throw;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::bad_argument) throw;
      complain(fmt::format("{} failed: {}", level->name, error.what()));
      code = ExitCode::failed;
    }
  }
  return code;
}

}  // namespace

int verify_levels(const bench::LadderOptions& options) {
  return options.f32 ? verify<float>(options) : verify<double>(options);
}

void add_verify(CLI::App& app, Action& action) {
  auto selection = std::make_shared<Selection>();
  selection->ops = bench::verification_ops;
  selection->iterations = bench::verification_evaluations;
  selection->output = "sum";
  CLI::App& command = *app.add_subcommand("verify", "Compare levels with a long double reference and with v2");
  add_selection(command, *selection);
  command.footer(
      "Values and gradients must be within 64 eps of a reference in long double, times the sum of absolute "
      "contributions,\n"
      "and agree with central differences. Levels v0, v1, ... must also have the very bits of v2;\n"
      "where gradients are summed over the batch, v6, v7, ... those of v5. Where a level keeps "
      "its\n"
      "nodes, every node of three evaluations is compared, with every node seeded.\n\n"
      "Examples:\n"
      "  wengert verify\n"
      "  wengert verify --levels all --workload heston --precision f32\n"
      "  wengert verify --levels c,hand --workload black-scholes --iterations 10000");
  command.callback([selection, &action] {
    action = [options = resolve(*selection)] {
      remark(options);
      return verify_levels(options);
    };
  });
}

}  // namespace wengert::command
