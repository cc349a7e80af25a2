#include "binding.h"
#include "ensemble.h"

namespace glasswood {
namespace {

template <class T>
using StridedArray = nb::ndarray<const T, nb::ndim<1>, nb::device::cpu>;

template <class T>
Strided<T> strided_of(const StridedArray<T>& array) { return {array.data(), int64_t(array.size()), array.stride(0)}; }

using HeldTrees = Held<Trees>;
using HeldSplits = Held<Splits>;
using HeldStackedTrees = Held<StackedTrees>;

bool bound_is_forest(const Array<const int32_t>& root, const Array<const int32_t>& left, const Array<const int32_t>& right,
                     int64_t n_leaves) {
    check_size(right.size(), left.size(), "right");
    check(n_leaves >= 0, "n_leaves is negative");
    return is_forest(Trees{span_of(root), span_of(left), span_of(right), n_leaves});
}

HeldTrees* make_trees(const Array<const int32_t>& root, const Array<const int32_t>& left, const Array<const int32_t>& right,
                      int64_t n_leaves) {
    check(bound_is_forest(root, left, right, n_leaves), "some node or leaf is not in exactly one place of a tree");
    return new HeldTrees(Trees{span_of(root), span_of(left), span_of(right), n_leaves}, root, left, right);
}

HeldSplits* make_splits(const Array<const int32_t>& column, const Array<const double>& cut, const Array<const bool>& missing_left,
                        const Array<const int32_t>& category_set, const Array<const bool>& unseen_left, const Array<const Word>& words,
                        const Array<const int64_t>& n_codes) {
    const std::size_t n_nodes = column.size();
    check_size(cut.size(), n_nodes, "cut");
    check_size(missing_left.size(), n_nodes, "missing_left");
    check_size(category_set.size(), n_nodes, "category_set");
    check_size(unseen_left.size(), n_nodes, "unseen_left");
    check_range(span_of(column), 0, int64_t(n_codes.size()), "column");
    for (std::size_t node = 0; node < n_nodes; ++node)
        check_category_set(category_set.data()[node], n_codes.data()[column.data()[node]], words.size(), "a set of categories");
    const Splits view{span_of(column), span_of(cut), span_of(missing_left), span_of(category_set), span_of(unseen_left),
                      span_of(words), span_of(n_codes)};
    return new HeldSplits(view, column, cut, missing_left, category_set, unseen_left, words, n_codes);
}

template <class T>
void bound_add_leaf_values(const Array2<const double>& rows, const HeldTrees& trees, const HeldSplits& splits,
                           const Array<const int32_t>& tree_output, const Array2<const T>& value, const Array2<T>& scores) {
    check_size(splits.view.column.size(), std::size_t(trees.view.n_nodes()), "splits");
    check_size(rows.shape(1), splits.view.n_codes.size(), "a row");
    check_size(scores.shape(0), rows.shape(0), "scores");
    check_size(tree_output.size(), trees.view.root.size(), "tree_output");
    check_range(span_of(tree_output), -1, int64_t(scores.shape(1)), "tree_output");
    check_size(value.shape(0), std::size_t(trees.view.n_leaves), "value");
    const bool to_all = std::find(tree_output.data(), tree_output.data() + tree_output.size(), -1) != tree_output.data() + tree_output.size();
    check(value.shape(1) >= (to_all ? scores.shape(1) : 1), "a leaf has fewer values than its tree has outputs");
    add_leaf_values<T>(matrix_of(rows), trees.view, splits.view, span_of(tree_output), matrix_of(value), matrix_of(scores));
}

HeldStackedTrees* make_stacked_trees(const Array<int32_t>& feature, const Array<double>& cut, const Array<int32_t>& left,
                                     const Array<int32_t>& right, const Array<bool>& missing_left, const Array<double>& cover,
                                     const Array2<double>& value, const Array<double>& leaf_cover) {
    const std::size_t n_nodes = feature.size();
    check_size(cut.size(), n_nodes, "cut");
    check_size(left.size(), n_nodes, "left");
    check_size(right.size(), n_nodes, "right");
    check_size(missing_left.size(), n_nodes, "missing_left");
    check(cover.size() == n_nodes || cover.size() == 0, "cover has an entry for each node, or none");
    check(leaf_cover.size() == value.shape(0) || leaf_cover.size() == 0, "leaf_cover has an entry for each leaf, or none");
    const StackedTrees view{span_of(feature), span_of(cut), span_of(left), span_of(right), span_of(missing_left), span_of(cover),
                            matrix_of(value), span_of(leaf_cover)};
    return new HeldStackedTrees(view, feature, cut, left, right, missing_left, cover, value, leaf_cover);
}

bool bound_take_apart(const StridedArray<int64_t>& feature, const StridedArray<double>& cut, const StridedArray<int64_t>& left,
                      const StridedArray<int64_t>& right, const StridedArray<std::uint8_t>& missing_left,
                      const nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>& value, const StridedArray<double>& cover,
                      int64_t first_node, int64_t first_leaf, int64_t n_inner, const HeldStackedTrees& out) {
    const std::size_t size = left.size();
    const StackedTrees& into = out.view;
    check_size(feature.size(), size, "feature");
    check_size(cut.size(), size, "cut");
    check_size(right.size(), size, "right");
    check_size(missing_left.size(), size, "missing_left");
    check_size(value.shape(0), size, "value");
    check_size(value.shape(1), std::size_t(into.value.n_columns), "a line of value");
    if (cover.size() > 0) {
        check_size(cover.size(), size, "cover");
        check(into.cover.size() == into.feature.size() && int64_t(into.leaf_cover.size()) == into.value.n_rows, "there is no room for covers");
    }
    check(n_inner >= 0 && n_inner <= int64_t(size), "more inner nodes than nodes");
    check(first_node >= 0 && first_node + n_inner <= int64_t(into.feature.size()), "the tree's nodes end behind the arrays");
    check(first_leaf >= 0 && first_leaf + int64_t(size) - n_inner <= into.value.n_rows, "the tree's leaves end behind the arrays");
    const LibraryTree tree{strided_of(feature), strided_of(cut), strided_of(left), strided_of(right), strided_of(missing_left),
                           value.data(), int64_t(value.shape(1)), value.stride(0), value.stride(1), strided_of(cover)};
    return take_apart(tree, first_node, first_leaf, n_inner, into);
}

}  // namespace

void bind_ensemble(nb::module_& m) {
    nb::class_<HeldTrees>(m, "Trees").def(nb::new_(&make_trees), arg("root"), arg("left"), arg("right"), nb::arg("n_leaves"));
    nb::class_<HeldSplits>(m, "Splits")
        .def(nb::new_(&make_splits), arg("column"), arg("cut"), arg("missing_left"), arg("category_set"), arg("unseen_left"), arg("words"),
             arg("n_codes"));
    nb::class_<HeldStackedTrees>(m, "StackedTrees")
        .def(nb::new_(&make_stacked_trees), arg("feature"), arg("cut"), arg("left"), arg("right"), arg("missing_left"), arg("cover"),
             arg("value"), arg("leaf_cover"));
    m.def("is_forest", &bound_is_forest, arg("root"), arg("left"), arg("right"), nb::arg("n_leaves"), without_gil());
    m.def("add_leaf_values", &bound_add_leaf_values<float>, arg("rows"), nb::arg("trees"), nb::arg("splits"), arg("tree_output"),
          arg("value"), arg("scores"), without_gil());
    m.def("add_leaf_values", &bound_add_leaf_values<double>, arg("rows"), nb::arg("trees"), nb::arg("splits"), arg("tree_output"),
          arg("value"), arg("scores"), without_gil());
    m.def("take_apart", &bound_take_apart, arg("feature"), arg("cut"), arg("left"), arg("right"), arg("missing_left"), arg("value"),
          arg("cover"), nb::arg("first_node"), nb::arg("first_leaf"), nb::arg("n_inner"), nb::arg("out"), without_gil());
}

}  // namespace glasswood
