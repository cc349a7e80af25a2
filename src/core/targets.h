// Sums of real numbers over the rows of each cell of each feature, as wide whole numbers: see glasswood.effects._target_sums.
#pragma once

#include "arrays.h"

namespace glasswood {

// Adds what the rows from `begin` to `end` add, their `terms` in units of 2^-40 times their weights (1 if there are none),
// to the sums of their cells, and to those of all rows, which are last. A feature has a line of `cells`, and its first cell
// is `first`. `sums` has LIMBS numbers for each term of each cell.
void add_targets(Matrix<const int32_t> cells, std::span<const int64_t> first, int64_t begin, int64_t end, Matrix<const double> terms,
                 std::span<const int64_t> weight, Cube<int64_t> sums);

}  // namespace glasswood
