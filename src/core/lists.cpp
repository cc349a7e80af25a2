#include "lists.h"

#include <cmath>

#include "list_walk.h"

namespace glasswood {

void count_with_lists(std::span<const int32_t> root, const ListTrees& trees, int64_t n_rows, Matrix<const int32_t> ranks,
                      Matrix<const int32_t> following, std::span<const int64_t> weight, std::span<int64_t> counts) {
    ListWalk walk(trees, ranks, following, [&](int64_t leaf, const std::uint32_t* first, const std::uint32_t* last) {
        int64_t* own = counts.data() + trees.leaf_offset[leaf];
        for (; first < last; ++first) own[*first >> ROW_BITS] += weight.empty() ? 1 : weight[*first & ROW_MASK];
    });
    for (const int32_t tree : root) walk.tree(tree, n_rows);
}

void rank_rows(std::span<const Column> columns, const CutsOfColumns& cuts, std::span<const int64_t> offset, int64_t start,
               int64_t n_rows, std::span<const int64_t> weight, Matrix<int32_t> ranks, std::span<int64_t> cells) {
    for (std::size_t column = 0; column < columns.size(); ++column)
        for (int64_t row = 0; row < n_rows; ++row) {
            const double x = columns[column][start + row];
            const int64_t cell = cuts.cell(column, x);
            const bool unseen = cuts.n_codes[column] > 0 && cell == cuts.n_codes[column];
            ranks[column][row] = std::isnan(x) ? MISSING : unseen ? UNSEEN : int32_t(cell);
            cells[offset[column] + cell] += weight.empty() ? 1 : weight[row];
        }
}

}  // namespace glasswood
