// Inputs of kernels that are the same everywhere: a forest and rows from a generator of integers, and what
// glasswood.counting._plan and glasswood.effects._chunks make of a forest.
#pragma once

#include <valarray>
#include <vector>

#include "bitsets.h"
#include "chunks.h"
#include "ensemble.h"
#include "plan.h"
#include "row_cells.h"

namespace glasswood {

using Flags = std::valarray<bool>;  // bools one behind the other, unlike std::vector<bool>

inline std::span<const bool> view(const Flags& flags) { return {&flags[0], flags.size()}; }

template <class T>
Matrix<T> matrix(std::vector<T>& values, int64_t n_columns) { return {values.data(), int64_t(values.size()) / n_columns, n_columns}; }
template <class T>
Matrix<const T> matrix(const std::vector<T>& values, int64_t n_columns) { return {values.data(), int64_t(values.size()) / n_columns, n_columns}; }

// A linear congruential generator; its upper bits.
class Random {
  public:
    std::uint64_t next() {
        const std::uint64_t high = step();
        return high << 32 | step();
    }
    int64_t below(int64_t n) { return int64_t(next() % std::uint64_t(n)); }
    double value() { return double(below(1 << 20) - (1 << 19)) / 977; }  // no short binary fraction: its sums are rounded

  private:
    std::uint64_t step() { return (state_ = state_ * 6364136223846793005u + 1442695040888963407u) >> 32; }

    std::uint64_t state_ = 1;
};

// The sets of up to `order` players, see glasswood.counting._plan.Subsets.
struct PlayerSets {
    PlayerSets(int order, int n_players);

    std::vector<int64_t> size;
    std::vector<int32_t> rest, plus, minus;
    Flags has;

    int64_t n() const { return int64_t(rest.size()); }
    Matrix<const int32_t> plus_of() const { return matrix(plus, n()); }
    Matrix<const int32_t> minus_of() const { return matrix(minus, n()); }
    Subsets subsets() const { return {size, rest, {&has[0], int64_t(has.size()) / n(), n()}}; }
};

// Nine features of eight players: features 6 and 8 make one player, feature 7 has 70 categories.
constexpr int N_FEATURES = 9, N_PLAYERS = 8, CATEGORIES = 7, N_OUTPUTS = 2;

struct Model {
    explicit Model(Random& random);

    std::vector<int32_t> player{0, 1, 2, 3, 4, 5, 6, 7, 6};
    std::vector<int64_t> n_codes{0, 0, 0, 0, 0, 0, 0, 70, 0};
    // Trees
    std::vector<int32_t> root, left, right, feature, category_set;
    std::vector<double> cut, value, cover, leaf_cover;  // value has a line of N_OUTPUTS for each leaf
    Flags missing_left, unseen_left;
    std::vector<Word> words;
    // Cells
    std::vector<double> cuts;
    std::vector<int64_t> cut_first{0}, n_cells, cell_first{0};
    std::vector<int32_t> rank;
    // Paths
    std::vector<int32_t> slot, n_players, node_tree, leaf_tree, node_parent, leaf_parent;
    Flags is_new, node_side, leaf_side;
    int64_t depth;
    std::vector<int64_t> slot_first{0};
    std::vector<int32_t> slot_player;
    // Boxes
    std::vector<int64_t> box_first{0};
    std::vector<int32_t> box_feature, box_slot, low, high;
    Flags box_missing, box_unseen;
    std::vector<Word> sets;

    int64_t n_nodes() const { return int64_t(left.size()); }
    int64_t n_leaves() const { return int64_t(leaf_cover.size()); }
    Trees trees() const { return {root, left, right, n_leaves()}; }
    Splits splits() const { return {feature, cut, view(missing_left), category_set, view(unseen_left), words, n_codes}; }
    CutsOfColumns cuts_of_columns() const { return {cuts, cut_first, n_codes, n_cells}; }
    Parents parents() const { return {node_parent, leaf_parent, view(node_side), view(leaf_side)}; }
    Boxes boxes() const {
        return {box_first, box_feature, box_slot, low, high, view(box_missing), view(box_unseen), sets, n_cells, n_codes};
    }
    Matrix<const double> value_of() const { return matrix(value, N_OUTPUTS); }
    std::vector<int64_t> leaf_offset(const PlayerSets& counted) const;  // and at the end the number of counts

  private:
    int32_t grow(Random& random, int depth);
    void find_cells();
    void find_paths();
    void find_boxes();
};

// Values at and between the cuts of a model, missing, infinite, unseen categories. All are float32, too.
struct Rows {
    Rows(Random& random, int64_t n_rows);

    int64_t n_rows;
    std::vector<double> by_column, by_row;
    std::vector<float> single;
    std::vector<int64_t> small_weight, large_weight;

    std::vector<Column> columns() const;          // contiguous float64
    std::vector<Column> single_columns() const;   // contiguous float32
    std::vector<Column> strided_columns() const;  // float64 in C order
};

// Chunks of a model's leaves, and states of rows in them.
struct ChunksOfModel {
    ChunksOfModel(const Model& model, int64_t max_states, int64_t order);

    ChunkLists made;
    std::vector<int64_t> missing, seat_chunk, leaf_chunk;

    ChunkedLeaves leaves() const {
        return {made.chunk_first, made.leaf_order, made.seat_first, made.seat_player, made.state_first, made.words};
    }
    Axes axes() const { return {made.axis_first, made.axis_feature, missing, made.axis_table, made.axis_kind, made.table}; }
    int64_t n_seats() const { return int64_t(made.seat_player.size()); }
    int64_t n_chunks() const { return int64_t(made.chunk_first.size()) - 1; }

    // The states of some seats, one line each.
    std::vector<std::uint16_t> states(Matrix<const int32_t> cells, std::span<const int64_t> seats) const;
    std::vector<std::uint16_t> states(Matrix<const int32_t> cells) const;
    std::vector<int64_t> seats_of_chunk(int64_t chunk) const;
};

}  // namespace glasswood
