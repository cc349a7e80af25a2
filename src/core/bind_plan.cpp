#include "binding.h"
#include "plan.h"

namespace glasswood {
namespace {

using HeldTrees = Held<Trees>;
using HeldParents = Held<Parents>;
using HeldBoxes = Held<Boxes>;

HeldBoxes* make_boxes(const Array<const int64_t>& first, const Array<const int32_t>& feature, const Array<const int32_t>& slot,
                      const Array<const int32_t>& low, const Array<const int32_t>& high, const Array<const bool>& missing,
                      const Array<const bool>& unseen, const Array<const Word>& sets, const Array<const int64_t>& n_cells,
                      const Array<const int64_t>& n_codes) {
    const Boxes view{span_of(first), span_of(feature), span_of(slot), span_of(low), span_of(high), span_of(missing), span_of(unseen),
                     span_of(sets), span_of(n_cells), span_of(n_codes)};
    const std::size_t n_boxes = feature.size();
    check(first.size() >= 1, "first has an entry more than there are leaves");
    check_starts(view.first, int64_t(n_boxes), "first");
    check_size(slot.size(), n_boxes, "slot");
    check_size(low.size(), n_boxes, "low");
    check_size(high.size(), n_boxes, "high");
    check_size(missing.size(), n_boxes, "missing");
    check_size(unseen.size(), n_boxes, "unseen");
    check_size(n_codes.size(), n_cells.size(), "n_codes");
    check_range(view.feature, 0, int64_t(n_cells.size()), "feature");
    check_range(view.slot, 0, std::numeric_limits<int32_t>::max(), "slot");
    check_range(view.low, 0, int64_t(1) << 31, "low");
    for (std::size_t f = 0; f < n_cells.size(); ++f) {
        check(view.n_codes[f] >= 0 && view.n_cells[f] >= 2, "a feature has at least two cells");
        check(view.n_codes[f] == 0 || view.n_cells[f] == view.n_codes[f] + 2, "a feature of categories has a cell for each, and two");
    }
    for (std::size_t box = 0; box < n_boxes; ++box) {
        const int32_t f = view.feature[box];
        if (view.n_codes[f] > 0) check_category_set(view.low[box], view.n_codes[f], sets.size(), "a set of categories");
        else check(view.high[box] <= view.n_cells[f] - 2, "a box ends behind the cells of its feature");
    }
    return new HeldBoxes(view, first, feature, slot, low, high, missing, unseen, sets, n_cells, n_codes);
}

int64_t bound_number_players(const HeldTrees& trees, const Array<const int32_t>& player, const Array<int32_t>& slot,
                             const Array<bool>& is_new, const Array<int32_t>& n_players, const Array<int32_t>& node_tree,
                             const Array<int32_t>& leaf_tree) {
    const std::size_t n_nodes = std::size_t(trees.view.n_nodes()), n_leaves = std::size_t(trees.view.n_leaves);
    check_size(player.size(), n_nodes, "player");
    check_size(slot.size(), n_nodes, "slot");
    check_size(is_new.size(), n_nodes, "is_new");
    check_size(n_players.size(), n_leaves, "n_players");
    check_size(node_tree.size(), n_nodes, "node_tree");
    check_size(leaf_tree.size(), n_leaves, "leaf_tree");
    return number_players(trees.view, span_of(player),
                          PathsOfTrees{span_of(slot), span_of(is_new), span_of(n_players), span_of(node_tree), span_of(leaf_tree)});
}

void bound_pairs_of_players(const HeldTrees& trees, const Array<const int32_t>& player, const Array2<bool>& found) {
    check_size(player.size(), std::size_t(trees.view.n_nodes()), "player");
    check_size(found.shape(1), found.shape(0), "a line of found");
    check_range(span_of(player), 0, int64_t(found.shape(0)), "player");
    pairs_of_players(trees.view, span_of(player), matrix_of(found));
}

// Whoever goes up from a node comes to one without a parent: each step that is new is taken once.
void check_ways_up(std::span<const int32_t> parent) {
    std::vector<std::uint8_t> known(parent.size());
    for (std::size_t start = 0; start < parent.size(); ++start) {
        std::size_t n_steps = 0;
        for (int32_t node = int32_t(start); node >= 0 && !known[node]; node = parent[node])
            check(n_steps++ < parent.size(), "node_parent leads in a circle");
        for (int32_t node = int32_t(start); node >= 0 && !known[node]; node = parent[node]) known[node] = true;
    }
}

HeldParents* make_parents(const Array<const int32_t>& node_parent, const Array<const int32_t>& leaf_parent,
                          const Array<const bool>& node_side, const Array<const bool>& leaf_side) {
    check_size(node_side.size(), node_parent.size(), "node_side");
    check_size(leaf_side.size(), leaf_parent.size(), "leaf_side");
    check_range(span_of(node_parent), -1, int64_t(node_parent.size()), "node_parent");
    check_range(span_of(leaf_parent), -1, int64_t(node_parent.size()), "leaf_parent");
    check_ways_up(span_of(node_parent));
    return new HeldParents(Parents{span_of(node_parent), span_of(leaf_parent), span_of(node_side), span_of(leaf_side)}, node_parent,
                           leaf_parent, node_side, leaf_side);
}

void check_nodes_of_paths(const NodesOfPaths& nodes, std::size_t n_nodes) {
    check_size(nodes.feature.size(), n_nodes, "feature");
    check_size(nodes.slot.size(), n_nodes, "slot");
    check_size(nodes.rank.size(), n_nodes, "rank");
    check_size(nodes.category_set.size(), n_nodes, "category_set");
    check_size(nodes.missing_left.size(), n_nodes, "missing_left");
    check_size(nodes.unseen_left.size(), n_nodes, "unseen_left");
    check_size(nodes.n_words.size(), nodes.last_cell.size(), "n_words");
    check_range(nodes.feature, 0, int64_t(nodes.last_cell.size()), "feature");
    check_range(nodes.last_cell, 0, std::numeric_limits<int32_t>::max(), "last_cell");
    for (std::size_t node = 0; node < n_nodes; ++node) {
        const int64_t n_words = nodes.n_words[nodes.feature[node]], set = nodes.category_set[node], rank = nodes.rank[node];
        if (n_words > 0) check(set >= 0 && set + n_words <= int64_t(nodes.words.size()), "a set of categories ends behind the words");
        else check(rank >= 0 && rank <= nodes.last_cell[nodes.feature[node]], "rank is that of no cut");
    }
}

void bound_trace_boxes(const HeldParents& parents, const Array<const int32_t>& feature, const Array<const int32_t>& slot,
                       const Array<const int32_t>& rank, const Array<const int32_t>& category_set, const Array<const bool>& missing_left,
                       const Array<const bool>& unseen_left, const Array<const Word>& words, const Array<const int64_t>& last_cell,
                       const Array<const int64_t>& n_words, const Array<const int64_t>& first, const Array<int32_t>& box_feature,
                       const Array<int32_t>& box_slot, const Array<int32_t>& low, const Array<int32_t>& high, const Array<bool>& missing,
                       const Array<bool>& unseen, const Array<Word>& sets) {
    const NodesOfPaths nodes{span_of(feature), span_of(slot), span_of(rank), span_of(category_set), span_of(missing_left),
                             span_of(unseen_left), span_of(words), span_of(last_cell), span_of(n_words)};
    const BoxesOut out{span_of(first), span_of(box_feature), span_of(box_slot), span_of(low), span_of(high), span_of(missing),
                       span_of(unseen), span_of(sets)};
    check_nodes_of_paths(nodes, parents.view.node_parent.size());
    const std::size_t n_boxes = box_feature.size();
    check_size(first.size(), parents.view.leaf_parent.size() + 1, "first");
    check_starts(out.first, int64_t(n_boxes), "first");
    check_size(box_slot.size(), n_boxes, "box_slot");
    check_size(low.size(), n_boxes, "low");
    check_size(high.size(), n_boxes, "high");
    check_size(missing.size(), n_boxes, "missing");
    check_size(unseen.size(), n_boxes, "unseen");
    check(sets.size() < std::size_t(1) << 31, "32 bits cannot number the words of sets");
    check(trace_boxes(parents.view, nodes, out), "a leaf has more boxes, or sets more words, than there are places");
}

void bound_player_shares(const HeldParents& parents, const Array<const double>& cover, const Array<const double>& leaf_cover,
                         const Array<const int32_t>& slot, const Array<const int64_t>& slot_first, const Array<double>& shares) {
    check_size(cover.size(), parents.view.node_parent.size(), "cover");
    check_size(leaf_cover.size(), parents.view.leaf_parent.size(), "leaf_cover");
    check_size(slot.size(), cover.size(), "slot");
    check_range(span_of(slot), 0, std::numeric_limits<int32_t>::max(), "slot");
    check_size(slot_first.size(), leaf_cover.size() + 1, "slot_first");
    check_starts(span_of(slot_first), int64_t(shares.size()), "slot_first");
    check(player_shares(parents.view, span_of(cover), span_of(leaf_cover), span_of(slot), span_of(slot_first), span_of(shares)),
          "a leaf has more players than slots");
}

void bound_cover_shares(const Array<const int64_t>& slot_first, const Array<const double>& shares, const Array<const int64_t>& size,
                        const Array2<const bool>& has, const Array<const int64_t>& leaf_offset, const Array<double>& products) {
    check(slot_first.size() >= 1, "slot_first has an entry more than there are leaves");
    check_starts(span_of(slot_first), int64_t(shares.size()), "slot_first");
    check(size.size() >= 1 && has.shape(0) + 1 >= size.size(), "has has a line for each player");
    check_starts(span_of(size), int64_t(has.shape(1)), "size");
    check(leaf_offset.size() + 1 >= slot_first.size(), "leaf_offset has an entry for each leaf");
    for (std::size_t leaf = 0; leaf + 1 < slot_first.size(); ++leaf) {
        const int64_t used = slot_first.data()[leaf + 1] - slot_first.data()[leaf], at = leaf_offset.data()[leaf];
        check(used < int64_t(size.size()), "a leaf has more players than there are sets of");
        check(at >= 0 && at + size.data()[used] <= int64_t(products.size()), "a leaf's shares end behind the shares");
    }
    cover_shares(span_of(slot_first), span_of(shares), span_of(size), matrix_of(has), span_of(leaf_offset), span_of(products));
}

}  // namespace

void bind_plan(nb::module_& m) {
    nb::class_<HeldBoxes>(m, "Boxes")
        .def(nb::new_(&make_boxes), arg("first"), arg("feature"), arg("slot"), arg("low"), arg("high"), arg("missing"), arg("unseen"),
             arg("sets"), arg("n_cells"), arg("n_codes"));
    nb::class_<HeldParents>(m, "Parents")
        .def(nb::new_(&make_parents), arg("node_parent"), arg("leaf_parent"), arg("node_side"), arg("leaf_side"));
    m.def("number_players", &bound_number_players, nb::arg("trees"), arg("player"), arg("slot"), arg("is_new"), arg("n_players"),
          arg("node_tree"), arg("leaf_tree"), without_gil());
    m.def("pairs_of_players", &bound_pairs_of_players, nb::arg("trees"), arg("player"), arg("found"), without_gil());
    m.def("trace_boxes", &bound_trace_boxes, nb::arg("parents"), arg("feature"), arg("slot"), arg("rank"), arg("category_set"),
          arg("missing_left"), arg("unseen_left"), arg("words"), arg("last_cell"), arg("n_words"), arg("first"), arg("box_feature"),
          arg("box_slot"), arg("low"), arg("high"), arg("missing"), arg("unseen"), arg("sets"), without_gil());
    m.def("player_shares", &bound_player_shares, nb::arg("parents"), arg("cover"), arg("leaf_cover"), arg("slot"), arg("slot_first"),
          arg("shares"), without_gil());
    m.def("cover_shares", &bound_cover_shares, arg("slot_first"), arg("shares"), arg("size"), arg("has"), arg("leaf_offset"),
          arg("products"), without_gil());
}

}  // namespace glasswood
