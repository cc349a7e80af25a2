#include "bitsets.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "bits.h"

namespace glasswood {
namespace {

constexpr int MANY_RUNS = 512;  // of a block; beyond that, most counts of runs are 0, and the others are found by their bits
constexpr Word NO_FLIP = 0, FLIP = ~Word(0);

// The weights of the rows of a block as bit planes: plane p has the rows whose weight has bit p.
class Planes {
  public:
    explicit Planes(std::span<const int64_t> weight) : weight_(weight), of_row_(ROWS) {
        Word all = 0;
        for (const int64_t w : weight) all |= Word(w);
        for (int bit = 0; bit < 64; ++bit)
            if (all >> bit & 1) bits_.push_back(bit);
        planes_.resize(bits_.size());
    }

    void read(int64_t start, int n_rows) {
        std::copy_n(weight_.data() + start, n_rows, of_row_.begin());
        std::fill(of_row_.begin() + n_rows, of_row_.end(), 0);
        for (std::size_t p = 0; p < planes_.size(); ++p)
            for (int word = 0; word < WORDS; ++word) {
                const int64_t* weight = of_row_.data() + 64 * word;
                Word bits = 0;
                for (int bit = 0; bit < 64; ++bit) bits |= (weight[bit] >> bits_[p] & 1) ? BIT.of[bit] : 0;
                planes_[p].word[place_of(word)] = bits;
            }
    }

    int64_t of_row(int row) const { return of_row_[row]; }

    int64_t of(const Block& rows) const {
        const int64_t n = count(rows);
        if (n <= int64_t(planes_.size())) return one_by_one(rows, n);
        int64_t total = 0;
        for (std::size_t p = 0; p < planes_.size(); ++p) total += count(rows, planes_[p], NO_FLIP) << bits_[p];
        return total;
    }

  private:
    int64_t one_by_one(const Block& rows, int64_t n) const {
        int64_t total = 0;
        for (int word = 0; word < WORDS && n > 0; ++word)
            for (Word bits = rows.word[place_of(word)]; bits; bits &= bits - 1, --n)
                total += of_row_[64 * word + std::countr_zero(bits)];
        return total;
    }

    std::span<const int64_t> weight_;
    std::vector<int64_t> of_row_;
    std::vector<int> bits_;
    std::vector<Block> planes_;
};

// The groups of a block, as runs of bits.
class Runs {
  public:
    Runs() : end_place_(ROWS), end_bits_(ROWS), run_of_(ROWS) {}

    int n() const { return n_; }
    int run_of(int row) const { return run_of_[row]; }

    // Finds the runs of the rows from start on; the first of them is that of group `group`.
    void find(std::span<const int64_t> bounds, int64_t group, int64_t start, int n_rows) {
        n_ = 0;
        for (int first = 0; first < n_rows; ++n_) {
            const int last = int(std::min<int64_t>(n_rows, bounds[group + n_ + 1] - start));
            end_place_[n_] = place_of((last - 1) >> 6);
            end_bits_[n_] = ~Word(0) >> (63 - ((last - 1) & 63));
            std::fill(run_of_.begin() + first, run_of_.begin() + last, std::uint16_t(n_));
            first = last;
        }
    }

    // Adds the number of rows of each run to the number at homes[run] + offset.
    void add(const Block& rows, int64_t* const* homes, int64_t offset) const {
        if (n_ > MANY_RUNS) return add_by_bits(rows, homes, offset);
        int64_t earlier[WORDS], before = 0;
        running_counts(rows, earlier);
        for (int run = 0; run < n_; ++run) {
            const int at = end_place_[run];
            const int64_t up_to = earlier[at] + std::popcount(rows.word[at] & end_bits_[run]);
            homes[run][offset] += up_to - before;
            before = up_to;
        }
    }

    // The same, of weights.
    void add(const Block& rows, const Planes& weights, int64_t* const* homes, int64_t offset) const {
        for (int word = 0; word < WORDS; ++word)
            for (Word bits = rows.word[place_of(word)]; bits; bits &= bits - 1) {
                const int row = 64 * word + std::countr_zero(bits);
                homes[run_of_[row]][offset] += weights.of_row(row);
            }
    }

  private:
    void add_by_bits(const Block& rows, int64_t* const* homes, int64_t offset) const {
        for (int word = 0; word < WORDS; ++word)
            for (Word bits = rows.word[place_of(word)]; bits != 0;) {
                const int run = run_of_[64 * word + std::countr_zero(bits)];
                const Word mine = end_place_[run] == place_of(word) ? bits & end_bits_[run] : bits;
                homes[run][offset] += std::popcount(mine);
                bits ^= mine;
            }
    }

