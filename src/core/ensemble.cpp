#include "ensemble.h"

#include <algorithm>
#include <vector>

namespace glasswood {
namespace {

constexpr int64_t MAX_FEATURES = int64_t(1) << 31;

// The number of inner nodes below the roots, if no node has two parents.
int64_t n_reached(const Trees& trees) {
    std::vector<int32_t> waiting(trees.root.begin(), trees.root.end());
    int64_t n = 0;
    while (!waiting.empty()) {
        const int32_t node = waiting.back();
        waiting.pop_back();
        if (node < 0) continue;
        ++n;
        waiting.push_back(trees.left[node]);
        waiting.push_back(trees.right[node]);
    }
    return n;
}

// Rows that go through a tree side by side: a step waits for the one before it, but not for those of other rows.
constexpr int64_t AT_A_TIME = 16;

// Writes ~leaf for n rows from `first` on, for the leaves that they reach from `root`.
void find_leaves(Matrix<const double> rows, const Trees& trees, const Splits& splits, int32_t root, int64_t first, int64_t n,
                 int32_t* nodes) {
    std::fill_n(nodes, n, root);
    for (bool more = root >= 0; more;) {
        more = false;
        for (int64_t i = 0; i < n; ++i) {
            const int32_t node = nodes[i];
            if (node < 0) continue;
            const int32_t left = trees.left[node], right = trees.right[node];
            const int32_t choice = -int32_t(splits.goes_left(node, rows[first + i][splits.column[node]]));
            nodes[i] = right ^ ((left ^ right) & choice);  // a branch would be mispredicted every other time
            more = true;
        }
    }
}

}  // namespace

bool is_forest(const Trees& trees) {
    const int64_t n_nodes = trees.n_nodes();
    if (n_nodes + trees.n_leaves != int64_t(trees.root.size()) + 2 * n_nodes) return false;  // each is a root or a child
    std::vector<std::uint8_t> node_found(n_nodes), leaf_found(trees.n_leaves);
    for (const std::span<const int32_t> children : {trees.root, trees.left, trees.right})
        for (const int32_t child : children) {
            if (child >= n_nodes || ~int64_t(child) >= trees.n_leaves) return false;
            std::uint8_t& found = child >= 0 ? node_found[child] : leaf_found[~child];
            if (found) return false;
            found = true;
        }
    const auto all = [](const std::vector<std::uint8_t>& found) { return std::find(found.begin(), found.end(), 0) == found.end(); };
    if (!all(node_found) || !all(leaf_found)) return false;
    for (int64_t node = 0; node < n_nodes; ++node) {
        const int32_t left = trees.left[node], right = trees.right[node];
        if ((left >= 0 && left <= node) || (right >= 0 && right <= node)) return n_reached(trees) == n_nodes;
    }
    return true;
}

template <class T>
void add_leaf_values(Matrix<const double> rows, const Trees& trees, const Splits& splits, std::span<const int32_t> tree_output,
                     Matrix<const T> value, Matrix<T> scores) {
    for (std::size_t tree = 0; tree < trees.root.size(); ++tree) {
        const int32_t output = tree_output[tree];
        for (int64_t first = 0; first < rows.n_rows; first += AT_A_TIME) {
            const int64_t n = std::min(AT_A_TIME, rows.n_rows - first);
            int32_t nodes[AT_A_TIME];
            find_leaves(rows, trees, splits, trees.root[tree], first, n, nodes);
            for (int64_t i = 0; i < n; ++i) {
                const T* found = value[~nodes[i]];
                T* score = scores[first + i];
                if (output >= 0) score[output] += found[0];
                else
                    for (int64_t k = 0; k < scores.n_columns; ++k) score[k] += found[k];
            }
        }
    }
}

template void add_leaf_values(Matrix<const double>, const Trees&, const Splits&, std::span<const int32_t>, Matrix<const float>,
                              Matrix<float>);
template void add_leaf_values(Matrix<const double>, const Trees&, const Splits&, std::span<const int32_t>, Matrix<const double>,
                              Matrix<double>);

bool take_apart(const LibraryTree& tree, int64_t first_node, int64_t first_leaf, int64_t n_inner, const StackedTrees& out) {
    const int64_t size = tree.left.size;
    std::vector<int32_t> number(size);
    int64_t node = first_node, leaf = first_leaf;
    for (int64_t place = 0; place < size; ++place) number[place] = int32_t(tree.left[place] >= 0 ? node++ : ~leaf++);
    if (node != first_node + n_inner) return false;
    node = first_node;
    leaf = first_leaf;
    for (int64_t place = 0; place < size; ++place) {
        const int64_t left = tree.left[place];
        if (left >= 0) {
            const int64_t right = tree.right[place], feature = tree.feature[place];
            if (std::max(left, right) >= size || right < 0) return false;
            if (feature < 0 || feature >= MAX_FEATURES) return false;
            out.feature[node] = int32_t(feature);
            out.cut[node] = tree.cut[place];
            out.left[node] = number[left];
            out.right[node] = number[right];
            out.missing_left[node] = tree.missing_left[place] != 0;
            if (tree.cover.size) out.cover[node] = tree.cover[place];
            ++node;
        } else {
            for (int64_t k = 0; k < tree.n_values; ++k) out.value[leaf][k] = tree.value[place * tree.value_row + k * tree.value_column];
            if (tree.cover.size) out.leaf_cover[leaf] = tree.cover[place];
            ++leaf;
        }
    }
    return true;
}

}  // namespace glasswood
