// Formulas as text, recorded on a tape: "select(gt(x, 0), sqrt(x), 0)". Names followed by a parenthesis are ops of the table,
// single letters are variables in order of first appearance, numbers (inf, nan too) are constants; "softmax(a, b).1" is
// the second output.
#pragma once

#include <cctype>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "wengert/tape.hpp"

namespace wengert::test {

inline Op op_named(std::string_view wanted) {
  for (std::size_t k = 0; k < op_count; ++k)
    if (name(static_cast<Op>(k)) == wanted) return static_cast<Op>(k);
  throw std::invalid_argument("no op is named " + std::string(wanted));
}

template <class Real>
class Expression {
 public:
  /// Records `text` with its variables at `at`.
  Expression(NaiveTape<Real>& tape, std::string_view text, std::span<const double> at) : tape_(tape), text_(text) {
    // Inputs come first, so that a replay can be given columns in their order.
    std::string letters;
    for (std::size_t i = 0; i < text.size(); ++i)
      if (is_variable(i) && letters.find(text[i]) == letters.npos) letters += text[i];
    if (letters.size() != at.size()) throw std::invalid_argument("wrong number of values for " + std::string(text));
    letters_ = letters;
    for (double x : at) inputs_.push_back(tape.input(static_cast<Real>(x)));
    output_ = parse();
    if (!text_.empty()) throw std::invalid_argument("trailing text: " + std::string(text_));
  }

  const std::vector<Id>& inputs() const { return inputs_; }
  Id output() const { return output_; }

 private:
  bool is_variable(std::size_t i) const {
    const auto letter = [&](std::size_t k) {
      return k < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[k])) || text_[k] == '_');
    };
    return std::isalpha(static_cast<unsigned char>(text_[i])) && !letter(i + 1) && (i == 0 || !letter(i - 1)) &&
           !(i + 1 < text_.size() && text_[i + 1] == '(');
  }
  void skip(std::string_view token) {
    if (!text_.starts_with(token))
      throw std::invalid_argument("expected " + std::string(token) + " before " + std::string(text_));
    text_.remove_prefix(token.size());
  }
  Id parse() {
    const std::size_t end = text_.find_first_of("(),.");
    if (end != text_.npos && text_[end] == '(') {
      const Op op = op_named(text_.substr(0, end));
      text_.remove_prefix(end + 1);
      std::vector<Id> operands;
      while (!text_.starts_with(")")) {
        if (!operands.empty()) skip(", ");
        operands.push_back(parse());
      }
      skip(")");
      const Id first = tape_.record(op, operands);
      if (!text_.starts_with(".")) return first;
      const std::size_t k = static_cast<std::size_t>(text_[1] - '0');
      text_.remove_prefix(2);
      return tape_.output(first, k);
    }
    const std::size_t stop = std::min(text_.find_first_of("(),"), text_.size());
    const std::string word(text_.substr(0, stop));
    text_.remove_prefix(stop);
    if (word.size() == 1 && std::isalpha(static_cast<unsigned char>(word[0]))) return inputs_[letters_.find(word[0])];
    char* after = nullptr;
    const double number = std::strtod(word.c_str(), &after);
    if (word.empty() || *after != '\0') throw std::invalid_argument("not a number: " + word);
    return tape_.constant(static_cast<Real>(number));
  }

  NaiveTape<Real>& tape_;
  std::string_view text_;
  std::string letters_;
  std::vector<Id> inputs_;
  Id output_ = no_id;
};

}  // namespace wengert::test
