#include "bins.h"

#include <algorithm>
#include <vector>

#include "bitset_walk.h"
#include "list_walk.h"

namespace glasswood {
namespace {

constexpr int64_t ROWS_PER_BIN = 4;  // fewer rows than that are dealt to their bins one by one

// The bins of a block of rows, as bitsets.
class BlockBins {
  public:
    BlockBins(const BinsOfColumns& bins, const Conditions& edges)
        : bins_(bins), edges_(edges), conditions_(edges.cut.size() + 1), block_(ROWS), not_wanted_(bins.first.size(), -1) {
        int64_t n_categories = 0;
        for (const int64_t n_codes : edges.n_codes) n_categories += n_codes > 0;
        rows_.resize(bins.total);
        some_.resize(bins.total);
        of_rows_.resize(bins.total);
        bin_of_row_.resize(n_categories * ROWS);
    }

    void read(std::span<const Column> columns, int64_t start, int n_rows, const Block& everyone) {
        evaluate(columns, start, n_rows, edges_, ColumnDigests{not_wanted_, {nullptr, 0, 0}}, block_.data(), conditions_.data());
        int32_t* of_rows = bin_of_row_.data();
        for (std::size_t c = 0; c < columns.size(); ++c) {
            if (edges_.n_codes[c] == 0) {
                read_numbers(c, everyone);
            } else {
                read_categories(columns[c], c, start, n_rows, of_rows);
                of_rows += ROWS;
            }
        }
    }

    const Block& rows(int64_t bin) const { return rows_[bin]; }
    bool has_rows(int64_t bin) const { return some_[bin]; }

    // The bin of each row within its column, if the column is one of categories; else null.
    const int32_t* of_rows(int64_t bin) const { return of_rows_[bin]; }

  private:
    void read_numbers(std::size_t c, const Block& everyone) {
        const int64_t n = bins_.n_bins[c] - 1, first = bins_.first[c];
        const Block* at_most = conditions_.data() + edges_.first[c];
        for (int64_t k = 0; k < n; ++k) some_[first + k] = k ? keep(rows_[first + k], at_most[k], at_most[k - 1], FLIP) : keep(rows_[first], at_most[0], at_most[0], NO_FLIP);
        some_[first + n] = keep(rows_[first + n], everyone, at_most[n - 1], FLIP);
    }

    void read_categories(const Column& column, std::size_t c, int64_t start, int n_rows, int32_t* of_rows) {
        const int64_t first = bins_.first[c], n = bins_.n_bins[c], n_codes = edges_.n_codes[c];
        for (int64_t k = 0; k < n; ++k) {
            rows_[first + k] = Block{};
            some_[first + k] = 0;
            of_rows_[first + k] = of_rows;
        }
        for (int row = 0; row < n_rows; ++row) {
            const double x = column[start + row];
            const int64_t seen = x >= 0 && x < double(n_codes) ? bins_.bin_of_code[bins_.code_first[c] + int64_t(x)] : n - 2;
            const int64_t bin = std::isnan(x) ? n - 1 : seen;
            rows_[first + bin].word[place_of(row >> 6)] |= Word(1) << (row & 63);
            some_[first + bin] = 1;
            of_rows[row] = int32_t(bin);
        }
    }

    const BinsOfColumns& bins_;
    const Conditions& edges_;
    std::vector<Block> conditions_, rows_;
    std::vector<double> block_;
    std::vector<int64_t> not_wanted_;
    std::vector<Word> some_;
    std::vector<const int32_t*> of_rows_;
    std::vector<int32_t> bin_of_row_;
};

// What is done with the rows that reach a leaf, for each set of one feature: those in each of its jobs' bins are added.
template <class Add, class AddRow>
struct AddJobs {
    const BinJobs& jobs;
    const BlockBins& bins;
    const Add& add;
    const AddRow& add_row;

    void operator()(int64_t at, const Block& rows) const {
        const int64_t first = jobs.first[at], last = jobs.first[at + 1];
        if (first == last) return;
        if (const int32_t* of_rows = bins.of_rows(jobs.bin[first])) {
            if (count(rows) < ROWS_PER_BIN * (last - first)) return by_rows(first, rows, of_rows);
        }
        for (int64_t job = first; job < last; ++job)
            if (bins.has_rows(jobs.bin[job])) add(job, rows, bins.rows(jobs.bin[job]), NO_FLIP);
    }

    void operator()(int64_t at, const Block& rows, const Block& mask, Word flip) const {
        if (!any(at)) return;
        Block kept;
        if (keep(kept, rows, mask, flip)) (*this)(at, kept);
    }

