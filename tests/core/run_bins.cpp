#include <cmath>
#include <limits>

#include "bins.h"
#include "kernels.h"

namespace glasswood {
namespace {

using Weights = std::span<const int64_t>;

constexpr int64_t N_NUMBERS = 5, N_LEVELS = 10, N_CATEGORIES = N_LEVELS + 2;  // bins of a column of numbers, and of categories
const double INNER[] = {-200.0, 0.25, 200.0};

// Four bins of each number and ten of the categories; counted are two of the former, missing values, and all of the latter.
struct Case {
    explicit Case(const Inputs& in) {
        const Model& m = in.model;
        for (int f = 0; f < N_FEATURES; ++f) {
            first.push_back(f ? first.back() + n_bins.back() : 0);
            n_bins.push_back(m.n_codes[f] > 0 ? N_CATEGORIES : N_NUMBERS);
            edge_first.push_back(int64_t(cut.size()));
            code_first.push_back(0);
            if (m.n_codes[f] > 0) continue;
            cut.insert(cut.end(), std::begin(INNER), std::end(INNER));
            cut.push_back(std::numeric_limits<double>::infinity());
        }
        edge_first.push_back(int64_t(cut.size()));
        for (const double edge : cut) cut_single.push_back(float(edge));  // float32 holds them
        category_set.assign(cut.size(), -1);
        none.resize(cut.size());
        for (int64_t code = 0; code < m.n_codes[CATEGORIES]; ++code) bin_of_code.push_back(int32_t(code % N_LEVELS));
        whole.assign(total(), 0);
        whole[first[CATEGORIES]] = N_CATEGORIES;
        offset = m.leaf_offset(in.single);
        for (std::size_t leaf = 0; leaf + 1 < offset.size(); ++leaf) {
            add_jobs(0, {});
            for (int64_t slot = m.slot_first[leaf]; slot < m.slot_first[leaf + 1]; ++slot) {
                const int player = m.slot_player[slot];  // its first feature has the same number
                if (player == CATEGORIES) {
                    std::vector<int64_t> all;
                    for (int64_t k = 0; k < N_CATEGORIES; ++k) all.push_back(k);
                    add_jobs(player, all);
                } else {
                    add_jobs(player, {1, 3, N_NUMBERS - 1});
                }
            }
        }
        job_first.push_back(int64_t(job_bin.size()));
    }

    void add_jobs(int feature, const std::vector<int64_t>& bins) {
        column.push_back(feature);
        job_first.push_back(int64_t(job_bin.size()));
        for (const int64_t bin : bins) job_bin.push_back(int32_t(first[feature] + bin));
    }

    int64_t total() const { return first.back() + n_bins.back(); }
    BinJobs jobs() const { return {job_first, job_bin, whole}; }
    BinsOfColumns bins() const { return {first, n_bins, code_first, bin_of_code, total()}; }

