#include "bitsets.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "bitset_walk.h"

namespace glasswood {
namespace {

// Which rows of a block have a category of a set.
template <class T>
void match(const T* x, const Word* set, int64_t n_codes, bool missing_left, bool unseen_left, Block& out) {
    for (int word = 0; word < WORDS; ++word) {
        Word bits = 0;
        for (int bit = 0; bit < 64; ++bit) {
            const T value = x[word * 64 + bit];
            const bool seen = value >= 0 && value < T(n_codes);
            const bool left = seen ? has_category(set, int64_t(value)) : std::isnan(value) ? missing_left : unseen_left;
            bits |= Word(left) << bit;
        }
        out.word[place_of(word)] = bits;
    }
}

template <class T>
void evaluate(const T* x, const Conditions& c, std::span<const T> cut, int64_t column, Block* masks) {
    for (int64_t i = c.first[column]; i < c.first[column + 1]; ++i) {
        if (c.category_set[i] >= 0)
            match(x, c.words.data() + c.category_set[i], c.n_codes[column], c.missing_left[i], c.unseen_left[i], masks[i]);
        else if (c.missing_left[i]) compare<true>(x, cut[i], masks[i]);
        else compare<false>(x, cut[i], masks[i]);
    }
}

// Writes the digests of a block of rows from `start` on, just before they are compared: then they are read from memory once.
void digest(const Column& column, int64_t start, int n_rows, int64_t place, Matrix<Word> lines) {
    for (int first = 0; first < n_rows; first += DIGEST_ROWS) {
        const RawColumn part{column.start + (start + first) * column.stride, column.stride, column.is_single ? 4 : 8};
        lines[(start + first) / DIGEST_ROWS][place] = digest_of(part, std::min<int64_t>(DIGEST_ROWS, n_rows - first));
    }
}

}  // namespace

void evaluate(std::span<const Column> columns, int64_t start, int n_rows, const Conditions& c, const ColumnDigests& digests, double* block,
              Block* masks) {
    for (std::size_t number = 0; number < columns.size(); ++number) {
        const Column& column = columns[number];
        if (digests.place[number] >= 0) digest(column, start, n_rows, digests.place[number], digests.lines);
        const std::byte* at = column.start + start * column.stride;
        if (n_rows == ROWS && column.is_single && column.stride == sizeof(float)) {
            evaluate(reinterpret_cast<const float*>(at), c, c.cut_single, number, masks);
        } else if (n_rows == ROWS && !column.is_single && column.stride == sizeof(double)) {
            evaluate(reinterpret_cast<const double*>(at), c, c.cut, number, masks);
        } else {  // not contiguous, or shorter than a block: copied as doubles, with NaN beyond the end
            for (int row = 0; row < n_rows; ++row) block[row] = column[start + row];
            std::fill(block + n_rows, block + ROWS, std::numeric_limits<double>::quiet_NaN());
            evaluate(static_cast<const double*>(block), c, c.cut, number, masks);
        }
    }
}

void count_with_bitsets(std::span<const Column> columns, const Conditions& conditions, const BitsetTrees& trees,
                        const Subsets& subsets, const Groups& groups, const ColumnDigests& digests) {
    const std::span<const int64_t> bounds = groups.bounds;
    std::vector<Block> masks(conditions.cut.size() + 1);
    std::vector<double> block(ROWS);
    Walk walk(trees, subsets, masks.data());
    Planes weights(groups.weight);
    Runs runs;
    Block everyone;
    const bool weighted = !groups.weight.empty();
    int64_t group = 0;
    for (int64_t start = bounds.front(); start < bounds.back(); start += ROWS) {
        const int n_rows = int(std::min<int64_t>(ROWS, bounds.back() - start));
        first_rows(n_rows, everyone);
        evaluate(columns, start, n_rows, conditions, digests, block.data(), masks.data());
        runs.find(bounds, group, start, n_rows);
        if (weighted) weights.read(start, n_rows);
        with_adder(runs, weights, weighted, groups.cells.data() + group, [&](const auto& add) {
            for (std::size_t i = 0; i < conditions.noted.size(); ++i)
                add(conditions.noted_cell[i], everyone, masks[conditions.noted[i]], NO_FLIP);
        });
        with_adder(runs, weights, weighted, groups.counts.data() + group, [&](const auto& add) { walk.all(everyone, add); });
        group += bounds[group + runs.n()] == start + n_rows ? runs.n() : runs.n() - 1;
    }
}

void count_categories(std::span<const Column> columns, const CategoryCells& places, const Groups& groups) {
    for (std::size_t column = 0; column < columns.size(); ++column)
        for (std::size_t group = 0; group + 1 < groups.bounds.size(); ++group) {
            int64_t* cells = groups.cells[group] + places.offset[column];
            for (int64_t row = groups.bounds[group]; row < groups.bounds[group + 1]; ++row) {
                const double x = columns[column][row];
                const int64_t n_codes = places.n_codes[column];
                const int64_t cell = std::isnan(x) ? n_codes + 1 : x >= 0 && x < double(n_codes) ? int64_t(x) : n_codes;
                cells[cell] += groups.weight.empty() ? 1 : groups.weight[row];
            }
        }
}

}  // namespace glasswood
