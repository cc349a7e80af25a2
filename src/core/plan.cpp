#include "plan.h"

#include <algorithm>
#include <vector>

namespace glasswood {

int64_t number_players(const Trees& trees, std::span<const int32_t> player, const PathsOfTrees& out) {
    struct Place {
        int32_t node, used;  // and the players so far
        int64_t depth;
    };
    std::vector<Place> waiting;
    std::vector<int32_t> path;  // its players, in the order in which they are met
    int64_t longest = 0;
    for (std::size_t tree = 0; tree < trees.root.size(); ++tree) {
        waiting.push_back({trees.root[tree], 0, 0});
        while (!waiting.empty()) {
            const auto [node, used, depth] = waiting.back();
            waiting.pop_back();
            longest = std::max(longest, depth);
            if (node < 0) {
                out.n_players[~node] = used;
                out.leaf_tree[~node] = int32_t(tree);
                continue;
            }
            // The left child is dealt with first; it writes to places of the path that the right one has no use for.
            path.resize(std::max(path.size(), std::size_t(used) + 1));
            const int32_t slot = int32_t(std::find(path.begin(), path.begin() + used, player[node]) - path.begin());
            path[slot] = player[node];
            out.slot[node] = slot;
            out.is_new[node] = slot == used;
            out.node_tree[node] = int32_t(tree);
            const int32_t now = std::max(used, slot + 1);
            waiting.push_back({trees.right[node], now, depth + 1});
            waiting.push_back({trees.left[node], now, depth + 1});
        }
    }
    return longest;
}

void pairs_of_players(const Trees& trees, std::span<const int32_t> player, Matrix<bool> found) {
    struct Place {
        int32_t node, used;
    };
    std::vector<Place> waiting;
    std::vector<int32_t> path;
    for (const int32_t root : trees.root) {
        waiting.push_back({root, 0});
        while (!waiting.empty()) {
            auto [node, used] = waiting.back();
            waiting.pop_back();
            if (node < 0) continue;
            const int32_t own = player[node];
            path.resize(std::max(path.size(), std::size_t(used) + 1));
            if (std::find(path.begin(), path.begin() + used, own) == path.begin() + used) {
                for (int32_t slot = 0; slot < used; ++slot) found[std::min(path[slot], own)][std::max(path[slot], own)] = true;
                path[used++] = own;
            }
            waiting.push_back({trees.right[node], used});
            waiting.push_back({trees.left[node], used});
        }
    }
}

bool trace_boxes(const Parents& parents, const NodesOfPaths& nodes, const BoxesOut& out) {
    int64_t n_sets = 0;
    for (std::size_t leaf = 0; leaf < parents.leaf_parent.size(); ++leaf) {
        int32_t node = parents.leaf_parent[leaf];
        bool to_left = parents.leaf_side[leaf];
        const int64_t first = out.first[leaf];
        int64_t end = first;
        while (node >= 0) {
            const int32_t f = nodes.feature[node];
            const int64_t n_words = nodes.n_words[f];
            int64_t box = first;
            while (box < end && out.feature[box] != f) ++box;
            if (box == end) {
                if (end == out.first[leaf + 1]) return false;
                ++end;
                out.feature[box] = f;
                out.slot[box] = nodes.slot[node];
                out.low[box] = 0;
                out.high[box] = int32_t(nodes.last_cell[f]);
                out.missing[box] = out.unseen[box] = true;
                if (n_words > 0) {
                    if (n_sets + n_words > int64_t(out.sets.size())) return false;
                    out.low[box] = int32_t(n_sets);
                    std::fill_n(out.sets.data() + n_sets, n_words, ~Word(0));
                    n_sets += n_words;
                }
            }
            out.missing[box] = out.missing[box] && nodes.missing_left[node] == to_left;
            if (n_words > 0) {
                out.unseen[box] = out.unseen[box] && nodes.unseen_left[node] == to_left;
                const Word* bits = nodes.words.data() + nodes.category_set[node];
                Word* set = out.sets.data() + out.low[box];
                for (int64_t word = 0; word < n_words; ++word) set[word] &= to_left ? bits[word] : ~bits[word];
            } else if (to_left) {
                out.high[box] = std::min(out.high[box], nodes.rank[node]);
            } else {
                out.low[box] = std::max(out.low[box], nodes.rank[node] + 1);
            }
            to_left = parents.node_side[node];
            node = parents.node_parent[node];
        }
    }
    return true;
}

bool player_shares(const Parents& parents, std::span<const double> cover, std::span<const double> leaf_cover,
                   std::span<const int32_t> slot, std::span<const int64_t> slot_first, std::span<double> shares) {
    std::fill(shares.begin(), shares.end(), 1.0);
    for (std::size_t leaf = 0; leaf < parents.leaf_parent.size(); ++leaf) {
        int32_t node = parents.leaf_parent[leaf];
        double below = leaf_cover[leaf];
        while (node >= 0) {
            const int64_t at = slot_first[leaf] + slot[node];
            if (at >= slot_first[leaf + 1]) return false;
            shares[at] *= cover[node] > 0 ? below / cover[node] : 0.0;
            below = cover[node];
            node = parents.node_parent[node];
        }
    }
    return true;
}

void cover_shares(std::span<const int64_t> slot_first, std::span<const double> shares, std::span<const int64_t> size,
                  Matrix<const bool> has, std::span<const int64_t> leaf_offset, std::span<double> products) {
    for (std::size_t leaf = 0; leaf + 1 < slot_first.size(); ++leaf) {
        const int64_t first = slot_first[leaf], used = slot_first[leaf + 1] - first;
        for (int64_t i = 0; i < size[used]; ++i) {
            double product = 1.0;
            for (int64_t player = 0; player < used; ++player)
                if (!has[player][i]) product *= shares[first + player];
            products[leaf_offset[leaf] + i] = product;
        }
    }
}

}  // namespace glasswood