  private:
    bool any(int64_t at) const {
        for (int64_t job = jobs.first[at]; job < jobs.first[at + 1]; ++job)
            if (bins.has_rows(jobs.bin[job])) return true;
        return false;
    }

    void by_rows(int64_t first, const Block& rows, const int32_t* of_rows) const {
        for (int word = 0; word < WORDS; ++word)
            for (Word bits = rows.word[place_of(word)]; bits; bits &= bits - 1) {
                const int row = 64 * word + std::countr_zero(bits);
                add_row(first + of_rows[row], row);
            }
    }
};

void weigh(const BinsOfColumns& bins, std::span<const bool> weighed, const BlockBins& here, const Block& everyone, const auto& add) {
    for (std::size_t c = 0; c < bins.first.size(); ++c)
        for (int64_t k = bins.first[c]; weighed[c] && k < bins.first[c] + bins.n_bins[c]; ++k)
            if (here.has_rows(k)) add(k, everyone, here.rows(k), NO_FLIP);
}

}  // namespace

void count_bins_with_bitsets(std::span<const Column> columns, const Conditions& conditions, const Conditions& edges, const BitsetTrees& trees,
                             const Subsets& subsets, const BinsOfColumns& bins, const BinJobs& jobs, std::span<const bool> weighed,
                             const Groups& groups) {
    const std::span<const int64_t> bounds = groups.bounds;
    std::vector<Block> masks(conditions.cut.size() + 1);
    std::vector<double> block(ROWS);
    const std::vector<int64_t> not_wanted(columns.size(), -1);
    BlockBins here(bins, edges);
    Walk walk(trees, subsets, masks.data());
    Planes weights(groups.weight);
    Runs runs;
    Block everyone;
    const bool weighted = !groups.weight.empty();
    int64_t group = 0;
    for (int64_t start = bounds.front(); start < bounds.back(); start += ROWS) {
        const int n_rows = int(std::min<int64_t>(ROWS, bounds.back() - start));
        first_rows(n_rows, everyone);
        evaluate(columns, start, n_rows, conditions, ColumnDigests{not_wanted, {nullptr, 0, 0}}, block.data(), masks.data());
        here.read(columns, start, n_rows, everyone);
        runs.find(bounds, group, start, n_rows);
        if (weighted) weights.read(start, n_rows);
        with_adder(runs, weights, weighted, groups.cells.data() + group, [&](const auto& add) { weigh(bins, weighed, here, everyone, add); });
        int64_t* const* counts = groups.counts.data() + group;
        const auto add_row = [&](int64_t job, int row) { counts[runs.run_of(row)][job] += weighted ? weights.of_row(row) : 1; };
        with_adder(runs, weights, weighted, counts, [&](const auto& add) { walk.all(everyone, AddJobs{jobs, here, add, add_row}); });
        group += bounds[group + runs.n()] == start + n_rows ? runs.n() : runs.n() - 1;
    }
}

void count_bins_with_lists(std::span<const int32_t> root, const ListTrees& trees, int64_t n_rows, Matrix<const int32_t> ranks,
                           Matrix<const int32_t> following, Matrix<const int32_t> bins, std::span<const int32_t> column, const BinJobs& jobs,
                           std::span<const int64_t> weight, std::span<int64_t> counts) {
    const auto add = [&](int64_t at, std::uint32_t row) {
        const int32_t* first = jobs.bin.data() + jobs.first[at];
        const int32_t* last = jobs.bin.data() + jobs.first[at + 1];
        if (first == last) return;
        const int32_t bin = bins[column[at]][row];
        const int32_t* found = std::lower_bound(first, last, bin);
        if (found < last && *found == bin) counts[found - jobs.bin.data()] += weight.empty() ? 1 : weight[row];
    };
    ListWalk walk(trees, ranks, following, [&](int64_t leaf, const std::uint32_t* first, const std::uint32_t* last) {
        const int64_t start = trees.leaf_offset[leaf], end = trees.leaf_offset[leaf + 1];
        for (; first < last; ++first) {
            const std::uint32_t row = *first & ROW_MASK, set = *first >> ROW_BITS;
            if (set > 0) add(start + set, row);
            else  // a row that meets all conditions also meets all but those on one feature
                for (int64_t at = start + 1; at < end; ++at) add(at, row);
        }
    });
    for (const int32_t tree : root) walk.tree(tree, n_rows);
}

}  // namespace glasswood
