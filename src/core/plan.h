// What the paths of an ensemble say without data: the players of each leaf, its boxes, its share of the training rows.
#pragma once

#include "arrays.h"

namespace glasswood {

// The leaves of an ensemble as boxes: for every leaf and every feature of its path, the values of the feature that lead
// to the leaf. The boxes of leaf l are from first[l] to first[l + 1].
//
// The cells of a feature are, in this order: the intervals between its cuts, or its categories and one cell for unseen
// ones; and last the cell of missing values. A box of numbers has the cells from `low` to `high` (none if low > high), one
// of categories has those in the set that starts at word `low` of `sets`.
struct Boxes {
    std::span<const int64_t> first;
    std::span<const int32_t> feature;
    std::span<const int32_t> slot;              // the place of the feature's player among the players of the path
    std::span<const int32_t> low, high;
    std::span<const bool> missing, unseen;      // whether missing values, and unseen categories, lead to the leaf
    std::span<const Word> sets;
    std::span<const int64_t> n_cells, n_codes;  // of each feature: its cells, with the missing one; its categories, 0 for numbers

    int64_t n_leaves() const { return int64_t(first.size()) - 1; }

    // Whether a cell of the box's feature lies in the box.
    bool has(int64_t box, int64_t cell) const {
        const int32_t f = feature[box];
        if (cell == n_cells[f] - 1) return missing[box];
        if (n_codes[f] == 0) return low[box] <= cell && cell <= high[box];
        if (cell == n_codes[f]) return unseen[box];
        return has_category(sets.data() + low[box], cell);
    }
};

}  // namespace glasswood
