// Trees as arrays: taking a library's trees apart, checking that they are trees, and sending rows through them.
#pragma once

#include "arrays.h"

namespace glasswood {

// The trees of an ensemble. Inner nodes and leaves are numbered through all trees; a child (and a root) below 0 is the
// leaf ~child. Every node and leaf is a root or the child of one node only, and below some root: see is_forest.
struct Trees {
    std::span<const int32_t> root, left, right;
    int64_t n_leaves;

    int64_t n_nodes() const { return int64_t(left.size()); }
};

// Whether every inner node and leaf is a root or the child of one node only, and below some root.
//
// What has one parent only is below a root, or in a cycle. There is no cycle if all children come after their parents, as
// in nearly all libraries; otherwise the trees are walked.
bool is_forest(const Trees& trees);

// What each node asks for, see glasswood.models._ensemble.TreeEnsemble.
struct Splits {
    std::span<const int32_t> column;        // of the rows that are sent through the trees
    std::span<const double> cut;
    std::span<const bool> missing_left;
    std::span<const int32_t> category_set;  // where a set of categories starts in `words`; negative: a cut
    std::span<const bool> unseen_left;
    std::span<const Word> words;
    std::span<const int64_t> n_codes;       // of each column; 0 for numbers

    // Whether a value takes the left branch.
    bool goes_left(int32_t node, double x) const {
        const int32_t set = category_set[node];
        if (set < 0) return (x <= cut[node]) | ((x != x) & missing_left[node]);  // without a branch: no comparison holds for NaN
        if (x != x) return missing_left[node];
        if (!(x >= 0 && x < double(n_codes[column[node]]))) return unseen_left[node];
        return has_category(words.data() + set, int64_t(x));
    }
};

// Adds the value of the leaf that each row reaches in each tree to `scores`, tree by tree.
//
// `rows` is the encoded table. A tree adds to the output tree_output[tree], or to all of them if that is -1; `value` has one
// line per leaf. Every addition is done in T, the library's own precision.
//
// Costs rows x trees x depth steps. Trees are the outer loop, so that a tree stays in the cache.
template <class T>
void add_leaf_values(Matrix<const double> rows, const Trees& trees, const Splits& splits, std::span<const int32_t> tree_output,
                     Matrix<const T> value, Matrix<T> scores);

extern template void add_leaf_values(Matrix<const double>, const Trees&, const Splits&, std::span<const int32_t>, Matrix<const float>,
                                     Matrix<float>);
extern template void add_leaf_values(Matrix<const double>, const Trees&, const Splits&, std::span<const int32_t>, Matrix<const double>,
                                     Matrix<double>);

// One tree as a library stores it: one entry per node, leaves included; `left` is negative at leaves.
struct LibraryTree {
    Strided<int64_t> feature;
    Strided<double> cut;
    Strided<int64_t> left, right;
    Strided<std::uint8_t> missing_left;
    const double* value;                    // the numbers of a leaf, n_values of them
    int64_t n_values, value_row, value_column;  // and how many entries from leaf to leaf, and from number to number
    Strided<double> cover;                  // may be empty
};

// The arrays that trees are taken apart into: one entry per inner node, or per leaf, of all trees.
struct StackedTrees {
    std::span<int32_t> feature;
    std::span<double> cut;
    std::span<int32_t> left, right;
    std::span<bool> missing_left;
    std::span<double> cover;                // empty if the library keeps none
    Matrix<double> value;
    std::span<double> leaf_cover;
};

// Writes the inner nodes of a tree one after the other, from first_node on, and likewise its leaves, from first_leaf on.
// Returns false if the tree has another number of inner nodes than n_inner, a child that is none of its nodes, or a feature
// that no table can have.
//
// Two passes over the tree. A library keeps a node's fields side by side, so each node is fetched from memory twice, and
// not once per field.
bool take_apart(const LibraryTree& tree, int64_t first_node, int64_t first_leaf, int64_t n_inner, const StackedTrees& out);

}  // namespace glasswood
