// Interactions as lookups: one small table per chunk of leaves and player set, indexed by the states of its players.
#pragma once

#include <vector>

#include "arrays.h"
#include "chunks.h"

namespace glasswood {

// The players of paths: the boxes of leaf l are those from first[l] on, each of a feature and at a slot of the path.
struct PlayersOfLeaves {
    std::span<const int64_t> first;
    std::span<const int32_t> feature, slot;
    std::span<const int32_t> player;  // of each feature
    std::span<const bool> wanted;     // of each player: whether sets may have it
};

// Sets of players that are wanted of any path, see glasswood.counting._plan.Subsets.
struct WantedSets {
    std::span<const int64_t> size;
    std::span<const int32_t> rest;
};

// A term is a set in a chunk.
struct Terms {
    std::vector<int32_t> set, rest, seat;       // its number; the term of the set without its last player; that player's seat
    std::vector<int64_t> size;                  // the number of combinations of states
    std::vector<int64_t> first;                 // of each chunk: the empty set
    std::vector<int32_t> pair_term;             // the terms of the sets of each leaf, in the order of leaves,
    std::vector<int64_t> pair_first;            // from here on
    std::vector<int32_t> set_rest, set_last, set_size;  // sets: without the last player, that player, the number of players
};

// Finds the player sets of every chunk, and numbers the distinct ones; set 0 is empty. Returns false if a path has more
// players than `sets` has tables for.
bool find_terms(const ChunkedLeaves& chunks, const PlayersOfLeaves& players, const WantedSets& sets, Terms& out);

struct TermTables {
    std::span<const int32_t> rest, seat, pair_term;
    std::span<const int64_t> pair_first, table_first;  // where the table of each term starts,
    int64_t n_values;                                  // with one part per value of a leaf
};

struct LeafCounts {
    Matrix<const double> value;
    std::span<const int64_t> offset;  // where the counts of a leaf start
    std::span<const double> exact;    // N_l(Z): the number of background rows that break exactly Z
};

// Adds the leaves of the chunks from `first` to `last` to the tables of their terms.
//
// A row that meets the players Q of leaf l adds w_l (-1)^|X - Q| N_l(X and Q) to the interaction of the set X. `plus` is
// the number of a set that was counted with one more player. Returns false if the terms are not those of the chunks.
bool fill_tables(int64_t first, int64_t last, const ChunkedLeaves& chunks, const PlayersOfLeaves& players, const WantedSets& sets,
                 Matrix<const int32_t> plus, const TermTables& terms, const LeafCounts& leaves, std::span<double> table);

struct Lookups {
    std::span<const int64_t> group_order, group_first;  // the entries of each (set, output); neighbours in order share chunks
    std::span<const int32_t> entry_term;
    std::span<const int64_t> entry_table;               // where the table of each entry starts
    std::span<const int32_t> rest, seat;                // of each term
    std::span<const int64_t> state_first;
    std::span<const double> table;                      // with BEHIND more entries than there are
};

// Writes the interaction values of a block of rows to the columns of `out` from `first` on, unless it is empty; adds
// their absolute values and squares to `sums`, (2, n_groups), unless it is empty. `states` has a line per seat, and a
// multiple of BATCH columns, of which `n_rows` are rows.
void look_up(Matrix<const std::uint16_t> states, int64_t n_rows, const Lookups& lookups, int64_t first, Matrix<double> out,
             Matrix<double> sums);

}  // namespace glasswood
