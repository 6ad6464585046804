#include "tape/compressed.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace wengert {
namespace {

constexpr std::uint32_t uncoloured = 0xffffffffu;

std::span<const std::uint32_t> row(const SparsityPattern& pattern, std::size_t r) {
  return {pattern.column.data() + pattern.row_start[r], pattern.row_start[r + 1] - pattern.row_start[r]};
}

SparsityPattern transposed(const SparsityPattern& pattern) {
  SparsityPattern t;
  t.rows = pattern.columns;
  t.columns = pattern.rows;
  t.row_start.assign(t.rows + 1, 0);
  for (const std::uint32_t c : pattern.column) ++t.row_start[c + 1];
  std::partial_sum(t.row_start.begin(), t.row_start.end(), t.row_start.begin());
  t.column.resize(pattern.nonzeros());
  std::vector<std::size_t> next(t.row_start.begin(), t.row_start.end() - 1);
  for (std::size_t r = 0; r < pattern.rows; ++r)
    for (const std::uint32_t c : row(pattern, r)) t.column[next[c]++] = static_cast<std::uint32_t>(r);
  return t;
}

/// Vertices by falling number of neighbours: the crowded ones choose first.
std::vector<std::uint32_t> crowded_first(const SparsityPattern& pattern) {
  std::vector<std::uint32_t> order(pattern.rows);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return row(pattern, a).size() > row(pattern, b).size(); });
  return order;
}

/// Remembers what the vertex at hand must not take.
class Palette {
 public:
  explicit Palette(std::size_t vertices) : forbidden_for_(vertices + 1, uncoloured) {}
  void forbid(std::uint32_t colour, std::uint32_t vertex) {
    if (colour != uncoloured) forbidden_for_[colour] = vertex;
  }
  std::uint32_t lowest(std::uint32_t vertex) const {
    std::uint32_t colour = 0;
    while (forbidden_for_[colour] == vertex) ++colour;
    return colour;
  }

 private:
  std::vector<std::uint32_t> forbidden_for_;
};

std::size_t count(const std::vector<std::uint32_t>& colour) {
  return colour.empty() ? 0 : *std::max_element(colour.begin(), colour.end()) + std::size_t(1);
}

Seeds seeds_of(std::vector<std::uint32_t> colour) {
  const std::size_t colours = count(colour);
  return {colours, std::move(colour)};
}

/// Columns that share a row differ. `by_column` is the transpose.
std::vector<std::uint32_t> colour_columns(const SparsityPattern& by_row, const SparsityPattern& by_column) {
  std::vector<std::uint32_t> colour(by_column.rows, uncoloured);
  Palette palette(by_column.rows);
  for (const std::uint32_t c : crowded_first(by_column)) {
    for (const std::uint32_t r : row(by_column, c))
      for (const std::uint32_t other : row(by_row, r)) palette.forbid(colour[other], c);
    colour[c] = palette.lowest(c);
  }
  return colour;
}

std::vector<std::uint32_t> star_colouring(const SparsityPattern& graph) {
  std::vector<std::uint32_t> colour(graph.rows, uncoloured);
  Palette palette(graph.rows);
  for (const std::uint32_t v : crowded_first(graph)) {
    for (const std::uint32_t w : row(graph, v)) {
      if (w == v) continue;
      palette.forbid(colour[w], v);
      for (const std::uint32_t x : row(graph, w)) {
        if (x == v || x == w || colour[x] == uncoloured) continue;
        // v - w - x: three colours if w may still get any, or if w's is also that of another neighbour of x.
        bool forbid = colour[w] == uncoloured;
        if (!forbid)
          for (const std::uint32_t y : row(graph, x)) forbid |= y != w && y != x && colour[y] == colour[w];
        if (forbid) palette.forbid(colour[x], v);
      }
    }
    colour[v] = palette.lowest(v);
  }
  return colour;
}

}  // namespace

Compressed compress_jacobian(const SparsityPattern& pattern, bool may_be_columns) {
  const SparsityPattern by_column = transposed(pattern);
  Compressed plan;
  plan.nonzeros = pattern.nonzeros();
  std::vector<std::uint32_t> columns = colour_columns(pattern, by_column), rows = colour_columns(by_column, pattern);
  plan.seeds_are_columns = may_be_columns && count(columns) < count(rows);
  plan.seeds = seeds_of(plan.seeds_are_columns ? std::move(columns) : std::move(rows));
  plan.items.assign(plan.seeds.count * (plan.seeds_are_columns ? pattern.rows : pattern.columns), no_item);
  std::size_t nonzero = 0;
  for (std::size_t r = 0; r < pattern.rows; ++r)
    for (const std::uint32_t c : row(pattern, r)) {
      if (plan.seeds_are_columns) plan.items[r * plan.seeds.count + plan.seeds.of(c)] = nonzero++;
      else plan.items[c * plan.seeds.count + plan.seeds.of(r)] = nonzero++;
    }
  return plan;
}

Compressed compress_hessian(const SparsityPattern& pattern) {
  Compressed plan;
  plan.nonzeros = pattern.nonzeros();
  plan.seeds = seeds_of(star_colouring(pattern));
  plan.items.assign(plan.seeds.count * pattern.rows, no_item);
  std::vector<std::uint32_t> sharing(plan.seeds.count, 0);  // entries of this row that come out together
  std::vector<std::uint8_t> direct(pattern.nonzeros(), 0);
  for (std::size_t r = 0; r < pattern.rows; ++r) {
    for (const std::uint32_t c : row(pattern, r)) ++sharing[plan.seeds.of(c)];
    for (std::size_t nonzero = pattern.row_start[r]; nonzero < pattern.row_start[r + 1]; ++nonzero) {
      const std::size_t colour = plan.seeds.of(pattern.column[nonzero]);
      if (sharing[colour] != 1) continue;
      direct[nonzero] = 1;
      plan.items[r * plan.seeds.count + colour] = nonzero;
    }
    for (const std::uint32_t c : row(pattern, r)) sharing[plan.seeds.of(c)] = 0;
  }
  for (std::size_t r = 0; r < pattern.rows; ++r)
    for (std::size_t nonzero = pattern.row_start[r]; nonzero < pattern.row_start[r + 1]; ++nonzero) {
      if (direct[nonzero]) continue;
      const std::span<const std::uint32_t> other = row(pattern, pattern.column[nonzero]);
      const auto at = std::lower_bound(other.begin(), other.end(), static_cast<std::uint32_t>(r));
      plan.copies.push_back(
          {nonzero, pattern.row_start[pattern.column[nonzero]] + static_cast<std::size_t>(at - other.begin())});
    }
  return plan;
}

}  // namespace wengert
