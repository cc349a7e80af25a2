#include "binding.h"
#include "pairs.h"

#include <limits>

namespace glasswood {
namespace {

struct HeldPair : Held<PairLeaves> {
    using Held<PairLeaves>::Held;
    int64_t n_outputs = 0;  // at least, by what leaves add to
};

HeldPair* make_pair_leaves(const Array<const int64_t>& n_cells, const Array<const int64_t>& n_codes, const Array2<const int32_t>& low,
                           const Array2<const int32_t>& high, const Array2<const bool>& missing, const Array2<const bool>& unseen,
                           const Array<const Word>& sets, const Array2<const double>& terms, const Array2<const double>& value,
                           const Array<const int32_t>& output) {
    const std::size_t n_leaves = output.size();
    check_size(n_cells.size(), 2, "n_cells");
    check_size(n_codes.size(), 2, "n_codes");
    const auto check_shape = [&](const auto& array, std::size_t n_columns, const char* name) {
        check_size(array.shape(0), n_leaves, name);
        check_size(array.shape(1), n_columns, name);
    };
    check_shape(low, 2, "low");
    check_shape(high, 2, "high");
    check_shape(missing, 2, "missing");
    check_shape(unseen, 2, "unseen");
    check_shape(terms, 4, "terms");
    check_size(value.shape(0), n_leaves, "value");
    check(n_leaves < std::size_t(std::numeric_limits<int32_t>::max()), "there are too many leaves");
    check_range(span_of(output), 0, std::numeric_limits<int32_t>::max(), "output");
    const PairLeaves view{{n_cells.data()[0], n_cells.data()[1]}, {n_codes.data()[0], n_codes.data()[1]}, matrix_of(low), matrix_of(high),
                          matrix_of(missing), matrix_of(unseen), span_of(sets), matrix_of(terms), matrix_of(value), span_of(output)};
    for (int side = 0; side < 2; ++side) {
        const int64_t cells = view.n_cells[side], codes = view.n_codes[side];
        check(codes >= 0 && cells >= 2 && cells < std::numeric_limits<int32_t>::max(), "a feature has at least two cells, and not too many");
        check(codes == 0 || cells == codes + 2, "a feature of categories has a cell for each, and two");
        for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
            check(view.low[leaf][side] >= 0, "a box begins before the cells of its feature");
            if (codes > 0) check_category_set(view.low[leaf][side], codes, sets.size(), "a set of categories");
            else check(view.high[leaf][side] <= cells - 2, "a box ends behind the cells of its feature");
        }
    }
    auto* held = new HeldPair(view, n_cells, n_codes, low, high, missing, unseen, sets, terms, value, output);
    for (const int32_t first : span_of(output)) held->n_outputs = std::max(held->n_outputs, int64_t(first) + view.value.n_columns);
    return held;
}

// How many cells that are asked for come before each cell, and before the end.
void check_ranks(std::span<const int64_t> rank, int64_t n_cells, int64_t end, const char* name) {
    check_size(rank.size(), std::size_t(n_cells + 1), name);
    check_starts(rank, end, name);
}

Sweep* make_sweep(const HeldPair& leaves, int64_t n_outputs, int64_t n_rows, int64_t n_columns, const Array<const int64_t>& rank_a,
                  const Array<const int64_t>& rank_b) {
    check(n_outputs >= leaves.n_outputs, "leaves add to more outputs than there are");
    check(n_rows >= 1 && n_rows <= leaves.view.n_cells[0] && n_columns >= 1 && n_columns <= leaves.view.n_cells[1],
          "the features have no such cells");
    check(n_columns <= std::numeric_limits<int32_t>::max() / n_outputs, "too many columns and outputs");
    if (rank_a.size() > 0 || rank_b.size() > 0) {
        check_ranks(span_of(rank_a), leaves.view.n_cells[0], n_rows, "rank_a");
        check_ranks(span_of(rank_b), leaves.view.n_cells[1], n_columns, "rank_b");
    }
    const nb::gil_scoped_release released;
    return new Sweep(leaves.view, n_outputs, n_rows, n_columns, span_of(rank_a), span_of(rank_b));
}

void check_rows(const Sweep& sweep, std::span<const int64_t> rows) {
    check_range(rows, sweep.row(), sweep.n_rows(), "rows");
    check(std::is_sorted(rows.begin(), rows.end()), "rows are not in order");
}

void bound_write_grid(Sweep& sweep, const Array<const int64_t>& rows, const Array<const int64_t>& columns, double unit,
                      const Array3<double>& out) {
    check_rows(sweep, span_of(rows));
    check_range(span_of(columns), 0, sweep.n_columns(), "columns");
    check(std::is_sorted(columns.data(), columns.data() + columns.size()), "columns are not in order");
    check_size(out.shape(0), rows.size(), "out");
    check_size(out.shape(1), columns.size(), "a line of out");
    check_size(out.shape(2), std::size_t(sweep.n_outputs()), "a place of out");
    sweep.write_grid(span_of(rows), span_of(columns), unit, out.data());
}

void bound_write_points(Sweep& sweep, const Array<const int64_t>& rows, const Array<const int64_t>& columns, double unit,
                        const Array2<double>& out) {
    check_rows(sweep, span_of(rows));
    check_size(columns.size(), rows.size(), "columns");
    check_range(span_of(columns), 0, sweep.n_columns(), "columns");
    for (std::size_t i = 1; i < rows.size(); ++i)
        check(rows.data()[i - 1] < rows.data()[i] || columns.data()[i - 1] <= columns.data()[i], "columns are not in order");
    check_size(out.shape(0), rows.size(), "out");
    check_size(out.shape(1), std::size_t(sweep.n_outputs()), "a place of out");
    sweep.write_points(span_of(rows), span_of(columns), unit, out.data());
}

// Where cells begin and end on an axis of blocks.
void check_places(std::span<const double> place, int64_t n_cells, int64_t n_blocks, const char* name) {
    check_size(place.size(), std::size_t(n_cells + 1), name);
    for (std::size_t i = 0; i < place.size(); ++i)
        check(place[i] >= 0 && place[i] <= double(n_blocks) && (i == 0 || place[i - 1] <= place[i]), "a cell is not on the axis of blocks");
}

void bound_add_blocks(const HeldPair& leaves, const Array<const double>& place_a, const Array<const double>& place_b,
                      const Array3<double>& steps) {
    check(steps.shape(0) >= 1 && steps.shape(1) >= 1, "there are no steps");
    check_places(span_of(place_a), leaves.view.n_cells[0], int64_t(steps.shape(0)) - 1, "place_a");
    check_places(span_of(place_b), leaves.view.n_cells[1], int64_t(steps.shape(1)) - 1, "place_b");
    check(int64_t(steps.shape(2)) >= leaves.n_outputs, "leaves add to more outputs than there are");
    add_blocks(leaves.view, span_of(place_a), span_of(place_b), int64_t(steps.shape(1)), steps.data(), int64_t(steps.shape(2)));
}

}  // namespace

void bind_pairs(nb::module_& m) {
    nb::class_<HeldPair>(m, "PairLeaves")
        .def(nb::new_(&make_pair_leaves), arg("n_cells"), arg("n_codes"), arg("low"), arg("high"), arg("missing"), arg("unseen"),
             arg("sets"), arg("terms"), arg("value"), arg("output"));
    nb::class_<Sweep>(m, "Sweep")
        .def(nb::new_(&make_sweep), nb::arg("leaves"), nb::arg("n_outputs"), nb::arg("n_rows"), nb::arg("n_columns"),
             arg("rank_a"), arg("rank_b"), nb::keep_alive<0, 1>())
        .def("write_grid", &bound_write_grid, arg("rows"), arg("columns"), nb::arg("unit"), arg("out"), without_gil())
        .def("write_points", &bound_write_points, arg("rows"), arg("columns"), nb::arg("unit"), arg("out"), without_gil());
    m.def("add_blocks", &bound_add_blocks, nb::arg("leaves"), arg("place_a"), arg("place_b"), arg("steps"), without_gil());
}

}  // namespace glasswood
