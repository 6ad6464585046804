// The command line as a whole.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace wengert::command {

/// Finds out what `arguments`, without the program's name, ask for, and that they make sense; nothing is done yet. Calling what
/// it returns does it; the result is the exit code. Throws Failure, Error where what is asked for isn't to be had here.
std::function<int()> understand(const std::vector<std::string>& arguments);

}  // namespace wengert::command
