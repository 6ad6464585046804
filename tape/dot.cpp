// The graph of a tape in Graphviz's language.
#include <charconv>
#include <cstdio>

#include "tape/program.hpp"
#include "tape/records.hpp"
#include "wengert/diagnose.hpp"

namespace wengert {
namespace {

/// A string in quotes, as the language has it. What a terminal or a viewer might act on is left out.
std::string quoted(std::string_view text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    if (static_cast<unsigned char>(c) >= 32) all += c;
  }
  return all + '"';
}

template <class Real>
std::string shortest(Real number) {
  char buffer[32];
  return {buffer, std::to_chars(std::begin(buffer), std::end(buffer), number).ptr};
}

template <class Real>
class Drawing {
 public:
  explicit Drawing(const NaiveTape<Real>& tape)
      : view_(tape.view()), node_(view_.values.size()), labels_(tape.labels()) {}

  std::string run() {
    text_ = "digraph wengert {\n  node [fontname=\"sans-serif\"];\n";
    for (std::size_t i = 0, p = 0; i < view_.inputs.size(); ++i) {
      const Id id = view_.inputs[i];
      const bool parameter = p < view_.parameters.size() && view_.parameters[p] == id;
      p += parameter;
      node(id, named(id, (parameter ? "parameter " : "input ") + std::to_string(i)),
           parameter ? "shape=ellipse, style=dashed" : "shape=ellipse");
    }
    for (Id id : view_.constants) node(id, named(id, shortest(view_.values[id])), "shape=plaintext");
    std::vector<std::uint32_t> open;
    std::uint32_t next = 0;
    for (const OpRecord& record : view_.ops) {
      enter(open, next, record.out);
      const std::uint32_t results = outputs_of(view_, record);
      for (Id j = 0; j < results; ++j) node_[record.out + j] = record.out;
      node(record.out, named(record.out, name_of(view_, record)), "shape=box");
    }
    for (; !open.empty(); open.pop_back()) text_ += "  }\n";
    for (const OpRecord& record : view_.ops) edges(record);
    return text_ + "}\n";
  }

 private:
  using Stretch = detail::Labels::Stretch;

  /// Closes the scopes that end before `id`, and opens those that it is in.
  void enter(std::vector<std::uint32_t>& open, std::uint32_t& next, Id id) {
    const std::vector<Stretch>& scopes = labels_.stretches();
    for (; !open.empty() && scopes[open.back()].end <= id; open.pop_back()) text_ += "  }\n";
    for (; next < scopes.size() && scopes[next].begin <= id; ++next) {
      if (scopes[next].end <= id) continue;
      text_ += "  subgraph cluster" + std::to_string(next) + " {\n  label=" + quoted(scopes[next].text) + ";\n";
      open.push_back(next);
    }
  }

  /// Scopes are boxes, so the name itself is enough.
  std::string named(Id id, const std::string& what) const {
    const std::string_view own = labels_.name_of(id);
    return own.empty() ? what : std::string(own) + ": " + what;
  }

  void node(Id id, const std::string& text, const char* shape) {
    node_[id] = id;
    text_ += "  n" + std::to_string(id) + " [label=" + quoted(text) + ", " + shape + "];\n";
  }

  void edges(const OpRecord& record) {
    const Operands operands = operands_of(view_, record);
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const Id from = node_[operands[k]];
      text_ += "  n" + std::to_string(from) + " -> n" + std::to_string(record.out);
      std::string label;
      if (operands.size() > 1) label = "headlabel=\"" + std::to_string(k) + "\"";
      if (from != operands[k])
        label += (label.empty() ? "" : ", ") + std::string("taillabel=\"") + std::to_string(operands[k] - from) + "\"";
      text_ += label.empty() ? ";\n" : " [" + label + ", fontsize=9];\n";
    }
  }

  TapeView<Real> view_;
  std::vector<Id> node_;  // that a variable is drawn as: of an op with several outputs the first
  const detail::Labels& labels_;
  std::string text_;
};

}  // namespace

template <class Real>
std::string dot(const NaiveTape<Real>& tape) {
  return Drawing<Real>(tape).run();
}
template <class Real>
std::string dot(const Program<Real>& program) {
  return dot(plan::record(program.data().source, program.data().zero_rule));
}

template std::string dot(const NaiveTape<double>&);
template std::string dot(const NaiveTape<float>&);
template std::string dot(const Program<double>&);
template std::string dot(const Program<float>&);

}  // namespace wengert
