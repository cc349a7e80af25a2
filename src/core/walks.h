// Metrics of rows by walking: each row goes through the trees together with every background row, and what it meets on
// the way is all that is looked at. For few rows and large trees, where tables of all leaves would cost much more.
#pragma once

#include <vector>

#include "arrays.h"
#include "ensemble.h"
#include "metric_leaves.h"

namespace glasswood {

constexpr int MAX_WALK_PLAYERS = 63;                       // of a path: the bits of a mask
constexpr int MAX_NARROW_PLAYERS = 25;                     // of a path, for items of one word
constexpr int64_t MAX_WALK_PAIRS = int64_t(1) << 14;       // of a row and a background row, at a time
constexpr int64_t MAX_WALK_COLUMNS = int64_t(1) << 22;
constexpr int32_t RANK_MISSING = 0x7FFFFFFF, RANK_UNSEEN = -1;  // in place of a cell

// A node in 16 bytes, since nodes far apart are visited one after the other.
struct WalkNode {
    int32_t left, right;  // a child below 0 is the leaf ~child
    int32_t rank;         // of the cut among those of its column; or where its set of categories starts
    std::uint32_t about;

    WalkNode(int32_t left, int32_t right, int32_t rank, int32_t column, int slot, bool by_set, bool missing_left, bool unseen_left)
        : left(left), right(right), rank(rank),
          about(std::uint32_t(column) | std::uint32_t(slot) << 22 | std::uint32_t(by_set) << 28 | std::uint32_t(missing_left) << 29 |
                std::uint32_t(unseen_left) << 30) {}

    int32_t column() const { return int32_t(about & 0x3FFFFF); }
    int slot() const { return int(about >> 22 & 63); }
    bool by_set() const { return about >> 28 & 1; }
    bool missing_left() const { return about >> 29 & 1; }
    bool unseen_left() const { return about >> 30 & 1; }
};

struct WalkTrees {
    std::span<const int32_t> root;
    std::span<const WalkNode> nodes;
    std::span<const Word> words;           // sets of categories
    std::span<const int64_t> n_codes;      // of each column; 0 for numbers
    std::span<const int32_t> player;       // of each column, among those that have values
    std::span<const int64_t> output;       // the first output of each tree
    Matrix<const double> value;
    int64_t n_slots;
    bool slots_are_players;                // the slot of a node is the number of its player, whatever path it is on
};

// Rows as ranks, one line per column: their cells, but RANK_MISSING for missing values and RANK_UNSEEN for unseen categories.
struct WalkRows {
    Matrix<const int32_t> here, there;
    std::span<const double> weight;        // of the background rows
    int64_t first_here, last_here, first_there, last_there;  // those that are looked at
};

// Adds the trees from first to last to an index of rows. Returns the number of visits: of pairs of rows to nodes and leaves.
//
// An item is a row, a background row, the players whose values have to be the row's (plus) and those whose values have to
// be the background row's (minus), to come to a node. Where the two rows go the same way, the item follows them. Where
// they part, the node's player decides: it goes the row's way if it is in plus, the other one if it is in minus, and both
// ways if it is in neither, which adds it to plus on one side, and to minus on the other. At a leaf, the two sets are the
// cube that the pair makes there, see glasswood.metrics.CubeMetric.
//
// `values` are those of a metric on cubes, see `kind_of_set`, for sets of one and two players and up to n_slots players.
// `single` is (rows, outputs, players) if slots are players, and otherwise (rows, players, outputs); its last size is
// rounded up to a multiple of 8, or 1. `pairs` is (rows times outputs, players, players), of which the upper half counts,
// or empty. The values of a row do not depend on the other rows. Costs about 4 nanoseconds per visit. output_place is that
// of each output among those that are wanted, or -1.
int64_t add_walks(int64_t first_tree, int64_t last_tree, const WalkTrees& trees, const WalkRows& rows, Cube<const double> values,
                  std::span<const int64_t> output_place, Cube<double> single, Cube<double> pairs);

}  // namespace glasswood
