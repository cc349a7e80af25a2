#include "pairs.h"

#include <algorithm>
#include <cmath>

#include "runs.h"

namespace glasswood {
namespace {

constexpr int64_t MAX_BYTES = int64_t(1) << 26;  // of the steps that are sorted at a time
constexpr int64_t COARSE = 128;                   // columns whose sum is kept

enum Term { NONE, ONE_A, ONE_B, BOTH, N_TERMS };

// The boxes of one leaf after the other, as runs.
class PairRuns {
  public:
    explicit PairRuns(const PairLeaves& leaves)
        : leaves_(leaves), runs_{std::vector<Run>(std::size_t(leaves.n_cells[0] + 1)), std::vector<Run>(std::size_t(leaves.n_cells[1] + 1))} {}

    void read(int64_t leaf) {
        for (int side = 0; side < 2; ++side) read(leaf, side);
    }
    void read(int64_t leaf, int side) {
        const Box box{leaves_.n_cells[side], leaves_.n_codes[side], leaves_.low[leaf][side], leaves_.high[leaf][side],
                      leaves_.missing[leaf][side], leaves_.unseen[leaf][side], leaves_.sets.data()};
        n_[side] = write_runs(box, runs_[side].data());
    }
    // The same, with cells that are counted anew, and without runs of none. Without ranks, cells are as they are.
    void read(int64_t leaf, int side, std::span<const int32_t> rank) {
        read(leaf, side);
        if (rank.empty()) return;
        int64_t n = 0;
        for (int64_t i = 0; i < n_[side]; ++i) {
            const Run run{rank[runs_[side][i].first], rank[runs_[side][i].end]};
            if (run.first < run.end) runs_[side][n++] = run;
        }
        n_[side] = n;
    }
    std::span<const Run> operator[](int side) const { return {runs_[side].data(), std::size_t(n_[side])}; }

