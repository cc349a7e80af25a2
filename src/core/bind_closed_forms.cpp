#include "binding.h"
#include "closed_forms.h"
#include "pairs.h"
#include "statistics.h"
#include "subsets.h"

namespace glasswood {
namespace {

using HeldBoxes = Held<Boxes>;

struct HeldLeaves : Held<Leaves> {
    using Held<Leaves>::Held;
    bool has_pairs = true;    // whether all sets of two players are counted
    std::size_t n_outputs = 0;  // at least, by what leaves add to
};

// Sets of the first u players with one of these added are sets of the first u players.
void check_plus(Matrix<const int32_t> plus, std::span<const int64_t> size) {
    check(size.size() >= 1 && plus.n_rows + 1 >= int64_t(size.size()) && plus.n_columns == size.back(), "plus does not fit size");
    check_starts(size, plus.n_columns, "size");
    for (int64_t player = 0; player + 1 < int64_t(size.size()); ++player) {
        check(plus[player][0] >= 0, "sets of one player are not counted");
        std::size_t used = std::size_t(player) + 1;
        for (int64_t i = 0; i < plus.n_columns; ++i) {
            while (i >= size[used]) ++used;
            check(plus[player][i] >= -1 && plus[player][i] < size[used], "plus leads beyond the players of a path");
        }
    }
}

bool counts_pairs(Matrix<const int32_t> plus, int64_t n_players) {
    for (int64_t a = 0; a < n_players; ++a)
        for (int64_t b = 0; b < n_players; ++b)
            if (a != b && plus[b][plus[a][0]] < 0) return false;
    return true;
}

Counts counts_of(const Array<const int32_t>& counts) { return {counts.data(), nullptr, nullptr}; }
Counts counts_of(const Array<const int64_t>& counts) { return {nullptr, counts.data(), nullptr}; }
Counts counts_of(const Array<const double>& shares) { return {nullptr, nullptr, shares.data()}; }

template <class Count>
HeldLeaves* make_leaves(const HeldBoxes& held_boxes, const Array2<const double>& value, const Array<const int32_t>& output,
                        const Array<const int64_t>& offset, const Array<const Count>& counts, const Array<const int32_t>& n_players,
                        const Array<const int64_t>& size, const Array2<const int32_t>& plus, const Array2<const bool>& has) {
    const Boxes& boxes = held_boxes.view;
    const std::size_t n_leaves = std::size_t(boxes.n_leaves());
    check_size(value.shape(0), n_leaves, "value");
    check_size(output.size(), n_leaves, "output");
    check_size(n_players.size(), n_leaves, "n_players");
    check_size(offset.size(), n_leaves + 1, "offset");
    check_starts(span_of(offset), int64_t(counts.size()), "offset");
    check_range(span_of(output), 0, std::numeric_limits<int32_t>::max(), "output");
    check_plus(matrix_of(plus), span_of(size));
    check(has.shape(0) == plus.shape(0) && has.shape(1) == plus.shape(1), "has does not fit plus");
    check_range(span_of(n_players), 0, int64_t(size.size()), "n_players");
    std::size_t n_outputs = 0;
    for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
        const int32_t used = n_players.data()[leaf];
        check(offset.data()[leaf] + size.data()[used] <= offset.data()[leaf + 1], "a leaf has more counts than places");
        for (int64_t box = boxes.first[leaf]; box < boxes.first[leaf + 1]; ++box)
            check(boxes.slot[box] < used, "a box has a slot beyond the players of its leaf");
        n_outputs = std::max(n_outputs, std::size_t(output.data()[leaf]) + value.shape(1));
    }
    const Leaves view{boxes, matrix_of(value), span_of(output), span_of(offset), counts_of(counts), matrix_of(plus), matrix_of(has)};
    auto* leaves = new HeldLeaves(view, value, output, offset, counts, plus, has);
    leaves->arrays.insert(leaves->arrays.end(), held_boxes.arrays.begin(), held_boxes.arrays.end());
    leaves->has_pairs = counts_pairs(view.plus, int64_t(size.size()) - 1);
    leaves->n_outputs = n_outputs;
    return leaves;
}

void check_some_leaves(const HeldLeaves& leaves, int64_t first_leaf, int64_t last_leaf) {
    check(first_leaf >= 0 && first_leaf <= last_leaf && last_leaf <= leaves.view.boxes.n_leaves(), "there are no such leaves");
}

void bound_add_curves(const HeldLeaves& leaves, const Array<const int64_t>& place, const Array2<double>& steps) {
    const Boxes& boxes = leaves.view.boxes;
    check_size(place.size(), boxes.n_cells.size(), "place");
    for (std::size_t f = 0; f < place.size(); ++f)
        check(place.data()[f] < 0 || place.data()[f] + boxes.n_cells[f] + 1 <= int64_t(steps.shape(0)), "a curve ends behind the steps");
    check(steps.shape(1) >= leaves.n_outputs, "leaves add to more outputs than there are");
    add_curves(leaves.view, span_of(place), matrix_of(steps));
}

nb::tuple bound_find_pair(const HeldLeaves& leaves, int64_t a, int64_t b) {
    const int64_t n_features = int64_t(leaves.view.boxes.n_cells.size());
    check(a >= 0 && a < n_features && b >= 0 && b < n_features && a != b, "a and b are not two features");
    check(leaves.has_pairs, "sets of two players are not counted");
    PairLists found;
    {
        const nb::gil_scoped_release released;
        found = find_pair(leaves.view, int32_t(a), int32_t(b));
    }
    return nb::make_tuple(numpy_of(std::move(found.leaf)), numpy_of(std::move(found.low)), numpy_of(std::move(found.high)),
                          numpy_of(std::move(found.missing)), numpy_of(std::move(found.unseen)), numpy_of(std::move(found.sets)),
                          numpy_of(std::move(found.terms)));
}

void bound_pairs_on_paths(const HeldBoxes& boxes, const Array2<bool>& found) {
    check_size(found.shape(0), boxes.view.n_cells.size(), "found");
    check_size(found.shape(1), boxes.view.n_cells.size(), "a line of found");
    pairs_on_paths(boxes.view, matrix_of(found));
}

// The cells of each feature, one line each, are among those that it has.
void check_cells(const Boxes& boxes, Matrix<const int64_t> cells) {
    check_size(std::size_t(cells.n_rows), boxes.n_cells.size(), "cells");
    for (int64_t f = 0; f < cells.n_rows; ++f)
        check_range(std::span<const int64_t>(cells[f], std::size_t(cells.n_columns)), 0, boxes.n_cells[f], "cells of a feature");
}

void bound_add_grids(const HeldLeaves& leaves, int64_t first_leaf, int64_t last_leaf, const Array2<const int64_t>& grids,
                     const Array2<const int32_t>& pair_number, const Array4<double>& out) {
    const std::size_t n_features = leaves.view.boxes.n_cells.size();
    check_some_leaves(leaves, first_leaf, last_leaf);
    check_cells(leaves.view.boxes, matrix_of(grids));
    check_size(pair_number.shape(0), n_features, "pair_number");
    check_size(pair_number.shape(1), n_features, "a line of pair_number");
    check_range(std::span<const int32_t>(pair_number.data(), pair_number.size()), std::numeric_limits<int32_t>::min(),
                int64_t(out.shape(0)), "pair_number");
    check_size(out.shape(1), grids.shape(1), "a line of out");
    check_size(out.shape(2), grids.shape(1), "a column of out");
    check(out.shape(3) >= leaves.n_outputs, "leaves add to more outputs than there are");
    check(leaves.has_pairs, "sets of two players are not counted");
    add_grids(leaves.view, first_leaf, last_leaf, matrix_of(grids), matrix_of(pair_number), out.data(), int64_t(out.shape(3)));
}

void bound_add_points(const HeldLeaves& leaves, const Array2<const int64_t>& points, const Array<const bool>& fixed,
                      const Array2<double>& out) {
    check_cells(leaves.view.boxes, matrix_of(points));
    check_size(fixed.size(), leaves.view.boxes.n_cells.size(), "fixed");
    check_size(out.shape(0), points.shape(1), "out");
    check(out.shape(1) >= leaves.n_outputs, "leaves add to more outputs than there are");
    std::vector<int32_t> sets(std::size_t(leaves.view.boxes.n_leaves()));
    sets_of_fixed(leaves.view, span_of(fixed), sets);
    check_range(std::span<const int32_t>(sets), 0, leaves.view.plus.n_columns, "the numbers of the sets of fixed players");
    add_points(leaves.view, matrix_of(points), span_of(fixed), sets, matrix_of(out));
}

void bound_subset_differences(const Array<const int64_t>& leaf_offset, const Array<const int32_t>& n_players,
                              const Array<const int64_t>& size, const Array2<const int32_t>& minus, const Array<double>& counts) {
    check_leaves_of_subsets(span_of(leaf_offset), span_of(n_players), span_of(size), matrix_of(minus), counts.size());
    subset_differences(span_of(leaf_offset), span_of(n_players), span_of(size), matrix_of(minus), span_of(counts));
}

void bound_add_joint_rows(const Array<const std::uint16_t>& first, const Array<const std::uint16_t>& second,
                          const Array<const double>& weight, const Array2<double>& out) {
    check_size(second.size(), first.size(), "second");
    if (weight.size() > 0) check_size(weight.size(), first.size(), "weight");
    check_range(span_of(first), 0, int64_t(out.shape(0)), "first");
    check_range(span_of(second), 0, int64_t(out.shape(1)), "second");
    add_joint_rows(span_of(first), span_of(second), span_of(weight), matrix_of(out));
}

void bound_add_moments(const Array2<const double>& values, const Array<const int64_t>& first, const Array<const int64_t>& second,
                       const Array<const double>& weight, const Array2<double>& sums) {
    const std::size_t n_groups = values.shape(0);
    check_size(first.size(), n_groups, "first");
    check_size(second.size(), n_groups, "second");
    check_range(span_of(first), -1, int64_t(n_groups), "first");
    for (std::size_t group = 0; group < n_groups; ++group)
        check(first.data()[group] < 0 || (second.data()[group] >= 0 && second.data()[group] < int64_t(n_groups)), "second is no group");
    check_size(weight.size(), values.shape(1), "weight");
    check(sums.shape(0) == 4 && sums.shape(1) == n_groups, "sums has four lines, with an entry for each group");
    add_moments(matrix_of(values), span_of(first), span_of(second), span_of(weight), matrix_of(sums));
}

}  // namespace

