// Trees cut into chunks of leaves, and rows as states: what a row does to all leaves of a chunk, player by player.
#pragma once

#include <cstdint>
#include <vector>

#include "arrays.h"
#include "plan.h"

namespace glasswood {

constexpr int64_t MAX_LEAVES = 64;   // of a chunk: the bits of a word
constexpr int64_t MAX_STATES = 65536;  // of a seat: what a uint16 can tell

// Leaves in chunks. Chunk c has the leaves from chunk_first[c] on in leaf_order, and the seats from seat_first[c] on: a
// seat is a player in a chunk. It has the states from state_first[seat] on; bit i of a state's word tells whether such a
// row meets the conditions of the i-th leaf of the chunk on the player.
struct ChunkedLeaves {
    std::span<const int64_t> chunk_first;
    std::span<const int32_t> leaf_order;
    std::span<const int64_t> seat_first;
    std::span<const int32_t> seat_player;
    std::span<const int64_t> state_first;
    std::span<const Word> words;

    int64_t n_chunks() const { return int64_t(chunk_first.size()) - 1; }
    int64_t n_seats() const { return int64_t(seat_player.size()); }
    int64_t n_states(int64_t seat) const { return state_first[seat + 1] - state_first[seat]; }
};

// From the cells of a row to the states of its seats. A seat has the axes (features) from first[seat] on.
//
// `table` tells the class of a row on an axis, from start[axis] on; `kind` is the number of cuts, or -1 for categories.
// Cuts: the class of missing values, the number of classes, and the cells that are the last below each cut. Categories:
// the number of classes, and the class of each cell. Behind that, unless it is the first axis of its seat: the new state,
// for each state so far and each class.
struct Axes {
    std::span<const int64_t> first;
    std::span<const int32_t> line;      // of the axis among those of cells
    std::span<const int64_t> missing;   // the cell of missing values
    std::span<const int64_t> start;
    std::span<const int32_t> kind;
    std::span<const int32_t> table;

    int64_t n_seats() const { return int64_t(first.size()) - 1; }
};

// Both as they are made: axis_table is Axes::start, and the features of axes take the place of lines and missing cells.
struct ChunkLists {
    std::vector<int64_t> chunk_first, seat_first{0};
    std::vector<int32_t> leaf_order, seat_player;
    std::vector<int64_t> axis_first{0}, axis_table, state_first{0};
    std::vector<int32_t> axis_feature, axis_kind, table;
    std::vector<Word> words;
};

struct Forest {
    std::span<const int32_t> root, left, right;  // a child below 0 is the leaf ~child
};

// Cuts trees into chunks: the largest subtrees whose rows have few enough states. `player` is that of each feature.
//
// Any `order` players of a leaf may have up to max_states combinations of states; a chunk of one leaf may have more.
ChunkLists make_chunks(const Forest& trees, const Boxes& boxes, std::span<const int32_t> player, int64_t max_states, int64_t order);

// Writes the states of some seats, one line each, for the rows from first to last. One line of `cells` per used feature.
void write_states(Matrix<const int32_t> cells, int64_t first, int64_t last, const Axes& axes, std::span<const int64_t> seats,
                  Matrix<std::uint16_t> states);

}  // namespace glasswood
