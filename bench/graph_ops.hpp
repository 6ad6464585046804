// The recording functions of a graph, one per row of the op table, over one function of its own:
// Node record(Op, std::span<const Node> operands).
#pragma once

#include <span>

#include "wengert/ops.hpp"

namespace wengert::bench {

template <class Graph, class Node>
struct GraphOps {
#define WENGERT_OP1(name, ...)                 \
  Node name(const Node& x) {                   \
    const Node operands[] = {x};               \
    return graph().record(Op::name, operands); \
  }
#define WENGERT_OP2(name, ...)                 \
  Node name(const Node& a, const Node& b) {    \
    const Node operands[] = {a, b};            \
    return graph().record(Op::name, operands); \
  }
#define WENGERT_OP3(name, ...)                             \
  Node name(const Node& a, const Node& b, const Node& c) { \
    const Node operands[] = {a, b, c};                     \
    return graph().record(Op::name, operands);             \
  }
#define WENGERT_OPN(name, ...) \
  Node name(std::span<const Node> operands) { return graph().record(Op::name, operands); }
#include "wengert/ops.def"

 private:
  Graph& graph() { return static_cast<Graph&>(*this); }
};

}  // namespace wengert::bench
