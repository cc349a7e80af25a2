#include "binding.h"
#include "walks.h"

namespace glasswood {
namespace {

using HeldTrees = Held<Trees>;

// Trees to walk in, and their nodes.
struct HeldWalkTrees {
    std::vector<WalkNode> nodes;
    Held<WalkTrees> held;

    const WalkTrees& view() const { return held.view; }
    int64_t n_bytes() const { return int64_t(nodes.size() * sizeof(WalkNode)); }
};

HeldWalkTrees* make_walk_trees(const HeldTrees& trees, const Array<const int32_t>& slot, const Array<const int32_t>& column,
                               const Array<const int32_t>& rank, const Array<const int32_t>& category_set,
                               const Array<const bool>& missing_left, const Array<const bool>& unseen_left, const Array<const Word>& words,
                               const Array<const int64_t>& n_codes, const Array<const int32_t>& player, const Array<const int64_t>& output,
                               const Array2<const double>& value, int64_t n_slots, bool slots_are_players) {
    const Trees& t = trees.view;
    const std::size_t n_nodes = std::size_t(t.n_nodes()), n_columns = n_codes.size();
    check_size(slot.size(), n_nodes, "slot");
    check_size(column.size(), n_nodes, "column");
    check_size(rank.size(), n_nodes, "rank");
    check_size(category_set.size(), n_nodes, "category_set");
    check_size(missing_left.size(), n_nodes, "missing_left");
    check_size(unseen_left.size(), n_nodes, "unseen_left");
    check_size(player.size(), n_columns, "player");
    check_size(output.size(), t.root.size(), "output");
    check_size(value.shape(0), std::size_t(t.n_leaves), "value");
    check(n_slots >= 0 && n_slots <= MAX_WALK_PLAYERS, "a path has too many players");
    check(int64_t(n_columns) <= MAX_WALK_COLUMNS, "there are too many columns");
    check_range(span_of(slot), 0, n_slots, "slot");
    check_range(span_of(column), 0, int64_t(n_columns), "column");
    check_range(span_of(rank), 0, int64_t(RANK_MISSING), "rank");
    check_range(span_of(player), 0, RANK_MISSING, "player");
    check_range(span_of(output), 0, int64_t(1) << 31, "output");
    check_range(span_of(n_codes), 0, int64_t(1) << 31, "n_codes");
    auto* made = new HeldWalkTrees{{}, Held<WalkTrees>(WalkTrees{}, words, n_codes, player, output, value)};
    made->nodes.reserve(n_nodes);
    for (std::size_t node = 0; node < n_nodes; ++node) {
        const int32_t set = category_set.data()[node], at = column.data()[node];
        const bool fits = set < 0 || set + (n_codes.data()[at] + 63) / 64 <= int64_t(words.size());
        if (!fits || (slots_are_players && slot.data()[node] != player.data()[at])) {
            delete made;
            refuse(fits ? "a slot is not the number of its player" : "a set of categories ends behind the words");
        }
        made->nodes.emplace_back(t.left[node], t.right[node], set < 0 ? rank.data()[node] : set, at, slot.data()[node], set >= 0,
                                 missing_left.data()[node], unseen_left.data()[node]);
    }
    made->held.arrays.push_back(trees.arrays.front());
    made->held.view = WalkTrees{t.root, made->nodes, span_of(words), span_of(n_codes), span_of(player), span_of(output),
                                matrix_of(value), n_slots, slots_are_players};
    return made;
}

// The categories of rows are categories, missing or unseen.
void check_codes(const WalkTrees& trees, const Array2<const int32_t>& ranks, int64_t first, int64_t last) {
    for (std::size_t column = 0; column < trees.n_codes.size(); ++column) {
        if (trees.n_codes[column] == 0) continue;
        const int32_t* line = ranks.data() + column * ranks.shape(1);
        for (int64_t row = first; row < last; ++row)
            check(line[row] == RANK_MISSING || (line[row] >= RANK_UNSEEN && line[row] < trees.n_codes[column]), "there is no such category");
    }
}

int64_t bound_add_walks(int64_t first_tree, int64_t last_tree, const HeldWalkTrees& trees, const Array2<const int32_t>& here,
                        const Array2<const int32_t>& there, const Array<const double>& weight, int64_t first_here, int64_t last_here,
                        int64_t first_there, int64_t last_there, const Array3<const double>& values,
                        const Array<const int64_t>& output_place, const Array3<double>& single, const Array3<double>& pairs) {
    const WalkTrees& t = trees.view();
    check(first_tree >= 0 && first_tree <= last_tree && last_tree <= int64_t(t.root.size()), "trees that there are not");
    check_size(here.shape(0), t.player.size(), "here");
    check_size(there.shape(0), t.player.size(), "there");
    check_size(weight.size(), there.shape(1), "weight");
    check(first_here >= 0 && first_here <= last_here && last_here <= int64_t(here.shape(1)), "rows that there are not");
    check(first_there >= 0 && first_there <= last_there && last_there <= int64_t(there.shape(1)), "background rows that there are not");
    const int64_t n_here = last_here - first_here, n_there = last_there - first_there;
    check(n_here <= MAX_WALK_PAIRS && n_there <= MAX_WALK_PAIRS, "too many rows at a time");
    check_codes(t, here, first_here, last_here);
    check_codes(t, there, first_there, last_there);
    int64_t room = 1;
    while (room < n_there) room *= 2;
    check(n_here * room <= MAX_WALK_PAIRS, "too many pairs of rows at a time");
    check(int64_t(values.shape(0)) >= kind_of_set(pairs.shape(0) > 0 ? 3 : 2, 0), "there are no values of a set");
    check(int64_t(values.shape(1)) > t.n_slots && values.shape(2) == values.shape(1), "there are no values of a path");
    int64_t n_players = 0;
    for (const int32_t player : t.player) n_players = std::max<int64_t>(n_players, player + 1);
    check_range(t.output, 0, int64_t(output_place.size()) - t.value.n_columns + 1, "output");
    check_size(single.shape(0), std::size_t(n_here), "single");
    const int64_t n_outputs = single.shape(t.slots_are_players ? 1 : 2), room_for = single.shape(t.slots_are_players ? 2 : 1);
    check_range(span_of(output_place), -1, n_outputs, "output_place");
    check(room_for >= n_players, "single has too few players");
    check(single.shape(2) % 8 == 0 || (single.shape(2) == 1 && !t.slots_are_players), "the last size of single is no multiple of 8");
    check(n_outputs <= int64_t(output_place.size()) + 7, "single has too many outputs");
    if (pairs.shape(0) > 0) {
        check(n_here > 0 && pairs.shape(0) % std::size_t(n_here) == 0, "pairs has no outputs of each row");
        check_range(span_of(output_place), -1, int64_t(pairs.shape(0)) / n_here, "output_place");
        check(int64_t(pairs.shape(1)) >= n_players, "pairs has too few players");
        check_size(pairs.shape(2), pairs.shape(1), "a line of pairs");
        check(pairs.shape(2) % 8 == 0 || !t.slots_are_players, "a line of pairs is no multiple of 8");
    }
    return add_walks(first_tree, last_tree, t,
                     WalkRows{matrix_of(here), matrix_of(there), span_of(weight), first_here, last_here, first_there, last_there},
                     cube_of(values), span_of(output_place), cube_of(single), cube_of(pairs));
}

}  // namespace

void bind_walks(nb::module_& m) {
    nb::class_<HeldWalkTrees>(m, "WalkTrees")
        .def(nb::new_(&make_walk_trees), nb::arg("trees"), arg("slot"), arg("column"), arg("rank"), arg("category_set"),
             arg("missing_left"), arg("unseen_left"), arg("words"), arg("n_codes"), arg("player"), arg("output"), arg("value"), nb::arg("n_slots"), nb::arg("slots_are_players"))
        .def_prop_ro("n_bytes", &HeldWalkTrees::n_bytes);
    m.def("add_walks", &bound_add_walks, nb::arg("first_tree"), nb::arg("last_tree"), nb::arg("trees"), arg("here"), arg("there"),
          arg("weight"), nb::arg("first_here"), nb::arg("last_here"), nb::arg("first_there"), nb::arg("last_there"), arg("values"),
          arg("output_place"), arg("single"), arg("pairs"), without_gil());
}

}  // namespace glasswood
