#include "bind_rows.h"
#include "binding.h"
#include "bitsets.h"
#include "digests.h"
#include "ends.h"
#include "lists.h"
#include "row_cells.h"
#include "subsets.h"

namespace glasswood {
namespace {

using Float32 = nb::ndarray<const float, nb::ndim<1>, nb::device::cpu>;
using Float64 = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>;

struct Ends : ArraysOfGroups {
    std::vector<int64_t*> least, greatest, whole;
    std::size_t n_columns = 0;

    Ends(const nb::list& given_least, const nb::list& given_greatest, const nb::list& given_whole) {
        n_columns = read(given_least, least, "least");
        check_size(read(given_greatest, greatest, "greatest"), n_columns, "greatest");
        check_size(read(given_whole, whole, "whole"), n_columns, "whole");
        check(least.size() == greatest.size() && least.size() == whole.size(), "every group has both ends, and whether numbers are whole");
    }
};

void check_lines(const Array2<Word>& digests, int64_t n_rows) {
    check_size(digests.shape(0), std::size_t((n_rows + DIGEST_ROWS - 1) / DIGEST_ROWS), "digests");
}

HeldConditions* make_conditions(const Array<const int64_t>& first, const Array<const int64_t>& n_codes, const Array<const double>& cut,
                                const Array<const float>& cut_single, const Array<const int64_t>& category_set,
                                const Array<const bool>& missing_left, const Array<const bool>& unseen_left,
                                const Array<const Word>& words, const Array<const int64_t>& noted,
                                const Array<const int64_t>& noted_cell) {
    const std::size_t n = cut.size();
    check(first.size() >= 1, "first has an entry more than there are columns");
    check_starts(span_of(first), int64_t(n), "first");
    check_size(n_codes.size(), first.size() - 1, "n_codes");
    check_size(cut_single.size(), n, "cut_single");
    check_size(category_set.size(), n, "category_set");
    check_size(missing_left.size(), n, "missing_left");
    check_size(unseen_left.size(), n, "unseen_left");
    check_size(noted_cell.size(), noted.size(), "noted_cell");
    check_range(span_of(noted), 0, int64_t(n), "noted");
    for (std::size_t column = 0; column + 1 < first.size(); ++column)
        for (int64_t i = first.data()[column]; i < first.data()[column + 1]; ++i)
            check_category_set(category_set.data()[i], n_codes.data()[column], words.size(), "a set of categories");
    const Conditions view{span_of(first), span_of(n_codes), span_of(cut), span_of(cut_single), span_of(category_set),
                          span_of(missing_left), span_of(unseen_left), span_of(words), span_of(noted), span_of(noted_cell)};
    return new HeldConditions(view, first, n_codes, cut, cut_single, category_set, missing_left, unseen_left, words, noted, noted_cell);
}

HeldSubsets* make_subsets(const Array<const int64_t>& size, const Array<const int32_t>& rest, const Array2<const bool>& has) {
    check(size.size() >= 1, "size has an entry more than there are players");
    check_starts(span_of(size), int64_t(rest.size()), "size");
    check_size(std::size_t(size.data()[size.size() - 1]), rest.size(), "rest");
    check_range(span_of(rest), 0, int64_t(rest.size()), "rest");
    check_size(has.shape(1), rest.size(), "a line of has");
    check(has.shape(0) + 1 >= size.size(), "has has a line for each player");
    return new HeldSubsets(Subsets{span_of(size), span_of(rest), matrix_of(has)}, size, rest, has);
}

void check_trees(std::span<const int32_t> left, std::span<const int32_t> right, std::span<const int32_t> slot,
                 std::span<const int64_t> leaf_offset, int64_t depth) {
    check(leaf_offset.size() >= 1, "leaf_offset has an entry more than there are leaves");
    check(depth >= 0, "depth is negative");
    const std::size_t n_nodes = left.size(), n_leaves = leaf_offset.size() - 1;
    check_size(right.size(), n_nodes, "right");
    check_size(slot.size(), n_nodes, "slot");
    check_children(left, n_nodes, n_leaves, "left");
    check_children(right, n_nodes, n_leaves, "right");
    check_starts(leaf_offset, std::numeric_limits<int64_t>::max() - 1, "leaf_offset");
}

HeldBitsetTrees* make_bitset_trees(const Array<const int32_t>& root, const Array<const int32_t>& left, const Array<const int32_t>& right,
                                   const Array<const int32_t>& slot, const Array<const int32_t>& condition,
                                   const Array<const int64_t>& leaf_offset, int64_t depth, const HeldConditions& conditions,
                                   const HeldSubsets& subsets) {
    check_trees(span_of(left), span_of(right), span_of(slot), span_of(leaf_offset), depth);
    check_size(condition.size(), left.size(), "condition");
    check_children(span_of(root), left.size(), leaf_offset.size() - 1, "root");
    const int64_t n_conditions = int64_t(conditions.view.cut.size());
    check_walk(span_of(root), span_of(left), span_of(right), span_of(slot), span_of(leaf_offset), subsets.view.size, depth,
               [&](int32_t node) {
                   check(condition.data()[node] >= 0 && condition.data()[node] < n_conditions, "condition is none of the conditions");
               });
    const BitsetTrees view{span_of(root),      span_of(left),        span_of(right), span_of(slot),
                           span_of(condition), span_of(leaf_offset), depth,          n_conditions};
    return new HeldBitsetTrees(view, root, left, right, slot, condition, leaf_offset);
}

HeldListTrees* make_list_trees(const Array<const int32_t>& left, const Array<const int32_t>& right, const Array<const int32_t>& slot,
                               const Array<const int32_t>& column, const Array<const int32_t>& rank,
                               const Array<const int32_t>& category_set, const Array<const bool>& missing_left,
                               const Array<const bool>& unseen_left, const Array<const Word>& words,
                               const Array<const int64_t>& leaf_offset, int64_t depth) {
    const std::size_t n_nodes = left.size();
    check_trees(span_of(left), span_of(right), span_of(slot), span_of(leaf_offset), depth);
    check_size(column.size(), n_nodes, "column");
    check_size(rank.size(), n_nodes, "rank");
    check_size(category_set.size(), n_nodes, "category_set");
    check_size(missing_left.size(), n_nodes, "missing_left");
    check_size(unseen_left.size(), n_nodes, "unseen_left");
    const ListTrees view{span_of(left), span_of(right), span_of(slot), span_of(column), span_of(rank), span_of(category_set),
                         span_of(missing_left), span_of(unseen_left), span_of(words), span_of(leaf_offset), depth};
    return new HeldListTrees(view, left, right, slot, column, rank, category_set, missing_left, unseen_left, words, leaf_offset);
}

HeldCuts* make_cuts(const Array<const double>& cut, const Array<const int64_t>& first, const Array<const int64_t>& n_codes,
                    const Array<const int64_t>& n_cells) {
    check_size(n_codes.size(), first.size(), "n_codes");
    check_size(n_cells.size(), first.size(), "n_cells");
    for (std::size_t c = 0; c < first.size(); ++c) {
        const int64_t codes = n_codes.data()[c], cells = n_cells.data()[c], start = first.data()[c];
        check(codes >= 0 && cells >= 2, "a column has at least two cells");
        if (codes > 0) check(cells == codes + 2, "a column of categories has a cell for each, and two");
        else check(start >= 0 && start + cells - 2 <= int64_t(cut.size()), "the cuts of a column end behind the cuts");
    }
    return new HeldCuts(CutsOfColumns{span_of(cut), span_of(first), span_of(n_codes), span_of(n_cells)}, cut, first, n_codes, n_cells);
}

void bound_count_with_bitsets(const Columns& columns, const Array<const int64_t>& which, const Array<const int64_t>& bounds,
                              const HeldConditions& conditions, const HeldBitsetTrees& trees, const HeldSubsets& subsets,
                              const Array<const int64_t>& weight, const CountTargets& homes, const Array<const int64_t>& place,
                              const Array2<Word>& digests) {
    const std::vector<Column> picked = columns.pick(span_of(which));
    check_size(picked.size() + 1, conditions.view.first.size(), "which, and one,");
    check_rows(columns, span_of(bounds), span_of(weight), homes);
    check_size(conditions.view.cut.size(), std::size_t(trees.view.n_conditions), "conditions");
    check_range(conditions.view.noted_cell, 0, int64_t(homes.n_cells), "noted_cell");
    check_size(homes.n_counts, std::size_t(trees.view.leaf_offset.back()), "counts");
    check_size(place.size(), picked.size(), "place");
    check_range(span_of(place), -1, int64_t(digests.shape(1)), "place");
    if (std::any_of(place.data(), place.data() + place.size(), [](int64_t at) { return at >= 0; })) {
        check(bounds.data()[0] == 0, "rows that have digests begin with the first one");
        check_lines(digests, columns.n_rows);
    }
    count_with_bitsets(picked, conditions.view, trees.view, subsets.view,
                       Groups{span_of(bounds), homes.counts, homes.cells, span_of(weight)}, ColumnDigests{span_of(place), matrix_of(digests)});
}

void bound_count_categories(const Columns& columns, const Array<const int64_t>& which, const Array<const int64_t>& bounds,
                            const Array<const int64_t>& n_codes, const Array<const int64_t>& offset,
                            const Array<const int64_t>& weight, const CountTargets& homes) {
    const std::vector<Column> picked = columns.pick(span_of(which));
    check_rows(columns, span_of(bounds), span_of(weight), homes);
    check_size(n_codes.size(), picked.size(), "n_codes");
    check_size(offset.size(), picked.size(), "offset");
    for (std::size_t c = 0; c < picked.size(); ++c)
        check(offset.data()[c] >= 0 && n_codes.data()[c] >= 0 && offset.data()[c] + n_codes.data()[c] + 2 <= int64_t(homes.n_cells),
              "the cells of a column end behind the cells");
    count_categories(picked, CategoryCells{span_of(n_codes), span_of(offset)},
                     Groups{span_of(bounds), homes.counts, homes.cells, span_of(weight)});
}

void bound_add_ends(const Columns& columns, const Array<const int64_t>& which, const Array<const int64_t>& bounds, const Ends& ends) {
    const std::vector<Column> picked = columns.pick(span_of(which));
    check_bounds(columns, span_of(bounds), ends.least.size());
    check_size(picked.size(), ends.n_columns, "which");
    add_ends(picked, span_of(bounds), EndsOfGroups{ends.least, ends.greatest, ends.whole});
}

void check_block(const Columns& columns, int64_t start, int64_t n_rows, std::span<const int64_t> weight, const Array2<const int32_t>& ranks) {
    check(n_rows >= 0 && n_rows <= LIST_ROWS && int64_t(ranks.shape(1)) >= n_rows, "more rows than fit in ranks");
    check(start >= 0 && start + n_rows <= columns.n_rows, "more rows than the columns have");
    if (!weight.empty()) check_size(weight.size(), std::size_t(n_rows), "weight");
}

void bound_rank_rows(const Columns& columns, const Array<const int64_t>& which, const HeldCuts& cuts, const Array<const int64_t>& offset,
                     int64_t start, int64_t n_rows, const Array<const int64_t>& weight, const Array2<int32_t>& ranks,
                     const Array<int64_t>& cells) {
    const std::vector<Column> picked = columns.pick(span_of(which));
    check_size(picked.size(), cuts.view.first.size(), "which");
    check_size(offset.size(), picked.size(), "offset");
    check_size(ranks.shape(0), picked.size(), "ranks");
    check_block(columns, start, n_rows, span_of(weight), Array2<const int32_t>(ranks));
    for (std::size_t c = 0; c < picked.size(); ++c)
        check(offset.data()[c] >= 0 && offset.data()[c] + cuts.view.n_cells[c] <= int64_t(cells.size()),
              "the cells of a column end behind the cells");
    rank_rows(picked, cuts.view, span_of(offset), start, n_rows, span_of(weight), matrix_of(ranks), span_of(cells));
}

void bound_count_with_lists(const Array<const int32_t>& root, const HeldListTrees& trees, int64_t n_rows, const Array2<const int32_t>& ranks,
                            const Array2<const int32_t>& following, const HeldSubsets& subsets, const Array<const int64_t>& weight,
                            const Array<int64_t>& counts) {
    check_children(span_of(root), trees.view.left.size(), trees.view.leaf_offset.size() - 1, "root");
    check_following(matrix_of(following), subsets.view.size);
    const ListTrees& t = trees.view;
    check_walk(span_of(root), t.left, t.right, t.slot, t.leaf_offset, subsets.view.size, t.depth, [&](int32_t node) {
        check(t.column[node] >= 0 && t.column[node] < int64_t(ranks.shape(0)), "column is none of the columns");
    });
    check_size(counts.size(), std::size_t(trees.view.leaf_offset.back()), "counts");
    check(n_rows >= 0 && n_rows <= LIST_ROWS && int64_t(ranks.shape(1)) >= n_rows, "more rows than fit in ranks");
    if (weight.size() > 0) check_size(weight.size(), std::size_t(n_rows), "weight");
    count_with_lists(span_of(root), trees.view, n_rows, matrix_of(ranks), matrix_of(following), span_of(weight), span_of(counts));
}

void bound_subset_sums(const Array<const int64_t>& leaf_offset, const Array<const int32_t>& n_players, const Array<const int64_t>& size,
                       const Array2<const int32_t>& minus, const Array<int64_t>& counts) {
    check_leaves_of_subsets(span_of(leaf_offset), span_of(n_players), span_of(size), matrix_of(minus), counts.size());
    subset_sums(span_of(leaf_offset), span_of(n_players), span_of(size), matrix_of(minus), span_of(counts));
}

void bound_write_cells(const Columns& columns, const HeldCuts& cuts, const Array2<int32_t>& cells) {
    check_size(columns.columns.size(), cuts.view.first.size(), "columns");
    check_size(cells.shape(0), columns.columns.size(), "cells");
    check_size(cells.shape(1), std::size_t(columns.n_rows), "a line of cells");
    write_cells(columns.columns, cuts.view, matrix_of(cells));
}

// Columns as bits.
struct RawColumns {
    std::vector<RawColumn> columns;
    std::vector<nb::ndarray<>> arrays;
    int64_t n_rows;

