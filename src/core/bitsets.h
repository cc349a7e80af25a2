// Counting with bitsets: a block of rows at a time, 64 rows to a word. For trees of up to about a thousand leaves.
//
// G_l(S) is the number (or weight) of rows that meet every condition on the path of leaf l, except perhaps those on
// players in S.
#pragma once

#include "arrays.h"
#include "digests.h"

namespace glasswood {

// The distinct conditions of some trees, those on column c from first[c] to first[c + 1].
struct Conditions {
    std::span<const int64_t> first, n_codes;      // of each column; n_codes is 0 for numbers
    std::span<const double> cut;
    std::span<const float> cut_single;            // the largest float32 that is at most the cut
    std::span<const int64_t> category_set;        // where a set of categories starts in `words`; negative: a cut
    std::span<const bool> missing_left, unseen_left;
    std::span<const Word> words;
    std::span<const int64_t> noted, noted_cell;   // conditions whose number of rows is kept, and in which cell
};

struct BitsetTrees {
    std::span<const int32_t> root, left, right;   // a child below 0 is the leaf ~child
    std::span<const int32_t> slot;                // the place of a node's player among the players of its path
    std::span<const int32_t> condition;
    std::span<const int64_t> leaf_offset;         // where the counts of a leaf start
    int64_t depth, n_conditions;
};

// The sets of players of a path, see glasswood.counting._plan.Subsets.
struct Subsets {
    std::span<const int64_t> size;
    std::span<const int32_t> rest;
    Matrix<const bool> has;
};

// Rows that are sorted by group: those of group g are from bounds[g] to bounds[g + 1], and go to counts[g] and cells[g].
struct Groups {
    std::span<const int64_t> bounds;
    std::span<int64_t* const> counts, cells;
    std::span<const int64_t> weight;              // of each row, at least 0; empty: every row counts 1
};

// The digests of columns that are taken while their rows are read: a line for each block of DIGEST_ROWS rows.
struct ColumnDigests {
    std::span<const int64_t> place;               // of each column in a line; negative: not wanted
    Matrix<Word> lines;
};

// Adds G_l(S) of the rows of each group to its counts.
//
// Each distinct condition is evaluated once per block. Then the trees are walked with one bitset per player set: those
// whose set has the condition's player pass on unchanged (no work), the others lose the rows that break it. Empty
// bitsets are dropped, and subtrees without any. Weights are bit planes: the weight of some rows is the sum, over bits,
// of 2^bit times the number of these rows whose weight has the bit.
void count_with_bitsets(std::span<const Column> columns, const Conditions& conditions, const BitsetTrees& trees,
                        const Subsets& subsets, const Groups& groups, const ColumnDigests& digests);

// The cells of columns of categories: one each, then those of unseen and of missing values.
struct CategoryCells {
    std::span<const int64_t> n_codes, offset;     // the number of categories, and where the cells start
};

// Adds the number (or weight) of rows per category, of the rows of each group, to its cells.
void count_categories(std::span<const Column> columns, const CategoryCells& places, const Groups& groups);

}  // namespace glasswood
