// Sums and differences over subsets of players, of counts that are kept leaf by leaf.
#pragma once

#include "arrays.h"

namespace glasswood {

// Turns the rows that break exactly the players S into those that break no others than S: sums over subsets.
// `size` and `minus` are tables of glasswood.counting._plan.Subsets.
void subset_sums(std::span<const int64_t> leaf_offset, std::span<const int32_t> n_players, std::span<const int64_t> size,
                 Matrix<const int32_t> minus, std::span<int64_t> counts);

// Turns the rows that break no others than S, for each leaf, into those that break exactly S. Undoes subset_sums.
void subset_differences(std::span<const int64_t> leaf_offset, std::span<const int32_t> n_players, std::span<const int64_t> size,
                        Matrix<const int32_t> minus, std::span<double> counts);

}  // namespace glasswood
