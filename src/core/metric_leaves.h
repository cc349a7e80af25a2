// Leaves as places of a metric: their players and seats, the sets of players that have values, their outputs.
#pragma once

#include "arrays.h"

namespace glasswood {

struct MetricLeaves {
    std::span<const int32_t> n_players;         // of the path of each leaf
    std::span<const int64_t> slot_first, seat;  // the seat of each slot of a leaf, from slot_first[leaf] on
    std::span<const int64_t> output;            // the first output of a leaf; the others of its n_values follow
    std::span<const int64_t> output_place;      // of each output among those that are wanted, or -1
    std::span<const int64_t> n_sets;            // of paths with so many players
    std::span<const int64_t> set_first, set;    // the numbers of the sets of each leaf, from set_first[leaf] on
    int64_t n_values, n_outputs, n_numbers;     // of a leaf; that are wanted; of sets
};

// The line of a table of values on cubes that is for sets of some size of which so many players must not take part. The
// table is indexed by it and by the numbers of other players that must take part, and that must not.
inline int kind_of_set(int size, int outside) { return size * (size + 1) / 2 + outside; }

}  // namespace glasswood
