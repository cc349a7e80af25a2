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

constexpr int64_t MAX_SEATS = 64;  // of a set: so many players have at least 2**64 combinations of states

// Sets of the players of a path that follow those of a block, see glasswood.counting._subsets.Subsets.
struct WantedSets {
    std::span<const int64_t> size;
    std::span<const int32_t> rest;
};

// Sets in an interval of the order of players: they have all players of `prefix`, in increasing order, and at least one
// more, the smallest of which is from `first` on and below `last`. With `own`, the prefix itself is one of them, too.
// All sets together are the block of an empty prefix, from the first player to the last.
struct SetBlock {
    std::span<const int32_t> prefix;
    int32_t first, last;
    bool own;
};

// A term is a set in a chunk.
struct Terms {
    std::vector<int32_t> set, rest, seat;       // its number; the term of the set without its last player; that player's seat
    std::vector<int64_t> size;                  // the number of combinations of states
    std::vector<int64_t> first;                 // of each chunk: the empty set
    std::vector<int32_t> pair_term;             // the terms of the sets of each leaf, in the order of leaves,
    std::vector<int64_t> pair_first;            // from here on
    std::vector<int32_t> set_rest, set_last, set_size;  // sets: without the last player, that player, the number of players
    int64_t n_entries = 0;                      // of the tables of all sets of the block
};

enum class Found { ALL, TOO_MANY_PLAYERS, TOO_MANY_ENTRIES };

// Finds the player sets of a block in the chunks from `first` to `last`, and numbers the distinct ones: set 0 is the
// prefix of the block, the empty set if it has none. What precedes the prefix in a chunk is a term of set -1.
//
// It stops if a path has more players than `sets` has tables for, or if there are more than `max_entries` entries.
Found find_terms(int64_t first, int64_t last, const ChunkedLeaves& chunks, const PlayersOfLeaves& players, const WantedSets& sets,
                 const SetBlock& block, int64_t max_entries, Terms& out);

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
                 const SetBlock& block, Matrix<const int32_t> plus, const TermTables& terms, const LeafCounts& leaves,
                 std::span<double> table);

// The seats of each entry, from first[entry] on, and what their states are multiplied by: together, the place in a table.
struct SeatsOfEntries {
    std::vector<int64_t> first{0};
    std::vector<int32_t> seat;
    std::vector<std::uint16_t> factor;  // unless a table has more entries than 16 bits can number
    std::vector<int64_t> table_size;
};

// Finds the seats of entries, which are terms. `rest` and `seat` are those of terms.
SeatsOfEntries seats_of_entries(std::span<const int32_t> entry_term, std::span<const int32_t> rest, std::span<const int32_t> seat,
                                std::span<const int64_t> state_first);

struct Lookups {
    std::span<const int64_t> group_order, group_first;  // the entries of each (set, output); neighbours in order share chunks
    const SeatsOfEntries* seats;
    std::span<const int64_t> entry_table;               // where the table of each entry starts
    std::span<const int64_t> state_first;               // of each seat
    std::span<const double> table;                      // with BEHIND more entries than there are
};

// Writes the interaction values of a block of rows to the columns of `out` from `first` on, unless it is empty; adds
// their absolute values, their squares and the values themselves to `sums`, (3, n_groups), unless it is empty. Sums are
// taken of `sum_width` rows at a time, a multiple of BATCH, so that they do not depend on the number of columns of
// `states`, which has a line per seat, and a multiple of BATCH columns, of which `n_rows` are rows.
void look_up(Matrix<const std::uint16_t> states, int64_t n_rows, int64_t sum_width, const Lookups& lookups, int64_t first,
             Matrix<double> out, Matrix<double> sums);

}  // namespace glasswood
