#include "tape/guards.hpp"

#include "wengert/error.hpp"

namespace wengert {

void other_path(const std::string& who, const std::string& file, std::uint32_t line, const std::string& condition,
                bool recorded) {
  const auto text = [](bool b) { return std::string(b ? "true" : "false"); };
  throw Error(ErrorCode::other_path, who + " takes another path than was recorded: " + condition + " at " + file + ":" +
                                         std::to_string(line) + " was " + text(recorded) + " and is " +
                                         text(!recorded) +
                                         "; use wengert::Function, which keeps a program for each path, or "
                                         "select(lt(a, b), x, y), which is decided at replay");
}

}  // namespace wengert
