// wengert/labels.hpp: names for variables and for stretches of a recording, which messages and drawings show.
//
//   wengert::NaiveTape<double> tape;
//   wengert::Id x = tape.input(2.0);
//   tape.label(x, "x");
//   {
//     wengert::Scope scope(tape, "layer");
//     wengert::Id y = tape.log(x);
//     tape.label(y, "y");
//     std::puts(tape.label(y).c_str());  // layer/y
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wengert/api.hpp"
#include "wengert/ops.hpp"

namespace wengert {

template <class Real>
class NaiveTape;

namespace detail {

/// What a tape's labels and scopes are. Costs nothing where there are none. What throws leaves it as it was.
class WENGERT_API Labels {
 public:
  struct Name {
    Id id;
    std::string text;
  };
  /// The variables from `begin` up to `end` (no_id: still open), within scope number `parent` (no_id: in none).
  struct Stretch {
    Id begin, end;
    std::uint32_t parent;
    std::string text;
  };

  /// An earlier name of `id` is forgotten.
  void name(Id id, std::string_view text);
  void open(Id begin, std::string_view text);
  void close(Id end);
  /// Forgets about variables from `size` on.
  void rewind(Id size);

  /// Scopes and name, as "outer/inner/name"; empty where there are none.
  std::string of(Id id) const;
  /// Either alone.
  std::string scope_of(Id id) const;
  std::string_view name_of(Id id) const;

  const std::vector<Name>& names() const { return names_; }             ///< ids ascend
  const std::vector<Stretch>& stretches() const { return stretches_; }  ///< begins ascend
  bool empty() const { return names_.empty() && stretches_.empty(); }

  Labels() = default;
  /// As they were: names whose ids ascend, stretches that are closed and nested.
  Labels(std::vector<Name> names, std::vector<Stretch> stretches)
      : names_(std::move(names)), stretches_(std::move(stretches)) {}

 private:
  std::vector<Name> names_;
  std::vector<Stretch> stretches_;
  std::vector<std::uint32_t> open_;  // stretches, innermost last
};

}  // namespace detail

/// While it lives, what `tape` records is in a scope of that name; scopes nest. The tape must outlive it.
template <class Real>
class Scope {
 public:
  /// Opens it. Throws out_of_memory.
  Scope(NaiveTape<Real>& tape, std::string_view name) : tape_(tape) { tape.open_scope(name); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() { tape_.close_scope(); }

 private:
  NaiveTape<Real>& tape_;
};

}  // namespace wengert
