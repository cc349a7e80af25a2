// What the bindings of kernels that count rows share: the arrays of groups of rows, and checks of trees.
#pragma once

#include <limits>

#include "binding.h"
#include "bitsets.h"
#include "lists.h"
#include "row_cells.h"

namespace glasswood {

using HeldConditions = Held<Conditions>;
using HeldBitsetTrees = Held<BitsetTrees>;
using HeldSubsets = Held<Subsets>;
using HeldListTrees = Held<ListTrees>;
using HeldCuts = Held<CutsOfColumns>;

// Arrays of several groups, one of each kind per group.
struct ArraysOfGroups {
    std::vector<nb::ndarray<>> arrays;

  protected:
    std::size_t read(const nb::list& given, std::vector<int64_t*>& out, const char* name) {
        std::size_t size = 0;
        for (nb::handle one : given) {
            Array<int64_t> array;
            if (!nb::try_cast(one, array, false)) refuse(std::string(name) + " are writable int64 arrays in C order");
            if (!out.empty()) check_size(array.size(), size, name);
            size = array.size();
            out.push_back(array.data());
            arrays.emplace_back(array);
        }
        return size;
    }
};

struct CountTargets : ArraysOfGroups {
    std::vector<int64_t*> counts, cells;
    std::size_t n_counts = 0, n_cells = 0;

    CountTargets(const nb::list& given_counts, const nb::list& given_cells) {
        n_counts = read(given_counts, counts, "counts");
        n_cells = read(given_cells, cells, "cells");
        check(counts.size() == cells.size(), "every group has counts and cells");
    }
};

inline void check_bounds(const Columns& columns, std::span<const int64_t> bounds, std::size_t n_groups) {
    check(bounds.size() >= 2, "bounds has an entry more than there are groups, at least one");
    check_size(bounds.size() - 1, n_groups, "bounds, less one,");
    check_starts(bounds, columns.n_rows, "bounds");
}

inline void check_rows(const Columns& columns, std::span<const int64_t> bounds, std::span<const int64_t> weight, const CountTargets& homes) {
    check_bounds(columns, bounds, homes.counts.size());
    check(std::adjacent_find(bounds.begin(), bounds.end()) == bounds.end(), "a group has no rows");
    if (!weight.empty()) {
        check(int64_t(weight.size()) >= bounds.back(), "weight has an entry for each row");
        check_range(weight, 0, std::numeric_limits<int64_t>::max(), "weight");
    }
}

// Walks trees and refuses paths that are longer than `depth`, players that come out of turn or are too many, and leaves
// whose counts overlap those of the next one.
template <class CheckNode>
void check_walk(std::span<const int32_t> root, std::span<const int32_t> left, std::span<const int32_t> right,
                std::span<const int32_t> slot, std::span<const int64_t> leaf_offset, std::span<const int64_t> size, int64_t depth,
                CheckNode check_node) {
    struct Place {
        int32_t node;
        int64_t level, used;
    };
    std::vector<Place> waiting;
    std::size_t n_visited = 0;
    for (const int32_t tree : root) {
        waiting.push_back({tree, 0, 0});
        while (!waiting.empty()) {
            const Place here = waiting.back();
            waiting.pop_back();
            if (here.node < 0) {
                const int64_t at = leaf_offset[~here.node];
                check(at + size[here.used] <= leaf_offset[~here.node + 1], "a leaf has more counts than places");
                continue;
            }
            check(++n_visited <= left.size(), "a node is in two trees");
            check(here.level < depth, "a path is longer than depth");
            check_node(here.node);
            const int64_t player = slot[here.node], used = std::max(here.used, player + 1);
            check(player >= 0 && player <= here.used && used < int64_t(size.size()), "slot does not number the players of a path");
            waiting.push_back({right[here.node], here.level + 1, used});
            waiting.push_back({left[here.node], here.level + 1, used});
        }
    }
}

// Sets of the first u players stay among them, or get the next one: what numbers of sets lead to places of a leaf.
inline void check_following(Matrix<const int32_t> following, std::span<const int64_t> size) {
    check(following.n_columns <= LIST_SETS, "more sets than fit in an item");
    check(following.n_rows + 1 >= int64_t(size.size()) && size.back() == following.n_columns, "following does not fit size");
    for (int64_t player = 0; player + 1 < int64_t(size.size()); ++player)
        for (std::size_t u = 1; u < size.size(); ++u)
            for (int64_t i = u == 1 ? 0 : size[u - 1]; i < size[u]; ++i)
                check(following[player][i] < size[std::max<std::size_t>(u, std::size_t(player) + 1)], "following leads beyond the players of a path");
}

}  // namespace glasswood
