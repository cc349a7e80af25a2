// The interaction of two features, from the leaves that have both: at any cells, without holding all pairs of cells.
#pragma once

#include <array>
#include <vector>

#include "closed_forms.h"

namespace glasswood {

// The leaves that have both features of a pair: their boxes on the two features, side by side, and four counts of each.
struct PairLists {
    std::vector<int64_t> leaf;
    std::vector<int32_t> low, high;              // as in Boxes; sets of categories are in `sets`
    std::vector<std::uint8_t> missing, unseen;
    std::vector<Word> sets;
    std::vector<double> terms;                   // G(none), G({a}), G({b}), G({a, b})
};

PairLists find_pair(const Leaves& leaves, int32_t a, int32_t b);

// The same as kernels take it, with the leaves' values. Leaf l adds
// w_l ([x in] [y in] G_l({a, b}) - [x in] G_l({a}) - [y in] G_l({b}) + G_l(none)).
struct PairLeaves {
    std::array<int64_t, 2> n_cells, n_codes;
    Matrix<const int32_t> low, high;
    Matrix<const bool> missing, unseen;
    std::span<const Word> sets;
    Matrix<const double> terms, value;
    std::span<const int32_t> output;  // the first output that a leaf adds to

    int64_t n_leaves() const { return terms.n_rows; }
};

// Goes through the cells of the first feature, one after the other, and writes the interaction where it is asked for.
//
// The interaction is the cumulative sum, along the first feature and then along the second, of the steps of all leaves, which
// are added in the order of leaves. Sums are the same bits for whatever is asked: of the steps of the cells so far, one line is
// held, and the steps of the next cells are sorted by cell, some millions at a time.
class Sweep {
  public:
    // Only cells below n_rows and n_columns of the two features will be asked for.
    //
    // If ranks are given, cells are counted anew: for each cell, and the end of the last one, how many of those that are asked
    // for come before. Steps between two of these are added at once, and columns some at a time: sums may be rounded otherwise.
    Sweep(const PairLeaves& leaves, int64_t n_outputs, int64_t n_rows, int64_t n_columns, std::span<const int64_t> rank_a = {},
          std::span<const int64_t> rank_b = {});

    int64_t row() const { return row_; }  // rows before this one are gone
    int64_t n_rows() const { return n_rows_; }
    int64_t n_columns() const { return n_columns_; }
    int64_t n_outputs() const { return n_outputs_; }

    // Writes all pairs of some rows and columns, both ascending, times `unit`: (n_rows, n_columns, n_outputs).
    void write_grid(std::span<const int64_t> rows, std::span<const int64_t> columns, double unit, double* out);

    // Writes points, sorted by row and then by column, times `unit`: (n_points, n_outputs).
    void write_points(std::span<const int64_t> rows, std::span<const int64_t> columns, double unit, double* out);

  private:
    template <class Emit>
    void each_step(int64_t first_row, int64_t end_row, Emit emit) const;
    void load(int64_t row);
    void advance(int64_t row);
    void add_row(int64_t row);
    void write_line(std::span<const int64_t> columns, double unit, double* out) const;

    PairLeaves leaves_;
    std::vector<int32_t> rank_a_, rank_b_;    // empty if cells are as they are
    int64_t n_outputs_, n_rows_, n_columns_, row_ = 0;
    std::vector<double> line_, scratch_;      // sums of steps up to this row, (n_columns, n_outputs)
    std::vector<double> coarse_;              // sums over columns of the line, if cells are counted anew
    std::vector<int64_t> n_steps_;            // of each row
    int64_t first_loaded_ = 0, end_loaded_ = 0;
    std::vector<int64_t> starts_;             // of the rows that are loaded
    std::vector<int32_t> places_;             // of the steps of these rows, in a line
    std::vector<double> steps_;               // one for each value of a leaf
};

// Adds all leaves to the steps of means over blocks of cells: `steps` is (n_blocks + 1, n_blocks + 1, n_outputs), and its
// cumulative sums along both features are the means. `place` tells where each cell begins, and the last one ends, on the axis of
// blocks: the third block's cells begin at 2.0 and end at 3.0, and each has as much of that as its weight. A cell without
// weight begins where the next one does.
void add_blocks(const PairLeaves& leaves, std::span<const double> place_a, std::span<const double> place_b, int64_t n_columns,
                double* steps, int64_t n_outputs);

}  // namespace glasswood
