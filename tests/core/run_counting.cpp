#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "constants.h"
#include "digests.h"
#include "ends.h"
#include "kernels.h"
#include "lists.h"
#include "subsets.h"
#include "targets.h"

namespace glasswood {
namespace {

using Weights = std::span<const int64_t>;

float at_most(double cut) {
    const float single = float(cut);
    return double(single) > cut ? std::nextafter(single, -std::numeric_limits<float>::infinity()) : single;
}

struct Counted {
    std::vector<int64_t> counts, cells;  // of all groups, one behind the other
    std::vector<Word> digests{};         // of all columns but the first
};

Counted with_bitsets(const Inputs& in, const PlayerSets& counted, const std::vector<Column>& columns, const std::vector<int64_t>& bounds,
                     Weights weight) {
    const Model& m = in.model;
    const ConditionsOfModel& c = in.conditions;
    const std::vector<int64_t> offset = m.leaf_offset(counted);
    const std::size_t n_groups = bounds.size() - 1, n_counts = offset.back(), n_noted = c.noted.size();
    Counted out{std::vector<int64_t>(n_groups * n_counts), std::vector<int64_t>(n_groups * n_noted)};
    std::vector<int64_t*> counts, cells;
    for (std::size_t group = 0; group < n_groups; ++group) {
        counts.push_back(out.counts.data() + group * n_counts);
        cells.push_back(out.cells.data() + group * n_noted);
    }
    std::vector<int64_t> noted_cell(n_noted);
    std::iota(noted_cell.begin(), noted_cell.end(), 0);
    const Conditions conditions{c.first, m.n_codes, c.cut, c.cut_single, c.category_set, view(c.missing_left), view(c.unseen_left),
                                m.words, c.noted,   noted_cell};
    const BitsetTrees trees{m.root, m.left, m.right, m.slot, c.of_node, offset, m.depth, int64_t(c.cut.size())};
    std::vector<int64_t> place(columns.size());
    std::iota(place.begin(), place.end(), 0);
    place[0] = -1;  // not wanted
    out.digests.resize(((in.rows.n_rows + DIGEST_ROWS - 1) / DIGEST_ROWS) * columns.size());
    count_with_bitsets(columns, conditions, trees, counted.subsets(), Groups{bounds, counts, cells, weight},
                       ColumnDigests{place, matrix(out.digests, int64_t(columns.size()))});
    return out;
}

Counted with_lists(const Inputs& in, const PlayerSets& counted, Weights weight) {
    const Model& m = in.model;
    const std::vector<int64_t> offset = m.leaf_offset(counted);
    Counted out{std::vector<int64_t>(offset.back()), std::vector<int64_t>(m.cell_first.back())};
    std::vector<int32_t> ranks(N_FEATURES * in.rows.n_rows), following(counted.plus);
    for (std::size_t i = 0; i < following.size(); ++i)
        if (counted.has[i]) following[i] = int32_t(i % counted.n());
    rank_rows(in.rows.columns(), m.cuts_of_columns(), m.cell_first, 0, in.rows.n_rows, weight, matrix(ranks, in.rows.n_rows), out.cells);
    const ListTrees trees{m.left, m.right, m.slot,  m.feature, m.rank, m.category_set, view(m.missing_left), view(m.unseen_left),
                          m.words, offset, m.depth};
    count_with_lists(m.root, trees, in.rows.n_rows, matrix(std::as_const(ranks), in.rows.n_rows),
                     matrix(std::as_const(following), counted.n()), weight, out.counts);
    subset_sums(offset, m.n_players, counted.size, counted.minus_of(), out.counts);
    return out;
}

std::vector<int64_t> categories(const Inputs& in, Weights weight) {
    const std::vector<Column> columns{in.rows.columns()[CATEGORIES]};
    const std::vector<int64_t> n_codes{in.model.n_codes[CATEGORIES]}, offset{0}, bounds{0, 1000, in.rows.n_rows};
    std::vector<int64_t> cells(2 * in.model.n_cells[CATEGORIES]);
    const std::vector<int64_t*> homes{cells.data(), cells.data() + in.model.n_cells[CATEGORIES]};
    count_categories(columns, CategoryCells{n_codes, offset}, Groups{bounds, homes, homes, weight});
    return cells;
}

}  // namespace

ConditionsOfModel::ConditionsOfModel(const Model& model)
    : of_node(model.left.size()), missing_left(model.left.size()), unseen_left(model.left.size()) {
    for (int f = 0; f < N_FEATURES; ++f) {
        first.push_back(int64_t(cut.size()));
        for (std::size_t node = 0; node < model.left.size(); ++node) {
            if (model.feature[node] != f) continue;
            const std::size_t number = cut.size();
            of_node[node] = int32_t(number);
            cut.push_back(model.cut[node]);
            cut_single.push_back(at_most(model.cut[node]));
            category_set.push_back(model.category_set[node]);
            missing_left[number] = model.missing_left[node];
            unseen_left[number] = model.unseen_left[node];
            noted.push_back(int64_t(number));
        }
    }
    first.push_back(int64_t(cut.size()));
}

std::vector<int64_t> counts_of(const Inputs& in, const PlayerSets& counted) {
    return with_bitsets(in, counted, in.rows.columns(), {0, in.rows.n_rows}, {}).counts;
}

std::vector<double> exact_counts_of(const Inputs& in) {
    const std::vector<int64_t> counts = counts_of(in, in.all);
    std::vector<double> exact(counts.begin(), counts.end());
    subset_differences(in.model.leaf_offset(in.all), in.model.n_players, in.all.size, in.all.minus_of(), exact);
    return exact;
}

namespace {

std::vector<RawColumn> as_bits(const std::vector<Column>& columns) {
    std::vector<RawColumn> bits;
    for (const Column& column : columns) bits.push_back({column.start, column.stride, column.is_single ? 4 : 8});
    return bits;
}

std::vector<Word> digests_of(const std::vector<RawColumn>& columns, int64_t n_rows) {
    std::vector<Word> digests(((n_rows + DIGEST_ROWS - 1) / DIGEST_ROWS) * columns.size());
    write_digests(columns, n_rows, matrix(digests, int64_t(columns.size())));
    return digests;
}

// Digests of columns: of any width and distance, beside each other or not, and taken while rows are counted.
void run_digests(const Inputs& in, Digests& out) {
    const Rows& rows = in.rows;
    std::vector<RawColumn> columns;
    for (const std::vector<Column>& some : {rows.columns(), rows.single_columns(), rows.strided_columns()})
        for (const RawColumn& column : as_bits(some)) columns.push_back(column);
    const auto bytes = reinterpret_cast<const std::byte*>(rows.by_column.data());
    for (const int width : {1, 2, 4}) columns.push_back({bytes, width, width}), columns.push_back({bytes, 8, width});
    out.add("digests of columns", digests_of(columns, rows.n_rows));
    for (const std::vector<Column>& some : {rows.columns(), rows.single_columns(), rows.strided_columns()}) {
        std::vector<Word> expected = digests_of(as_bits(some), rows.n_rows);
        for (std::size_t at = 0; at < expected.size(); at += some.size()) expected[at] = 0;
        const std::vector<int64_t> whole{0, rows.n_rows};
        out.check(with_bitsets(in, in.single, some, whole, {}).digests == expected, "digests are the same while rows are counted");
    }
}

// The ends of all columns in some groups of rows.
std::vector<int64_t> ends_of(const std::vector<Column>& columns, const std::vector<int64_t>& bounds) {
    constexpr auto most = std::numeric_limits<int64_t>::max(), least = std::numeric_limits<int64_t>::min();
    const std::size_t n_groups = bounds.size() - 1, n = columns.size();
    std::vector<int64_t> found;
    for (const int64_t start : {most, least, most}) found.insert(found.end(), n_groups * n, start);
    std::vector<int64_t*> lines;
    for (std::size_t line = 0; line < 3 * n_groups; ++line) lines.push_back(found.data() + line * n);
    const std::span<int64_t* const> all = lines;
    add_ends(columns, bounds, EndsOfGroups{all.first(n_groups), all.subspan(n_groups, n_groups), all.last(n_groups)});
    return found;
}

// Columns of the table; and numbers with infinities, NaN and zeros of both signs, in groups of all sizes.
void run_ends(const Inputs& in, const std::vector<int64_t>& some, const std::vector<int64_t>& many, Digests& out) {
    const Rows& rows = in.rows;
    out.add("ends of columns", ends_of(rows.columns(), some));
    out.add("ends of columns of float32", ends_of(rows.single_columns(), some));
    out.add("ends of many groups", ends_of(rows.columns(), many));
    for (const std::vector<int64_t>& bounds : {some, many})
        out.check(ends_of(rows.strided_columns(), bounds) == ends_of(rows.columns(), bounds), "columns of another stride have the same ends");
    constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> odd{nan, nan, -0.0, 0.0, -inf, inf, 5e-324, -5e-324, 1e300, -7.0, nan, 3.0, 2.5, inf, inf, -inf};
    const Column column{reinterpret_cast<const std::byte*>(odd.data()), sizeof(double), false};
    out.add("ends of odd numbers", ends_of({column}, {0, 2, 4, 5, 6, 7, 8, 10, 12, 13, 15, 16}));
    out.check(whole_in_order(-0.0) == 0 && whole_in_order(0.0) == 0, "zeros of both signs are one number");
    const std::vector<double> sorted{-inf, -1e300, -1.0, -5e-324, 0.0, 5e-324, 1.0, 1e300, inf};
    std::vector<int64_t> whole;
    for (const double x : sorted) whole.push_back(whole_in_order(x));
    out.check(std::adjacent_find(whole.begin(), whole.end(), std::greater_equal<>()) == whole.end(), "the order of numbers is kept");
    out.add("numbers in order", whole);
}

}  // namespace

void run_targets(const Inputs& in, Digests& out) {
    const int64_t n_rows = 1000, n_terms = 3;
    const std::vector<int32_t> cells = cells_of(in, n_rows);
    const std::vector<int64_t>& ends = in.model.cell_first;
    const std::vector<int64_t> first(ends.begin(), ends.end() - 1);
    Random random;
    std::vector<double> drawn(n_rows * n_terms);
    for (double& term : drawn) term = random.value() * std::ldexp(1.0, int(random.below(30)));
    const std::vector<double>& terms = drawn;
    const std::pair<const char*, Weights> weights[] = {{"", {}}, {" small weights", in.rows.small_weight}, {" large weights", in.rows.large_weight}};
    for (const auto& [name, weight] : weights) {
        const Weights own = weight.empty() ? weight : weight.first(n_rows);
        std::vector<int64_t> whole((ends.back() + 1) * n_terms * LIMBS), parts(whole);
        const auto add = [&](std::vector<int64_t>& sums, int64_t begin, int64_t end) {
            add_targets(matrix(cells, n_rows), first, begin, end, matrix(terms, n_terms), own, {sums.data(), ends.back() + 1, n_terms, LIMBS});
        };
        add(whole, 0, n_rows);
        add(parts, 700, n_rows);
        add(parts, 0, 700);
        out.add(std::string("targets") + name, whole);
        out.check(whole == parts, std::string("sums of targets do not depend on the order of the rows") + name);
    }
}

void run_counting(const Inputs& in, Digests& out) {
    run_digests(in, out);
    run_targets(in, out);
    const Rows& rows = in.rows;
    const std::vector<int64_t> whole{0, rows.n_rows}, some{0, 7, 64, 3000, 4096, rows.n_rows};
    std::vector<int64_t> many;  // over 512 in a block of 4,096 rows
    for (int64_t bound = 0; bound < rows.n_rows; bound += 7) many.push_back(bound);
    many.push_back(rows.n_rows);
    run_ends(in, some, many, out);
    const std::pair<const char*, Weights> weights[] = {{"", {}}, {" small weights", rows.small_weight}, {" large weights", rows.large_weight}};
    for (const auto& [name, weight] : weights) {
        const Counted found = with_bitsets(in, in.pairs, rows.columns(), whole, weight), listed = with_lists(in, in.pairs, weight);
        out.add(std::string("counts") + name, found.counts);
        out.add(std::string("conditions") + name, found.cells);
        out.add(std::string("cells") + name, listed.cells);
        out.check(listed.counts == found.counts, std::string("lists count what bitsets count") + name);
        for (const std::vector<Column>& columns : {rows.single_columns(), rows.strided_columns()})
            out.check(with_bitsets(in, in.pairs, columns, whole, weight).counts == found.counts,
                      std::string("columns of another type or stride have the same counts") + name);
        out.add(std::string("categories") + name, categories(in, weight));
        out.add(std::string("groups") + name, with_bitsets(in, in.pairs, rows.columns(), some, weight).counts);
        out.add(std::string("many groups") + name, with_bitsets(in, in.single, rows.columns(), many, weight).counts);
    }
    out.add("counts of all sets", counts_of(in, in.all));
    out.check(with_lists(in, in.all, {}).counts == counts_of(in, in.all), "lists count what bitsets count, of all sets");
    out.add("exact counts", exact_counts_of(in));
}

}  // namespace glasswood
