// Writes docs/ops.md from the op table: `ops_markdown > docs/ops.md`. CI fails where the file is stale.
#include <cstdio>
#include <regex>
#include <string>

#include "wengert/ops.hpp"

namespace {

/// A formula as a reader wants it: without the lane type.
std::string plain(const char* formula) {
  std::string text = formula;
  text = std::regex_replace(text, std::regex(R"(nan<V>\(\))"), "NaN");
  text = std::regex_replace(text, std::regex(R"(inf<V>\(\))"), "inf");
  text = std::regex_replace(text, std::regex(R"(V\((-?[0-9.]+)\))"), "$1");
  text = std::regex_replace(text, std::regex(R"(\bminus_one\b)"), "-1");
  text = std::regex_replace(text, std::regex(R"(\bone\b)"), "1");
  text = std::regex_replace(text, std::regex(R"(\bnone\b)"), "none");
  return std::regex_replace(text, std::regex(R"(\|)"), "\\|");  // a bar would end the table's cell
}

std::string bound(double ulp) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", ulp);
  return ulp == 0 ? "exact" : text;
}

}  // namespace

int main() {
  std::puts(
      "# The ops\n\n"
      "Generated from `include/wengert/ops.def`; don't edit. Operands are `x` (one), `a`, `b`, `c` (two, three) or "
      "`xi`\n"
      "(any number), the result is `y`, `gi` the adjoint of output i. Bounds are in units in the last place of the "
      "true\n"
      "result, for `double` and for `float`, checked against MPFR by the tests; those of partials are of one partial,\n"
      "before it meets an adjoint. `tie` is 1/2, or 0 against a constant. The rules at special points, and why:\n"
      "[numerics.md](numerics.md).\n\n"
      "| op | value | derivative | ULP | ULP of partials | special points |\n"
      "|---|---|---|---|---|---|");
  for (const wengert::OpInfo& row : wengert::detail::op_table) {
    std::string derivative;
    for (int k = 0; k < 3; ++k)
      if (row.partials[k]) derivative += (k ? "`; `" : "`") + plain(row.partials[k]);
    std::printf("| `%s` | `%s` | %s` | %s | %s | %s |\n", row.name, plain(row.value).c_str(), derivative.c_str(),
                bound(row.ulp).c_str(), bound(row.ulp_partials).c_str(), row.note);
  }
}
