// Blocks of rows walked through trees as bitsets: what the kernels that count with them share, see bitsets.h.
#pragma once

#include <algorithm>
#include <vector>

#include "bits.h"
#include "bitsets.h"

namespace glasswood {

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
        : trees_(trees), subsets_(subsets), masks_(masks), max_subsets_(subsets.size.back()),
          scratch_((trees.depth + 1) * max_subsets_), rows_of_((trees.depth + 1) * max_subsets_) {}

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
        const Block* const* here = rows_of_.data() + level * max_subsets_;
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
        const Block** below = rows_of_.data() + (level + 1) * max_subsets_;
        Block* out = scratch_.data() + (level + 1) * max_subsets_;
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
    int64_t max_subsets_;
    std::vector<Block> scratch_;
    std::vector<const Block*> rows_of_;  // of each level and player set; null if there are none
};

// Calls `use` with what adds the rows of a block to the numbers of their groups, whose homes begin with that of the first run.
template <class Use>
void with_adder(const Runs& runs, const Planes& weights, bool weighted, int64_t* const* homes, const Use& use) {
    if (runs.n() == 1 && !weighted) use(CountRows{homes[0]});
    else if (runs.n() == 1) use(WithMask{[&weights, home = homes[0]](int64_t at, const Block& rows) { home[at] += weights.of(rows); }});
    else if (!weighted) use(WithMask{[&runs, homes](int64_t at, const Block& rows) { runs.add(rows, homes, at); }});
    else use(WithMask{[&, homes](int64_t at, const Block& rows) { runs.add(rows, weights, homes, at); }});
}

// Writes the rows that meet each condition, for the block of rows from `start` on. `block` has room for ROWS numbers.
void evaluate(std::span<const Column> columns, int64_t start, int n_rows, const Conditions& c, const ColumnDigests& digests, double* block,
              Block* masks);

inline void first_rows(int n_rows, Block& out) {
    for (int word = 0; word < WORDS; ++word) {
        const int n = std::clamp(n_rows - 64 * word, 0, 64);
        out.word[place_of(word)] = n == 64 ? ~Word(0) : (Word(1) << n) - 1;
    }
}

}  // namespace glasswood