void bind_closed_forms(nb::module_& m) {
    nb::class_<HeldLeaves> leaves(m, "Leaves");
    const auto def_leaves = [&](auto make) {
        leaves.def(nb::new_(make), nb::arg("boxes"), arg("value"), arg("output"), arg("offset"), arg("counts"), arg("n_players"),
                   arg("size"), arg("plus"), arg("has"));
    };
    def_leaves(&make_leaves<int32_t>);
    def_leaves(&make_leaves<int64_t>);
    def_leaves(&make_leaves<double>);
    m.def("add_curves", &bound_add_curves, nb::arg("leaves"), arg("place"), arg("steps"), without_gil());
    m.def("find_pair", &bound_find_pair, nb::arg("leaves"), nb::arg("a"), nb::arg("b"));
    m.def("pairs_on_paths", &bound_pairs_on_paths, nb::arg("boxes"), arg("found"), without_gil());
    m.def("add_grids", &bound_add_grids, nb::arg("leaves"), nb::arg("first_leaf"), nb::arg("last_leaf"), arg("grids"), arg("pair_number"),
          arg("out"), without_gil());
    m.def("add_points", &bound_add_points, nb::arg("leaves"), arg("points"), arg("fixed"), arg("out"), without_gil());
    m.def("subset_differences", &bound_subset_differences, arg("leaf_offset"), arg("n_players"), arg("size"), arg("minus"), arg("counts"),
          without_gil());
    m.def("add_joint_rows", &bound_add_joint_rows, arg("first"), arg("second"), arg("weight"), arg("out"), without_gil());
    m.def("add_moments", &bound_add_moments, arg("values"), arg("first"), arg("second"), arg("weight"), arg("sums"), without_gil());
}

}  // namespace glasswood
