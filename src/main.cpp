// The command `wengert`: understands the command line, does what it asks for, turns what goes wrong into one line and an exit
// code.
#include <exception>

#include "bench/memory.hpp"
#include "src/command_line.hpp"
#include "src/exit_code.hpp"
#include "src/signals.hpp"
#include "src/streams.hpp"
#include "wengert/error.hpp"

int main(int argc, char** argv) {
  using namespace wengert::command;
  reserve_standard_streams();
  ignore_write_signals();
  wengert::bench::limit_memory();
  try {
    return understand({argv + 1, argv + argc})();
  } catch (const Failure& failure) {
    if (*failure.what()) complain(failure.what());
    return failure.code();
  } catch (const wengert::Error& error) {
    complain(error.what());
    return error.code() == wengert::ErrorCode::bad_argument ? ExitCode::usage : ExitCode::failed;
  } catch (const std::exception& error) {
    complain(wengert::bench::describe(error));
    return ExitCode::failed;
  }
}
