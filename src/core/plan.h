// What the paths of an ensemble say without data: the players of each leaf, its boxes, its share of the training rows.
#pragma once

#include "arrays.h"
#include "ensemble.h"

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

// What number_players writes, for each node and each leaf.
struct PathsOfTrees {
    std::span<int32_t> slot;       // 0 for the first player met on the path, 1 for the second, and so on
    std::span<bool> is_new;        // whether no node above has the node's player
    std::span<int32_t> n_players;  // of each leaf
    std::span<int32_t> node_tree, leaf_tree;
};

// Writes the place of each node's player among those of its path, and the number of players of each leaf. Returns the number
// of nodes on the longest path.
int64_t number_players(const Trees& trees, std::span<const int32_t> player, const PathsOfTrees& out);

// Marks the pairs of players that share a path, the smaller number first.
void pairs_of_players(const Trees& trees, std::span<const int32_t> player, Matrix<bool> found);

// The node above a node or leaf, -1 above roots, and whether it is the left child. Whoever goes up comes to a root.
struct Parents {
    std::span<const int32_t> node_parent, leaf_parent;
    std::span<const bool> node_side, leaf_side;
};

// What the nodes of paths ask for.
struct NodesOfPaths {
    std::span<const int32_t> feature;
    std::span<const int32_t> slot;               // the place of a node's player on its path
    std::span<const int32_t> rank;               // of its cut among the cuts of its feature
    std::span<const int32_t> category_set;       // where its set starts in `words`, on features of categories
    std::span<const bool> missing_left, unseen_left;
    std::span<const Word> words;
    std::span<const int64_t> last_cell, n_words; // of each feature: its cuts; the words of its sets, 0 for numbers
};

// Where the boxes of leaves are written to, see Boxes.
struct BoxesOut {
    std::span<const int64_t> first;
    std::span<int32_t> feature, slot, low, high;
    std::span<bool> missing, unseen;
    std::span<Word> sets;
};

// Writes, for every leaf and every feature of its path, the values of the feature that lead to the leaf. Returns false, with
// some boxes not written, if a leaf has more of them than places from first[leaf] to first[leaf + 1], or all sets together
// more words than `sets`.
bool trace_boxes(const Parents& parents, const NodesOfPaths& nodes, const BoxesOut& out);

// Writes the share of the training weight that gets past each player of each leaf's path: the product, over the nodes of
// the path that are the player's, of the covers of child and node. `shares` has one entry per slot of each leaf, those of
// leaf l from slot_first[l] on. Returns false if a leaf has more slots than places.
bool player_shares(const Parents& parents, std::span<const double> cover, std::span<const double> leaf_cover,
                   std::span<const int32_t> slot, std::span<const int64_t> slot_first, std::span<double> shares);

// Writes the share of the training weight that path-dependent methods give to each leaf and player set: the product of the
// shares of the players that are not in the set. `size` and `has` are tables of glasswood.counting._plan.Subsets.
void cover_shares(std::span<const int64_t> slot_first, std::span<const double> shares, std::span<const int64_t> size,
                  Matrix<const bool> has, std::span<const int64_t> leaf_offset, std::span<double> products);

}  // namespace glasswood