    RawColumns(const nb::list& given, int64_t n_rows) : n_rows(n_rows) {
        check(n_rows >= 0, "n_rows is negative");
        for (nb::handle one : given)
            if (!add<std::uint64_t>(one) && !add<std::uint32_t>(one) && !add<std::uint16_t>(one) && !add<std::uint8_t>(one))
                refuse("a column is a one-dimensional array of unsigned integers");
    }

  private:
    template <class Bits>
    bool add(nb::handle one) {
        nb::ndarray<const Bits, nb::ndim<1>, nb::device::cpu> array;
        if (!nb::try_cast(one, array, false)) return false;
        check(int64_t(array.size()) >= n_rows, "a column is too short");
        columns.push_back({reinterpret_cast<const std::byte*>(array.data()), array.stride(0) * int64_t(sizeof(Bits)), int(sizeof(Bits))});
        arrays.emplace_back(array);
        return true;
    }
};

void bound_write_digests(const RawColumns& columns, int64_t first, int64_t last, const Array2<Word>& digests) {
    check(0 <= first && first <= last && last <= columns.n_rows, "rows are from 0 to n_rows");
    check(first % DIGEST_ROWS == 0, "first is not the first row of a block");
    check_lines(digests, last - first);
    check_size(digests.shape(1), columns.columns.size(), "a line of digests");
    std::vector<RawColumn> some = columns.columns;
    for (RawColumn& column : some) column.start += first * column.stride;
    write_digests(some, last - first, matrix_of(digests));
}

}  // namespace

Columns::Columns(const nb::list& given, int64_t n_rows) : n_rows(n_rows) {
    check(n_rows >= 0, "n_rows is negative");
    for (nb::handle one : given) {
        Float32 single;
        Float64 twice;
        if (nb::try_cast(one, twice, false)) add(twice, false);
        else if (nb::try_cast(one, single, false)) add(single, true);
        else refuse("a column is a one-dimensional array of float32 or float64");
    }
}

template <class Given>
void Columns::add(const Given& array, bool is_single) {
    check(int64_t(array.size()) >= n_rows, "a column is too short");
    columns.push_back({reinterpret_cast<const std::byte*>(array.data()), array.stride(0) * (is_single ? 4 : 8), is_single});
    arrays.emplace_back(array);
}

std::vector<Column> Columns::pick(std::span<const int64_t> numbers) const {
    check_range(numbers, 0, int64_t(columns.size()), "which");
    std::vector<Column> picked;
    for (const int64_t number : numbers) picked.push_back(columns[number]);
    return picked;
}

void check_leaves_of_subsets(std::span<const int64_t> leaf_offset, std::span<const int32_t> n_players, std::span<const int64_t> size,
                             Matrix<const int32_t> minus, std::size_t n_counts) {
    check(leaf_offset.size() >= n_players.size(), "leaf_offset has an entry for each leaf");
    check(size.size() >= 1 && minus.n_rows + 1 >= int64_t(size.size()) && minus.n_columns == size.back(), "minus does not fit size");
    check_range(n_players, 0, int64_t(size.size()), "n_players");
    for (int64_t player = 0; player < minus.n_rows; ++player)
        for (int64_t i = 0; i < minus.n_columns; ++i) check(minus[player][i] < std::max<int64_t>(i, 0) || minus[player][i] < 0, "minus leads to a later set");
    for (std::size_t leaf = 0; leaf < n_players.size(); ++leaf)
        check(leaf_offset[leaf] >= 0 && leaf_offset[leaf] + size[n_players[leaf]] <= int64_t(n_counts), "a leaf's counts end behind the counts");
}

void bind_counting(nb::module_& m) {
    nb::class_<Columns>(m, "Columns").def(nb::init<const nb::list&, int64_t>(), nb::arg("arrays"), nb::arg("n_rows"));
    nb::class_<CountTargets>(m, "CountTargets").def(nb::init<const nb::list&, const nb::list&>(), nb::arg("counts"), nb::arg("cells"));
    nb::class_<Ends>(m, "Ends")
        .def(nb::init<const nb::list&, const nb::list&, const nb::list&>(), nb::arg("least"), nb::arg("greatest"), nb::arg("whole"));
    nb::class_<HeldSubsets>(m, "Subsets").def(nb::new_(&make_subsets), arg("size"), arg("rest"), arg("has"));
    nb::class_<HeldConditions>(m, "Conditions")
        .def(nb::new_(&make_conditions), arg("first"), arg("n_codes"), arg("cut"), arg("cut_single"), arg("category_set"),
             arg("missing_left"), arg("unseen_left"), arg("words"), arg("noted"), arg("noted_cell"));
    nb::class_<HeldBitsetTrees>(m, "BitsetTrees")
        .def(nb::new_(&make_bitset_trees), arg("root"), arg("left"), arg("right"), arg("slot"), arg("condition"), arg("leaf_offset"),
             nb::arg("depth"), nb::arg("conditions"), nb::arg("subsets"));
    nb::class_<HeldListTrees>(m, "ListTrees")
        .def(nb::new_(&make_list_trees), arg("left"), arg("right"), arg("slot"), arg("column"), arg("rank"), arg("category_set"),
             arg("missing_left"), arg("unseen_left"), arg("words"), arg("leaf_offset"), nb::arg("depth"));
    nb::class_<HeldCuts>(m, "CutsOfColumns").def(nb::new_(&make_cuts), arg("cut"), arg("first"), arg("n_codes"), arg("n_cells"));
    nb::class_<RawColumns>(m, "RawColumns").def(nb::init<const nb::list&, int64_t>(), nb::arg("arrays"), nb::arg("n_rows"));
    m.def("write_digests", &bound_write_digests, nb::arg("columns"), nb::arg("first"), nb::arg("last"), arg("digests"), without_gil());
    m.def("count_with_bitsets", &bound_count_with_bitsets, nb::arg("columns"), arg("which"), arg("bounds"), nb::arg("conditions"),
          nb::arg("trees"), nb::arg("subsets"), arg("weight"), nb::arg("homes"), arg("place"), arg("digests"), without_gil());
    m.def("count_categories", &bound_count_categories, nb::arg("columns"), arg("which"), arg("bounds"), arg("n_codes"), arg("offset"),
          arg("weight"), nb::arg("homes"), without_gil());
    m.def("add_ends", &bound_add_ends, nb::arg("columns"), arg("which"), arg("bounds"), nb::arg("ends"), without_gil());
    m.def("rank_rows", &bound_rank_rows, nb::arg("columns"), arg("which"), nb::arg("cuts"), arg("offset"), nb::arg("start"),
          nb::arg("n_rows"), arg("weight"), arg("ranks"), arg("cells"), without_gil());
    m.def("count_with_lists", &bound_count_with_lists, arg("root"), nb::arg("trees"), nb::arg("n_rows"), arg("ranks"), arg("following"),
          nb::arg("subsets"), arg("weight"), arg("counts"), without_gil());
    m.def("subset_sums", &bound_subset_sums, arg("leaf_offset"), arg("n_players"), arg("size"), arg("minus"), arg("counts"), without_gil());
    m.def("write_cells", &bound_write_cells, nb::arg("columns"), nb::arg("cuts"), arg("cells"), without_gil());
    m.attr("LIST_ROWS") = LIST_ROWS;
    m.attr("DIGEST_ROWS") = DIGEST_ROWS;
}

}  // namespace glasswood
