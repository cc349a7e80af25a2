// Counting with lists of rows: for trees of thousands of leaves, where few rows are left at a node.
#pragma once

#include "arrays.h"
#include "row_cells.h"

namespace glasswood {

constexpr int LIST_ROWS = 8192;  // of a block, at most: a row and a set of players fit in 32 bits
constexpr int64_t LIST_SETS = int64_t(1) << 19;

struct ListTrees {
    std::span<const int32_t> left, right;         // a child below 0 is the leaf ~child
    std::span<const int32_t> slot, column, rank;  // of a node's player on its path; its column; its cut among the column's
    std::span<const int32_t> category_set;        // where a set of categories starts in `words`; negative: a cut
    std::span<const bool> missing_left, unseen_left;
    std::span<const Word> words;
    std::span<const int64_t> leaf_offset;         // where the counts of a leaf start
    int64_t depth;
};

// Adds to `counts` the number (or weight) of rows that break the conditions of exactly the players S of each leaf.
// subset_sums turns them into G.
//
// An item is a row and the set of players whose conditions it has broken so far, in one word. At a node it goes to the
// child where it belongs, and to the other one with the node's player added to the set, if the set may grow or has the
// player already. `following` has the number of a set with a player added, or of the set itself if it has the player;
// -1 if it may not grow. Values are replaced by their rank among the cuts before (`ranks`, as rank_rows writes them),
// so that a node compares small integers. About 3.5 nanoseconds per item and node, and 1.3 where 16 items are dealt at a time.
void count_with_lists(std::span<const int32_t> root, const ListTrees& trees, int64_t n_rows, Matrix<const int32_t> ranks,
                      Matrix<const int32_t> following, std::span<const int64_t> weight, std::span<int64_t> counts);

// Writes the number of cuts below each value of the rows from `start` on, the code of a category (-1: unseen), the largest int32 for NaN; adds
// up the number (or weight) of rows per cell. One line of `ranks` per column; `offset` tells where its cells start.
void rank_rows(std::span<const Column> columns, const CutsOfColumns& cuts, std::span<const int64_t> offset, int64_t start,
               int64_t n_rows, std::span<const int64_t> weight, Matrix<int32_t> ranks, std::span<int64_t> cells);

}  // namespace glasswood
