// The command line's selection of what to run: options, one a line, are understood, or refused in one of the ways there are.
#include "src/selection.hpp"

#include <CLI/CLI.hpp>

#include "fuzz/bytes.hpp"
#include "src/exit_code.hpp"
#include "wengert/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wengert;
  using namespace wengert::command;
  std::vector<std::string> arguments;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    arguments.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  Selection selection;
  CLI::App app("fuzzed", "wengert");
  add_selection(app, selection);
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(std::move(reversed));
    const bench::LadderOptions options = resolve(selection);
    fuzz::require(!options.levels.empty(), "no levels");
    fuzz::require(options.iterations >= 1 && options.level_options.threads >= 1, "nothing to do");
  } catch (const CLI::Error&) {
  } catch (const Failure& failure) {
    fuzz::require(failure.code() == ExitCode::usage && *failure.what(), "a refusal without a reason");
  } catch (const Error& error) {
    fuzz::require(*error.what(), "an error without a message");
  }
  return 0;
}
