// How rows fall on the cells of two features at once, and sums over rows of what pairs do together.
#pragma once

#include "arrays.h"

namespace glasswood {

// Adds the weight of each row (1 if `weight` is empty) to the pair of cells that it is in.
void add_joint_rows(std::span<const std::uint16_t> first, std::span<const std::uint16_t> second, std::span<const double> weight,
                    Matrix<double> out);

// Adds up a block of values of sets over its rows.
//
// `values` has one line per group, a (set, output). For each group that is of a pair, `first` and `second` are those of its
// two players with the same output; `first` is -1 for other groups. Added to are the four lines of `sums`, each with an entry
// per group: the sums of values and of squares, then the same of the sum of a pair's value and its players' values.
void add_moments(Matrix<const double> values, std::span<const int64_t> first, std::span<const int64_t> second,
                 std::span<const double> weight, Matrix<double> sums);

}  // namespace glasswood
