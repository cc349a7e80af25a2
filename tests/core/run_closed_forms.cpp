#include "closed_forms.h"
#include "kernels.h"
#include "pairs.h"
#include "statistics.h"

namespace glasswood {

std::vector<int32_t> cells_of(const Inputs& in, int64_t n_rows) {
    std::vector<int32_t> cells(N_FEATURES * n_rows);
    write_cells(in.rows.columns(), in.model.cuts_of_columns(), matrix(cells, n_rows));
    return cells;
}

namespace {

// The interaction of two features: of all cells, of some cells, at points, and as means over blocks.
void run_pair(const Inputs& in, const Leaves& leaves, int a, int b, Digests& out) {
    const Model& m = in.model;
    const std::string pair = std::to_string(a) + " and " + std::to_string(b);
    const PairLists found = find_pair(leaves, a, b);
    const int64_t n_leaves = int64_t(found.leaf.size());
    Flags missing(found.missing.size() + 1), unseen(found.unseen.size() + 1);  // one more, since views of none have no address
    for (std::size_t i = 0; i < found.missing.size(); ++i) missing[i] = found.missing[i], unseen[i] = found.unseen[i];
    std::vector<double> value;
    for (const int64_t leaf : found.leaf)
        for (int k = 0; k < N_OUTPUTS; ++k) value.push_back(leaves.value[leaf][k]);
    const std::vector<int32_t> output(found.leaf.size(), 0);
    const PairLeaves held{{m.n_cells[a], m.n_cells[b]}, {m.n_codes[a], m.n_codes[b]}, matrix(found.low, 2), matrix(found.high, 2),
                          {&missing[0], n_leaves, 2}, {&unseen[0], n_leaves, 2}, found.sets, matrix(found.terms, 4),
                          matrix(std::as_const(value), N_OUTPUTS), output};
    std::vector<int64_t> rows, columns;
    for (int64_t x = 0; x < m.n_cells[a]; ++x) rows.push_back(x);
    for (int64_t y = 0; y < m.n_cells[b]; ++y) columns.push_back(y);
    std::vector<double> surface(rows.size() * columns.size() * N_OUTPUTS);
    Sweep(held, N_OUTPUTS, m.n_cells[a], m.n_cells[b]).write_grid(rows, columns, 0.25, surface.data());
    out.add("surface of " + pair, surface);

    const auto height = [&](int64_t x, int64_t y) { return surface.data() + (x * m.n_cells[b] + y) * N_OUTPUTS; };
    std::vector<int64_t> some_rows, some_columns;
    for (int64_t x = 1; x < m.n_cells[a]; x += 3)
        for (int64_t y = x % 2; y < m.n_cells[b]; y += 2) some_rows.push_back(x), some_columns.push_back(y);
    std::vector<double> points(some_rows.size() * N_OUTPUTS);
    Sweep(held, N_OUTPUTS, m.n_cells[a], m.n_cells[b]).write_points(some_rows, some_columns, 0.25, points.data());
    for (std::size_t i = 0; i < some_rows.size(); ++i)
        out.check(std::equal(&points[i * N_OUTPUTS], &points[i * N_OUTPUTS] + N_OUTPUTS, height(some_rows[i], some_columns[i])),
                  "points of the surface of " + pair);

    std::vector<int64_t> rank_a, rank_b, third_rows, every_column;  // every third cell of one feature, all but the last of the other
    for (int64_t x = 0; x <= m.n_cells[a]; ++x) rank_a.push_back((x + 2) / 3);
    for (int64_t y = 0; y <= m.n_cells[b]; ++y) rank_b.push_back(std::min(y, m.n_cells[b] - 1));
    for (int64_t row = 0; row < rank_a.back(); ++row) third_rows.push_back(row);
    for (int64_t column = 0; column < rank_b.back(); ++column) every_column.push_back(column);
    std::vector<double> anew(third_rows.size() * every_column.size() * N_OUTPUTS);
    Sweep(held, N_OUTPUTS, rank_a.back(), rank_b.back(), rank_a, rank_b).write_grid(third_rows, every_column, 0.25, anew.data());
    out.add("some cells of " + pair, anew);

    std::vector<double> place_a{0}, place_b{0};  // three blocks, and two
    for (int64_t x = 1; x <= m.n_cells[a]; ++x) place_a.push_back(3 * double(x) / double(m.n_cells[a]));
    for (int64_t y = 1; y <= m.n_cells[b]; ++y) place_b.push_back(2 * double(y) / double(m.n_cells[b]));
    std::vector<double> blocks(4 * 3 * N_OUTPUTS);
    add_blocks(held, place_a, place_b, 3, blocks.data(), N_OUTPUTS);
    out.add("blocks of " + pair, blocks);
}

}  // namespace

void run_closed_forms(const Inputs& in, Digests& out) {
    const Model& m = in.model;
    const std::vector<int64_t> counts = counts_of(in, in.pairs), offset = m.leaf_offset(in.pairs);
    const std::vector<double> shares(counts.begin(), counts.end());
    const std::vector<int32_t> output(m.n_leaves(), 0);
    const Leaves leaves{m.boxes(), m.value_of(), output, offset, {nullptr, counts.data(), nullptr}, in.pairs.plus_of(), in.pairs.subsets().has};
    const std::vector<int32_t> small(counts.begin(), counts.end());

    std::vector<int64_t> place;
    for (int f = 0; f < N_FEATURES; ++f) place.push_back(m.player[f] == 6 ? -1 : m.cell_first[f] + f);
    std::vector<double> curves((m.cell_first.back() + N_FEATURES) * N_OUTPUTS);
    add_curves(leaves, place, matrix(curves, N_OUTPUTS));
    out.add("curves", curves);
    for (const Counts& others : {Counts{small.data(), nullptr, nullptr}, Counts{nullptr, nullptr, shares.data()}}) {
        Leaves of_others = leaves;
        of_others.counts = others;
        std::vector<double> again(curves.size());
        add_curves(of_others, place, matrix(again, N_OUTPUTS));
        out.check(again == curves, "counts of another type give the same curves");
    }

    for (const auto& [a, b] : {std::pair(0, 1), std::pair(2, CATEGORIES), std::pair(6, 8)}) run_pair(in, leaves, a, b, out);

    Flags on_paths(N_FEATURES * N_FEATURES);
    pairs_on_paths(m.boxes(), {&on_paths[0], N_FEATURES, N_FEATURES});
    out.add("pairs on paths", view(on_paths));

    constexpr int64_t N_POINTS = 5;
    std::vector<int64_t> grids;  // the last one of each feature is missing
    std::vector<int32_t> pair_number(N_FEATURES * N_FEATURES, -1);
    for (int f = 0; f < N_FEATURES; ++f)
        for (int64_t point = 1; point <= N_POINTS; ++point) grids.push_back(point * m.n_cells[f] / N_POINTS - 1);
    int32_t n_pairs = 0;
    for (int a = 0; a < N_FEATURES; ++a)
        for (int b = a + 1; b < N_FEATURES; ++b)
            if (b != 3) pair_number[a * N_FEATURES + b] = n_pairs++;
    std::vector<double> surfaces(n_pairs * N_POINTS * N_POINTS * N_OUTPUTS);
    add_grids(leaves, 0, m.n_leaves(), matrix(std::as_const(grids), N_POINTS), matrix(std::as_const(pair_number), N_FEATURES), surfaces.data(),
              N_OUTPUTS);
    out.add("grids", surfaces);

    Flags fixed(N_FEATURES);
    fixed[1] = fixed[CATEGORIES] = true;
    std::vector<int32_t> sets(m.n_leaves());
    sets_of_fixed(leaves, view(fixed), sets);
    std::vector<double> points(N_POINTS * N_OUTPUTS);
    add_points(leaves, matrix(std::as_const(grids), N_POINTS), view(fixed), sets, matrix(points, N_OUTPUTS));
    out.add("points", points);
}

void run_statistics(const Inputs& in, Digests& out) {
    constexpr int64_t N_ROWS = 500;
    const std::vector<int32_t> cells = cells_of(in, N_ROWS);
    const std::vector<std::uint16_t> first(cells.begin(), cells.begin() + N_ROWS), second(cells.begin() + N_ROWS, cells.begin() + 2 * N_ROWS);
    std::vector<double> weight(N_ROWS), values(3 * N_ROWS);
    for (int64_t row = 0; row < N_ROWS; ++row) weight[row] = double(in.rows.large_weight[row]) / 977;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = double(in.rows.large_weight[i]) / 7;
    for (const std::span<const double> weights : {std::span<const double>(), std::span<const double>(weight)}) {
        std::vector<double> joint(in.model.n_cells[0] * in.model.n_cells[1]);
        add_joint_rows(first, second, weights, matrix(joint, in.model.n_cells[1]));
        out.add(weights.empty() ? "joint rows" : "joint weights", joint);
    }
    const std::vector<int64_t> one{-1, -1, 0}, other{-1, -1, 1};
    std::vector<double> sums(4 * 3);
    add_moments(matrix(std::as_const(values), N_ROWS), one, other, weight, matrix(sums, 3));
    out.add("moments of pairs", sums);
}

}  // namespace glasswood