    int n_ = 0;
    std::vector<int> end_place_;          // of the word in which a run ends
    std::vector<Word> end_bits_;          // the bits of that word up to there
    std::vector<std::uint16_t> run_of_;   // of each row
};

// What is done with the rows that reach a leaf: they are counted, or weighed, for one group or for the runs of several.
struct CountRows {
    int64_t* counts;
    void operator()(int64_t at, const Block& rows) const { counts[at] += count(rows); }
    void operator()(int64_t at, const Block& rows, const Block& mask, Word flip) const { counts[at] += count(rows, mask, flip); }
};

template <class Add>
struct WithMask {
    Add add;
    void operator()(int64_t at, const Block& rows) const { add(at, rows); }
    void operator()(int64_t at, const Block& rows, const Block& mask, Word flip) const {
        Block kept;
        if (keep(kept, rows, mask, flip)) add(at, kept);
    }
};
template <class Add>
WithMask(Add) -> WithMask<Add>;

// A walk over trees with one bitset per player set.
class Walk {
  public:
    Walk(const BitsetTrees& trees, const Subsets& subsets, const Block* masks)
        : trees_(trees), subsets_(subsets), masks_(masks), most_(subsets.size.back()),
          scratch_((trees.depth + 1) * most_), rows_of_((trees.depth + 1) * most_) {}

    template <class Add>
    void all(const Block& everyone, const Add& add) {
        rows_of_[0] = &everyone;
        for (const int32_t root : trees_.root) {
            if (root < 0) add(trees_.leaf_offset[~root], everyone);
            else visit(root, 0, 0, add);
        }
    }

  private:
    // Recursive: trees that are counted with bitsets have at most a thousand leaves, so no path is longer.
    template <class Add>
    void visit(int32_t node, int used, int64_t level, const Add& add) {
        const int slot = trees_.slot[node];
        branch(trees_.left[node], node, slot, used, level, NO_FLIP, add);
        branch(trees_.right[node], node, slot, used, level, FLIP, add);
    }

    template <class Add>
    void branch(int32_t child, int32_t node, int slot, int used, int64_t level, Word flip, const Add& add) {
        const Block* const* here = rows_of_.data() + level * most_;
        const Block& mask = masks_[trees_.condition[node]];
        const bool* has = subsets_.has[slot];
        const bool is_new = slot == used;
        const int64_t n = subsets_.size[used], n_below = subsets_.size[used + is_new];
        if (child < 0) {  // counted behind the branch, without writing the bitsets
            const int64_t at = trees_.leaf_offset[~child];
            for (int64_t i = 0; i < n; ++i) {
                if (!here[i]) continue;
                if (!is_new && has[i]) add(at + i, *here[i]);
                else add(at + i, *here[i], mask, flip);
            }
            for (int64_t i = n; i < n_below; ++i)
                if (const Block* rows = here[subsets_.rest[i]]) add(at + i, *rows);
            return;
        }
        const Block** below = rows_of_.data() + (level + 1) * most_;
        Block* out = scratch_.data() + (level + 1) * most_;
        bool alive = false;
        for (int64_t i = 0; i < n; ++i) {
            const Block* rows = here[i];
            if (rows && (is_new || !has[i])) rows = keep(out[i], *rows, mask, flip) ? out + i : nullptr;
            alive |= rows != nullptr;
            below[i] = rows;
        }
        // The sets with a new player are free of its condition, so they are the parent's without it.
        for (int64_t i = n; i < n_below; ++i) alive |= (below[i] = here[subsets_.rest[i]]) != nullptr;
        if (alive) visit(child, used + is_new, level + 1, add);
    }

    const BitsetTrees& trees_;
    const Subsets& subsets_;
    const Block* masks_;
    int64_t most_;
    std::vector<Block> scratch_;
    std::vector<const Block*> rows_of_;  // of each level and player set; null if there are none
};

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

// Writes the rows that meet each condition, for the block of rows from `start` on.
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

void first_rows(int n_rows, Block& out) {
    for (int word = 0; word < WORDS; ++word) {
        const int n = std::clamp(n_rows - 64 * word, 0, 64);
        out.word[place_of(word)] = n == 64 ? ~Word(0) : (Word(1) << n) - 1;
    }
}

}  // namespace

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
        int64_t* const* counts = groups.counts.data() + group;
        int64_t* const* cells = groups.cells.data() + group;
        const auto count_all = [&](auto to_counts, auto to_cells) {
            for (std::size_t i = 0; i < conditions.noted.size(); ++i)
                to_cells(conditions.noted_cell[i], everyone, masks[conditions.noted[i]], NO_FLIP);
            walk.all(everyone, to_counts);
        };
        const auto in_runs = [&](int64_t* const* homes) {
            return WithMask{[&runs, homes](int64_t at, const Block& rows) { runs.add(rows, homes, at); }};
        };
        const auto weighted_runs = [&](int64_t* const* homes) {
            return WithMask{[&, homes](int64_t at, const Block& rows) { runs.add(rows, weights, homes, at); }};
        };
        const auto weighted_rows = [&](int64_t* home) {
            return WithMask{[&weights, home](int64_t at, const Block& rows) { home[at] += weights.of(rows); }};
        };
        if (runs.n() == 1 && !weighted) count_all(CountRows{counts[0]}, CountRows{cells[0]});
        else if (runs.n() == 1) count_all(weighted_rows(counts[0]), weighted_rows(cells[0]));
        else if (!weighted) count_all(in_runs(counts), in_runs(cells));
        else count_all(weighted_runs(counts), weighted_runs(cells));
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
