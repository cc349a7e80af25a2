// Closed forms: leaf values times counts, added to the cells of curves and grids, or at points.
#pragma once

#include "arrays.h"
#include "plan.h"

namespace glasswood {

// Counts, of either size, or shares of the training weight in their place: one of the three.
struct Counts {
    const int32_t* small;
    const int64_t* large;
    const double* shares;

    double operator[](int64_t at) const { return small ? double(small[at]) : large ? double(large[at]) : shares[at]; }
    Counts from(int64_t at) const {
        return small ? Counts{small + at, nullptr, nullptr} : large ? Counts{nullptr, large + at, nullptr} : Counts{nullptr, nullptr, shares + at};
    }
};

// The leaves of an ensemble, as boxes with values and counts.
struct Leaves {
    Boxes boxes;
    Matrix<const double> value;       // w_l: one line per leaf
    std::span<const int32_t> output;  // the first output that a leaf adds to
    std::span<const int64_t> offset;  // where the counts of a leaf start: G_l(S) is counts[offset[l] + number of S]
    Counts counts;
    Matrix<const int32_t> plus;       // the number of a player set with one more player, -1 if it is not counted
    Matrix<const bool> has;           // whether a set has a player
};

// Adds every leaf to the centred curves of the features on its path, as steps up and down.
//
// Leaf l adds w_l (G_l({j}) [x in the box] - G_l(none)) to the curve of j. Where a curve starts in `steps` is given by
// `place`, negative for features without a curve of their own (they share a player with others). A curve is the cumulative
// sum of its steps, of which it has one more than cells.
void add_curves(const Leaves& leaves, std::span<const int64_t> place, Matrix<double> steps);

// Marks, in a matrix of features, the pairs (the smaller number first) that share the path of some leaf.
void pairs_on_paths(const Boxes& boxes, Matrix<bool> found);

// Adds the leaves from first_leaf to last_leaf to the interactions of all pairs of their features, at some cells of each
// feature: grids has one line of cells per feature. A pair has its place pair_number[smaller feature][larger one] in `out`,
// negative if it is not wanted; `out` has shape (n_pairs, n_points, n_points, n_outputs).
void add_grids(const Leaves& leaves, int64_t first_leaf, int64_t last_leaf, Matrix<const int64_t> grids,
               Matrix<const int32_t> pair_number, double* out, int64_t n_outputs);

// Writes the number of the set of the fixed players of each leaf; -1 if it is not counted.
void sets_of_fixed(const Leaves& leaves, std::span<const bool> fixed, std::span<int32_t> sets);

// Adds every leaf to the partial dependence at points: w_l [the point meets the leaf] G_l(fixed players). `points` has the cell
// of each feature at each point, read for fixed features only; `sets` is what sets_of_fixed writes.
void add_points(const Leaves& leaves, Matrix<const int64_t> points, std::span<const bool> fixed, std::span<const int32_t> sets,
                Matrix<double> out);

}  // namespace glasswood
