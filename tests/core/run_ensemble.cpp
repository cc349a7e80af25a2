#include <algorithm>

#include "kernels.h"

namespace glasswood {
namespace {

// The trees of a model as a library keeps them: one entry per node, leaves included, those of a tree one behind the other.
struct Library {
    std::vector<int64_t> feature, left, right;
    std::vector<double> cut, cover, value;
    std::vector<std::uint8_t> missing_left;

    int64_t add(const Model& m, int32_t node) {
        const int64_t place = int64_t(left.size());
        feature.push_back(node < 0 ? -2 : m.feature[node]);
        cut.push_back(node < 0 ? 0 : m.cut[node]);
        cover.push_back(node < 0 ? m.leaf_cover[~node] : m.cover[node]);
        missing_left.push_back(node >= 0 && m.missing_left[node]);
        for (int k = 0; k < N_OUTPUTS; ++k) value.push_back(node < 0 ? m.value_of()[~node][k] : 0);
        left.push_back(-1);
        right.push_back(-1);
        if (node < 0) return place;
        left[place] = add(m, m.left[node]);
        right[place] = add(m, m.right[node]);
        return place;
    }

    LibraryTree tree() const {
        const int64_t n = int64_t(left.size());
        return {{feature.data(), n, 1}, {cut.data(), n, 1}, {left.data(), n, 1}, {right.data(), n, 1}, {missing_left.data(), n, 1},
                value.data(), N_OUTPUTS, N_OUTPUTS, 1, {cover.data(), n, 1}};
    }
};

// Takes the trees of a model apart again: what comes out is what the model has.
void run_take_apart(const Model& m, Digests& out) {
    std::vector<int32_t> feature(m.n_nodes()), left(m.n_nodes()), right(m.n_nodes());
    std::vector<double> cut(m.n_nodes()), cover(m.n_nodes()), value(m.value.size()), leaf_cover(m.n_leaves());
    Flags missing_left(m.n_nodes());
    const StackedTrees stacked{feature, cut, left, right, {&missing_left[0], missing_left.size()}, cover, matrix(value, N_OUTPUTS), leaf_cover};
    for (std::size_t tree = 0; tree < m.root.size(); ++tree) {
        Library library;
        library.add(m, m.root[tree]);
        const auto is_here = [&](int32_t of) { return of == int32_t(tree); };
        const int64_t first_node = std::find_if(m.node_tree.begin(), m.node_tree.end(), is_here) - m.node_tree.begin();
        const int64_t first_leaf = std::find_if(m.leaf_tree.begin(), m.leaf_tree.end(), is_here) - m.leaf_tree.begin();
        take_apart(library.tree(), first_node, first_leaf, std::count_if(m.node_tree.begin(), m.node_tree.end(), is_here), stacked);
    }
    out.check(feature == m.feature && cut == m.cut && left == m.left && right == m.right && (missing_left == m.missing_left).min() &&
                  cover == m.cover && value == m.value && leaf_cover == m.leaf_cover,
              "trees that are taken apart are the model's");
}

// Every node and leaf is in one place: that is a forest if there is no circle.
void check_forests(const Model& m, Digests& out) {
    const std::vector<int32_t> second{1}, left{~0, 0}, right{~1, ~2};
    const std::vector<int32_t> first{0}, left_circle{~0, 2, 1}, right_circle{~1, ~2, ~3};
    out.check(is_forest(m.trees()), "a forest is one");
    out.check(is_forest(Trees{second, left, right, 3}), "children may come before their parents");
    out.check(!is_forest(Trees{first, left_circle, right_circle, 4}), "two nodes that are each other's child are no tree");
    out.check(!is_forest(Trees{first, right, left, 3}), "a node without a parent is no part of a tree");
}

template <class T>
std::vector<T> scores(const Inputs& in, const std::vector<int32_t>& tree_output) {
    const Rows& rows = in.rows;
    const std::vector<T> value(in.model.value.begin(), in.model.value.end());
    std::vector<T> found(rows.n_rows * N_OUTPUTS);
    add_leaf_values<T>(matrix(rows.by_row, N_FEATURES), in.model.trees(), in.model.splits(), tree_output, matrix(value, N_OUTPUTS),
                       matrix(found, N_OUTPUTS));
    return found;
}

}  // namespace

std::vector<double> scores_of(const Inputs& in) { return scores<double>(in, std::vector<int32_t>(in.model.root.size(), -1)); }

void run_ensemble(const Inputs& in, Digests& out) {
    const Model& m = in.model;
    run_take_apart(m, out);
    out.add("leaf values", m.value);
    out.add("children", m.left);
    out.add("slots of players", m.slot);
    out.add("players of leaves", m.n_players);
    out.add("boxes low", m.low);
    out.add("boxes high", m.high);
    out.add("boxes sets", m.sets);
    const std::vector<int32_t> all_outputs(m.root.size(), -1);
    std::vector<int32_t> one_output(m.root.size());
    for (std::size_t tree = 0; tree < m.root.size(); ++tree) one_output[tree] = int32_t(tree % N_OUTPUTS);
    out.add("scores float64", scores_of(in));
    out.add("scores float32", scores<float>(in, all_outputs));
    out.add("scores tree by tree", scores<double>(in, one_output));
    check_forests(m, out);
}

}  // namespace glasswood
