// Numbers of tables: by permutations, or by loads where there are none.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "codegen/loop_edges.hpp"

namespace wengert::codegen {

class Lookups : protected LoopEdges {
 protected:
  /// `loops`: whether the code has any, of its own or around calls.
  Lookups(const Graph& graph, Encoder& out, bool loops) : LoopEdges(graph, out), loops_(loops) {}

  void lookup(Value v) {
    const Node& n = nodes_[v];
    const Uses next = uses();
    if (point_) return items(v);
    if (n.immediate == 1) {  // vpermps
      const unsigned index = get(n.b);
      const Place table = source(n.a, next.a);
      read(n.b, next.b);
      read(n.a, next.a);
      out_.vector(opcodes_[n.what], result(v), index, table);
      return;
    }
    if (in_register(n.b)) registers_.pin(static_cast<unsigned>(state_[n.b].reg));
    const unsigned first = get(n.a);
    const Place second = source(n.c, next.c);
    const unsigned to = taken_over(v, n.b, next.b);  // vpermi2pd: the index gives way to the result
    out_.vector(opcodes_[n.what], to, first, second);
    read(n.a, next.a);
    read(n.c, next.c);
  }
  void items(Value v) {
    const Node& n = nodes_[v];
    const Uses next = uses();
    const Index& index = index_of(n.b);
    read(n.a, next.a);
    read(n.b, next.b);
    if (operand_count(n.what) > 2) read(n.a, next.c);
    const unsigned to = result(v);
    const std::int32_t table = state_[n.a].slot;
    if (point_) return out_.vector_of_number(opcodes_.broadcast(), to, Place::item(pool, table, index.in[0]));
    registers_.pin(to);
    out_.items(to, to_work_in(), pool, table, index.in);
  }
  /// Where the general registers may get others.
  void forget_indices() {
    for (Index& index : indices_) index.value = no_value;
  }

 private:
  /// Items of a table in memory: by numbers that stay in general registers for lookups to come.
  struct Index {
    Gpr in[4];  // of each lane
    Value value = no_value;
  };
  Index& index_of(Value v) {
    for (Index& index : indices_)
      if (index.value == v) return index;
    Index& index = indices_[next_index_++ % indices_.size()];
    index.value = v;
    const unsigned vector = get(v);
    if (point_) out_.index_mod_16(index.in[0], vector);
    else out_.indices(index.in, vector, to_work_in());
    return index;
  }

  const bool loops_;
  std::array<Index, 3> of_point_{{{{Gpr::rax}}, {{Gpr::r10}}, {{Gpr::r11}}}};
  std::array<Index, 2> of_batch_{
      {{{Gpr::r10, Gpr::r11, Gpr::rbx, Gpr::rbp}}, {{Gpr::r12, Gpr::r13, Gpr::r14, Gpr::r15}}}};
  /// The second ones of a batch are those that loops step by.
  const std::span<Index> indices_ = point_   ? std::span<Index>(of_point_)
                                    : loops_ ? std::span<Index>(of_batch_).first(1)
                                             : std::span<Index>(of_batch_);
  std::size_t next_index_ = 0;

 protected:
  /// Whether of these some are used that a function has to give back as they were.
  const bool saves_registers_ =
      loops_ || (!point_ && f64_ && !target_.permutes_16 &&
                 (!graph_.tables().empty() ||
                  std::ranges::any_of(graph_.subroutines(), [](const Graph& body) { return !body.tables().empty(); })));
};

}  // namespace wengert::codegen
