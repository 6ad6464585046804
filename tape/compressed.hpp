// Colouring: which columns (rows) of a sparse derivative matrix can share a sweep, and where its entries come out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tape/transfer.hpp"
#include "wengert/program.hpp"

namespace wengert {

/// What the sweeps for a matrix are seeded with: each with the sum of the columns (rows) of its colour.
struct Seeds {
  std::size_t count = 0;                   ///< colours
  std::vector<std::uint32_t> colour = {};  ///< per column (row); empty where each has its own

  std::size_t of(std::size_t k) const { return colour.empty() ? k : colour[k]; }
};

/// How to evaluate a sparse matrix from few sweeps.
struct Compressed {
  bool seeds_are_columns = true;
  Seeds seeds;
  std::vector<std::size_t> items;  ///< [row (column)][colour]: which nonzero comes out there, or no_item
  std::vector<std::pair<std::size_t, std::size_t>> copies;  ///< (to, from): a symmetric matrix's other nonzeros
  std::size_t nonzeros = 0;

  std::size_t item(std::size_t seed, std::size_t k) const { return items[k * seeds.count + seed]; }
};

/// Columns (rows) of one colour have no row (column) in common: the fewer colours of both, or those of rows.
/// A. R. Curtis, M. J. D. Powell, J. K. Reid, "On the estimation of sparse Jacobian matrices", IMA J. Appl. Math. 13 (1974).
Compressed compress_jacobian(const SparsityPattern& pattern, bool may_be_columns);

/// A star colouring: two colours on every edge, three on every path of four vertices, so that each entry comes out by itself
/// in its row or, by symmetry, in its column.
/// A. H. Gebremedhin, F. Manne, A. Pothen, "What color is your Jacobian? Graph coloring for computing derivatives",
/// SIAM Review 47 (2005).
Compressed compress_hessian(const SparsityPattern& pattern);

}  // namespace wengert