    std::vector<int64_t> first, n_bins, edge_first, code_first, category_set, whole, offset, job_first;
    std::vector<double> cut;
    std::vector<float> cut_single;
    std::vector<int32_t> bin_of_code, job_bin, column;
    Flags none;
};

std::vector<int64_t> with_bitsets(const Inputs& in, const Case& c, const std::vector<Column>& columns, const std::vector<int64_t>& bounds,
                                  Weights weight) {
    const Model& m = in.model;
    const ConditionsOfModel& own = in.conditions;
    const std::size_t n_groups = bounds.size() - 1, n_jobs = c.job_bin.size(), n_cells = std::size_t(c.total());
    std::vector<int64_t> out(n_groups * (n_jobs + n_cells));
    std::vector<int64_t*> counts, cells;
    for (std::size_t group = 0; group < n_groups; ++group) {
        counts.push_back(out.data() + group * (n_jobs + n_cells));
        cells.push_back(counts.back() + n_jobs);
    }
    const Conditions conditions{own.first, m.n_codes, own.cut, own.cut_single, own.category_set, view(own.missing_left), view(own.unseen_left),
                                m.words,   {},        {}};
    const Conditions edges{c.edge_first, m.n_codes, c.cut, c.cut_single, c.category_set, view(c.none), view(c.none), m.words, {}, {}};
    const BitsetTrees trees{m.root, m.left, m.right, m.slot, own.of_node, c.offset, m.depth, int64_t(own.cut.size())};
    const Flags weighed(true, N_FEATURES);
    count_bins_with_bitsets(columns, conditions, edges, trees, in.single.subsets(), c.bins(), c.jobs(), view(weighed),
                            Groups{bounds, counts, cells, weight});
    return out;
}

std::vector<int64_t> with_lists(const Inputs& in, const Case& c, Weights weight) {
    const Model& m = in.model;
    const int64_t n_rows = in.rows.n_rows;
    std::vector<int64_t> counts(c.job_bin.size()), cells(m.cell_first.back());
    std::vector<int32_t> ranks(N_FEATURES * n_rows), bins(N_FEATURES * n_rows), following(in.single.plus);
    for (std::size_t i = 0; i < following.size(); ++i)
        if (in.single.has[i]) following[i] = int32_t(i % in.single.n());
    const std::vector<Column> columns = in.rows.columns();
    for (int f = 0; f < N_FEATURES; ++f)
        for (int64_t row = 0; row < n_rows; ++row) {
            const double x = columns[f][row];
            int64_t bin = c.n_bins[f] - 1;
            if (!std::isnan(x) && m.n_codes[f] > 0) bin = x >= 0 && x < double(m.n_codes[f]) ? c.bin_of_code[int64_t(x)] : N_LEVELS;
            else if (!std::isnan(x)) bin = (x > INNER[0]) + (x > INNER[1]) + (x > INNER[2]);
            bins[f * n_rows + row] = int32_t(c.first[f] + bin);
        }
    rank_rows(columns, m.cuts_of_columns(), m.cell_first, 0, n_rows, weight, matrix(ranks, n_rows), cells);
    const ListTrees trees{m.left, m.right, m.slot,   m.feature, m.rank, m.category_set, view(m.missing_left), view(m.unseen_left),
                          m.words, c.offset, m.depth};
    count_bins_with_lists(m.root, trees, n_rows, matrix(std::as_const(ranks), n_rows), matrix(std::as_const(following), in.single.n()),
                          matrix(std::as_const(bins), n_rows), c.column, c.jobs(), weight, counts);
    return counts;
}

}  // namespace

void run_bins(const Inputs& in, Digests& out) {
    const Case c(in);
    const Rows& rows = in.rows;
    const std::vector<int64_t> whole{0, rows.n_rows}, some{0, 7, 64, 3000, 4096, rows.n_rows};
    const std::pair<const char*, Weights> weights[] = {{"", {}}, {" small weights", rows.small_weight}, {" large weights", rows.large_weight}};
    for (const auto& [name, weight] : weights) {
        const std::vector<int64_t> found = with_bitsets(in, c, rows.columns(), whole, weight), listed = with_lists(in, c, weight);
        out.add(std::string("rows in bins") + name, found);
        out.check(std::equal(listed.begin(), listed.end(), found.begin()), std::string("lists count rows in bins as bitsets do") + name);
        for (const std::vector<Column>& columns : {rows.single_columns(), rows.strided_columns()})
            out.check(with_bitsets(in, c, columns, whole, weight) == found, std::string("columns of another type have the same rows in bins") + name);
        const std::vector<int64_t> parts = with_bitsets(in, c, rows.columns(), some, weight);
        std::vector<int64_t> total(found.size());
        for (std::size_t i = 0; i < parts.size(); ++i) total[i % found.size()] += parts[i];
        out.check(total == found, std::string("rows in bins of groups add up") + name);
    }
}

}  // namespace glasswood
