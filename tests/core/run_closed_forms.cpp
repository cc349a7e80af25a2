#include "closed_forms.h"
#include "kernels.h"
#include "statistics.h"

namespace glasswood {

std::vector<int32_t> cells_of(const Inputs& in, int64_t n_rows) {
    std::vector<int32_t> cells(N_FEATURES * n_rows);
    write_cells(in.rows.columns(), in.model.cuts_of_columns(), matrix(cells, n_rows));
    return cells;
}

void run_closed_forms(const Inputs& in, Digests& out) {
    const Model& m = in.model;
    const std::vector<int64_t> whole = counts_of(in, in.pairs), offset = m.leaf_offset(in.pairs);
    const std::vector<double> counts(whole.begin(), whole.end());
    const std::vector<int32_t> output(m.n_leaves(), 0);
    const Leaves leaves{m.boxes(), m.value_of(), output, offset, counts, in.pairs.plus_of(), in.pairs.subsets().has};

    std::vector<int64_t> place;
    for (int f = 0; f < N_FEATURES; ++f) place.push_back(m.player[f] == 6 ? -1 : m.cell_first[f] + f);
    std::vector<double> curves((m.cell_first.back() + N_FEATURES) * N_OUTPUTS);
    add_curves(leaves, place, matrix(curves, N_OUTPUTS));
    out.add("curves", curves);

    for (const auto& [a, b] : {std::pair(0, 1), std::pair(2, CATEGORIES), std::pair(6, 8)}) {
        std::vector<double> surface((m.n_cells[a] + 1) * (m.n_cells[b] + 1) * N_OUTPUTS);
        add_surface(leaves, 0, m.n_leaves(), a, b, surface.data(), N_OUTPUTS);
        out.add("surface of " + std::to_string(a) + " and " + std::to_string(b), surface);
    }

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
