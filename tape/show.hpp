// Numbers in messages.
#pragma once

#include <charconv>
#include <iterator>
#include <string>

namespace wengert {

/// The fewest digits that read back as it.
inline std::string shortest(double number) {
  char buffer[32];
  return {buffer, std::to_chars(std::begin(buffer), std::end(buffer), number).ptr};
}

}  // namespace wengert
