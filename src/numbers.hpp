// Numbers as users type them: strict, and clear about what is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wengert::command {

/// Decimal digits and nothing else, within [low, high]. Throws std::invalid_argument, whose message says what was typed
/// and what is taken: "'1e6' is not a whole number between 1 and 4294967294".
std::uint64_t parse_count(std::string_view text, std::uint64_t low, std::uint64_t high);

/// A decimal number >= 0 such as 0.2 or 1e-3, with a point in any locale. Throws std::invalid_argument.
double parse_seconds(std::string_view text);

/// "5%" as 0.05; not negative, and the sign must be there. Throws std::invalid_argument.
double parse_percentage(std::string_view text);

/// "a,b,c" into its parts; none may be empty or come twice. Throws std::invalid_argument.
std::vector<std::string> parse_names(std::string_view text);

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);

/// Three significant digits or more: 0.0123, 1.23, 12.3, 1234. NaN is nothing.
std::string significant(double x);

/// A byte count as "12.3 MB" (powers of ten).
std::string bytes(double count);

}  // namespace wengert::command
