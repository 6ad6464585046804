// The command line, an argument a line: it is understood, or refused in one of the ways there are. Nothing is run.
#include "src/command_line.hpp"

#include <CLI/CLI.hpp>

#include "fuzz/bytes.hpp"
#include "src/exit_code.hpp"
#include "src/selection.hpp"
#include "wengert/error.hpp"

namespace wengert::fuzz {
namespace {

std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    all.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

template <class Do>
void or_refuse(const Do& act) {
  try {
    act();
  } catch (const CLI::Error&) {
  } catch (const command::Failure& failure) {
    require(failure.code() == command::ExitCode::usage && *failure.what(), "a refusal without a reason");
  } catch (const Error& error) {
    require(*error.what(), "an error without a message");
  }
}

/// As options of `ladder` and `verify`, and what these make of them.
void select(std::vector<std::string> arguments) {
  command::Selection selection;
  CLI::App app("fuzzed", "wengert");
  add_selection(app, selection);
  std::reverse(arguments.begin(), arguments.end());
  app.parse(std::move(arguments));
  const bench::LadderOptions options = resolve(selection);
  require(!options.levels.empty(), "no levels");
  require(options.iterations >= 1 && options.level_options.threads >= 1, "nothing to do");
}

}  // namespace
}  // namespace wengert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wengert::fuzz;
  const std::vector<std::string> arguments = lines({reinterpret_cast<const char*>(data), size});
  or_refuse([&] { require(bool(wengert::command::understand(arguments)), "nothing to run, and no refusal"); });
  or_refuse([&] { select(arguments); });
  return 0;
}
