// Metrics leaf by leaf: tables of what a leaf is worth to a row that meets some of its players.
#pragma once

#include "arrays.h"
#include "chunks.h"
#include "metric_leaves.h"

namespace glasswood {

constexpr int MAX_TABLE_PLAYERS = 16;  // of a path with tables: the bits of an index

// The templates of paths with u players are the entries from first[u] on, see glasswood.questions.rows._arithmetic_cubes.
struct Templates {
    std::span<const int64_t> n_sets, first;
    std::span<const int32_t> target, broken;
    std::span<const double> value;
};

struct TabledLeaves {
    std::span<const int32_t> n_players;
    Matrix<const double> value;
    // Where a leaf's tables start: one for each of its values and each set, indexed by the players q that a row meets.
    // -1: they are part of its partner's.
    std::span<const int64_t> table_first;
    // A leaf whose worth is added to a leaf's own, or -1: one that a row meets with the same players, but for the one in
    // partner_bit, which it meets if and only if it does not meet it for the leaf itself.
    std::span<const int64_t> partner, partner_bit;
};

// Writes what the leaves from `first` to `last` are worth to a row that meets the players q, for each set of a metric.
// exact[leaf_offset[leaf] + z] is the number of background rows that break exactly the players z.
void fill_leaf_tables(int64_t first, int64_t last, const TabledLeaves& leaves, const Templates& templates,
                      std::span<const int64_t> leaf_offset, std::span<const double> exact, std::span<double> table);

// Adds what every leaf is worth to a block of rows. `states` has a line per seat; the number of rows is a multiple of
// BATCH. `table` has BEHIND more entries than there are. `out` has a line for each set and output.
void add_leaf_tables(Matrix<const std::uint16_t> states, const ChunkedLeaves& chunks, const MetricLeaves& leaves,
                     std::span<const int64_t> table_first, std::span<const double> table, Matrix<double> out);

}  // namespace glasswood