  private:
    const PairLeaves& leaves_;
    std::array<std::vector<Run>, 2> runs_;
    std::array<int64_t, 2> n_{};
};

}  // namespace

PairLists find_pair(const Leaves& leaves, int32_t a, int32_t b) {
    const Boxes& boxes = leaves.boxes;
    PairLists found;
    const int64_t n_leaves = boxes.n_leaves();  // at most; memory that is not written to is not taken
    found.leaf.reserve(n_leaves);
    found.low.reserve(2 * n_leaves);
    found.high.reserve(2 * n_leaves);
    found.missing.reserve(2 * n_leaves);
    found.unseen.reserve(2 * n_leaves);
    found.terms.reserve(N_TERMS * n_leaves);
    const auto add_box = [&](int64_t box) {
        const int64_t n_words = (boxes.n_codes[boxes.feature[box]] + 63) / 64;
        found.low.push_back(n_words > 0 ? int32_t(found.sets.size()) : boxes.low[box]);
        found.high.push_back(n_words > 0 ? 0 : boxes.high[box]);
        found.missing.push_back(boxes.missing[box]);
        found.unseen.push_back(boxes.unseen[box]);
        for (int64_t word = 0; word < n_words; ++word) found.sets.push_back(boxes.sets[boxes.low[box] + word]);
    };
    for (int64_t leaf = 0; leaf < n_leaves; ++leaf) {
        int64_t box_a = -1, box_b = -1;
        for (int64_t box = boxes.first[leaf]; box < boxes.first[leaf + 1]; ++box) {
            if (boxes.feature[box] == a) box_a = box;
            else if (boxes.feature[box] == b) box_b = box;
        }
        if (box_a < 0 || box_b < 0) continue;
        const int32_t slot_a = boxes.slot[box_a], slot_b = boxes.slot[box_b];
        if (slot_a == slot_b) continue;  // features of one player
        const int32_t only_a = leaves.plus[slot_a][0];
        const Counts counts = leaves.counts.from(leaves.offset[leaf]);
        found.leaf.push_back(leaf);
        add_box(box_a);
        add_box(box_b);
        for (const int32_t set : {0, only_a, leaves.plus[slot_b][0], leaves.plus[slot_b][only_a]}) found.terms.push_back(counts[set]);
    }
    return found;
}

Sweep::Sweep(const PairLeaves& leaves, int64_t n_outputs, int64_t n_rows, int64_t n_columns, std::span<const int64_t> rank_a,
             std::span<const int64_t> rank_b)
    : leaves_(leaves), rank_a_(rank_a.begin(), rank_a.end()), rank_b_(rank_b.begin(), rank_b.end()), n_outputs_(n_outputs), n_rows_(n_rows), n_columns_(n_columns), line_(std::size_t(n_columns * n_outputs)),
      scratch_(line_.size()), n_steps_(std::size_t(n_rows)) {
    // The first row has a step of every leaf: these are added at once, the others are counted.
    each_step(0, n_rows_, [&](int64_t row, int64_t column, int64_t leaf, double factor) {
        if (row > 0) {
            ++n_steps_[row];
            return;
        }
        double* place = line_.data() + column * n_outputs_ + leaves_.output[leaf];
        for (int64_t k = 0; k < leaves_.value.n_columns; ++k) place[k] += leaves_.value[leaf][k] * factor;
    });
    end_loaded_ = 1;
    if (rank_a_.empty()) return;
    coarse_.resize(std::size_t((n_columns_ / COARSE + 1) * n_outputs_));
    for (int64_t column = 0; column < n_columns_; ++column)
        for (int64_t k = 0; k < n_outputs_; ++k) coarse_[column / COARSE * n_outputs_ + k] += line_[column * n_outputs_ + k];
}

// Calls emit(row, column, leaf, factor) for the steps of all leaves that are within some rows, and the columns, in their order.
template <class Emit>
void Sweep::each_step(int64_t first_row, int64_t end_row, Emit emit) const {
    PairRuns runs(leaves_);
    const auto within = [&](int64_t row) { return row >= first_row && row < end_row; };
    for (int64_t leaf = 0; leaf < leaves_.n_leaves(); ++leaf) {
        runs.read(leaf, 0, rank_a_);
        bool any = first_row == 0;
        for (const Run& a : runs[0]) any |= within(a.first) || within(a.end);
        if (!any) continue;
        runs.read(leaf, 1, rank_b_);
        const double* terms = leaves_.terms[leaf];
        const auto step = [&](int64_t row, int64_t column, double factor) {
            if (within(row) && column < n_columns_) emit(row, column, leaf, factor);
        };
        step(0, 0, terms[NONE]);
        for (const Run& b : runs[1]) {
            step(0, b.first, -terms[ONE_B]);
            step(0, b.end, terms[ONE_B]);
        }
        for (const Run& a : runs[0]) {
            step(a.first, 0, -terms[ONE_A]);
            step(a.end, 0, terms[ONE_A]);
            for (const Run& b : runs[1]) {
                step(a.first, b.first, terms[BOTH]);
                step(a.first, b.end, -terms[BOTH]);
                step(a.end, b.first, -terms[BOTH]);
                step(a.end, b.end, terms[BOTH]);
            }
        }
    }
}

// Sorts the steps of rows from this one on, as many as are held at a time.
void Sweep::load(int64_t row) {
    const int64_t n_values = leaves_.value.n_columns, most = MAX_BYTES / (4 + 8 * n_values);
    first_loaded_ = end_loaded_ = row;
    starts_.assign(1, 0);
    while (end_loaded_ < n_rows_ && (end_loaded_ == row || starts_.back() + n_steps_[end_loaded_] <= most))
        starts_.push_back(starts_.back() + n_steps_[end_loaded_++]);
    places_.resize(std::size_t(starts_.back()));
    steps_.resize(std::size_t(starts_.back() * n_values));
    std::vector<int64_t> next(starts_.begin(), starts_.end() - 1);
    each_step(first_loaded_, end_loaded_, [&](int64_t at, int64_t column, int64_t leaf, double factor) {
        const int64_t step = next[at - first_loaded_]++;
        places_[step] = int32_t(column * n_outputs_ + leaves_.output[leaf]);
        for (int64_t k = 0; k < n_values; ++k) steps_[step * n_values + k] = leaves_.value[leaf][k] * factor;
    });
}

// Adds the steps of a row to the line: those of one column first to each other, in the order of leaves.
void Sweep::add_row(int64_t row) {
    const int64_t first = starts_[row - first_loaded_], end = starts_[row - first_loaded_ + 1], n_values = leaves_.value.n_columns;
    const std::uint32_t n_outputs = std::uint32_t(n_outputs_);
    for (int64_t step = first; step < end; ++step)
        for (int64_t k = 0; k < n_values; ++k) scratch_[places_[step] + k] += steps_[step * n_values + k];
    for (int64_t step = first; step < end; ++step) {
        const std::uint32_t place = std::uint32_t(places_[step]);
        const std::uint32_t column = n_outputs == 1 ? place : place / n_outputs;
        double* coarse = coarse_.empty() ? nullptr : coarse_.data() + column / COARSE * n_outputs + (place - column * n_outputs);
        for (int64_t k = 0; k < n_values; ++k) {
            line_[place + k] += scratch_[place + k];
            if (coarse) coarse[k] += scratch_[place + k];
            scratch_[place + k] = 0;
        }
    }
}

void Sweep::advance(int64_t row) {
    while (row_ < row) {
        ++row_;
        if (row_ >= end_loaded_) load(row_);
        add_row(row_);
    }
}

void Sweep::write_line(std::span<const int64_t> columns, double unit, double* out) const {
    for (int64_t k = 0; k < n_outputs_; ++k) {
        if (!coarse_.empty()) {
            for (std::size_t i = 0; i < columns.size(); ++i) {
                const int64_t block = columns[i] / COARSE;
                double sum = 0;
                for (int64_t j = 0; j < block; ++j) sum += coarse_[j * n_outputs_ + k];
                for (int64_t column = block * COARSE; column <= columns[i]; ++column) sum += line_[column * n_outputs_ + k];
                out[i * n_outputs_ + k] = sum * unit;
            }
            continue;
        }
        double sum = 0;
        int64_t next = 0;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            for (; next <= columns[i]; ++next) sum += line_[next * n_outputs_ + k];
            out[i * n_outputs_ + k] = sum * unit;
        }
    }
}

void Sweep::write_grid(std::span<const int64_t> rows, std::span<const int64_t> columns, double unit, double* out) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        advance(rows[i]);
        write_line(columns, unit, out + i * columns.size() * n_outputs_);
    }
}

void Sweep::write_points(std::span<const int64_t> rows, std::span<const int64_t> columns, double unit, double* out) {
    for (std::size_t first = 0; first < rows.size();) {
        std::size_t end = first;
        while (end < rows.size() && rows[end] == rows[first]) ++end;
        advance(rows[first]);
        write_line(columns.subspan(first, end - first), unit, out + first * n_outputs_);
        first = end;
    }
}

void add_blocks(const PairLeaves& leaves, std::span<const double> place_a, std::span<const double> place_b, int64_t n_columns,
                double* steps, int64_t n_outputs) {
    PairRuns runs(leaves);
    // A step within a block is split between the beginning of the block and its end.
    struct Split {
        int64_t at[2];
        double part[2];
        int n;
    };
    const auto split = [](double place) {
        const double whole = std::floor(place), rest = place - whole;
        return Split{{int64_t(whole), int64_t(whole) + 1}, {1 - rest, rest}, rest > 0 ? 2 : 1};
    };
    const Split start{{0, 1}, {1, 0}, 1};
    for (int64_t leaf = 0; leaf < leaves.n_leaves(); ++leaf) {
        runs.read(leaf);
        const double* terms = leaves.terms[leaf];
        const auto step = [&](const Split& a, const Split& b, double factor) {
            for (int i = 0; i < a.n; ++i)
                for (int j = 0; j < b.n; ++j) {
                    double* place = steps + (a.at[i] * n_columns + b.at[j]) * n_outputs + leaves.output[leaf];
                    const double part = a.part[i] * b.part[j] * factor;
                    for (int64_t k = 0; k < leaves.value.n_columns; ++k) place[k] += leaves.value[leaf][k] * part;
                }
        };
        step(start, start, terms[NONE]);
        for (const Run& b : runs[1]) {
            step(start, split(place_b[b.first]), -terms[ONE_B]);
            step(start, split(place_b[b.end]), terms[ONE_B]);
        }
        for (const Run& a : runs[0]) {
            const Split first = split(place_a[a.first]), end = split(place_a[a.end]);
            step(first, start, -terms[ONE_A]);
            step(end, start, terms[ONE_A]);
            for (const Run& b : runs[1]) {
                const Split left = split(place_b[b.first]), right = split(place_b[b.end]);
                step(first, left, terms[BOTH]);
                step(first, right, -terms[BOTH]);
                step(end, left, -terms[BOTH]);
                step(end, right, terms[BOTH]);
            }
        }
    }
}

}  // namespace glasswood
