#include <limits>

#include "binding.h"
#include "chunks.h"

namespace glasswood {
namespace {

using HeldLeaves = Held<ChunkedLeaves>;
using HeldAxes = Held<Axes>;

// Trees without circles, in which every leaf is once.
void check_forest(const Forest& trees, int64_t n_leaves) {
    const std::size_t n_nodes = trees.left.size();
    check_size(trees.right.size(), n_nodes, "right");
    check_children(trees.root, n_nodes, n_leaves, "root");
    check_children(trees.left, n_nodes, n_leaves, "left");
    check_children(trees.right, n_nodes, n_leaves, "right");
    std::vector<bool> seen_node(n_nodes), seen_leaf(n_leaves);
    const auto see = [&](int32_t child) {
        const auto found = child < 0 ? seen_leaf[~child] : seen_node[child];
        check(!found, "a node or leaf is in two places");
        (child < 0 ? seen_leaf[~child] : seen_node[child]) = true;
    };
    for (const int32_t child : trees.root) see(child);
    for (const int32_t child : trees.left) see(child);
    for (const int32_t child : trees.right) see(child);
    // Every node has a place of its own now, so those below roots make trees; others, which would make circles, must not be.
    check(trees.root.size() + n_nodes == std::size_t(n_leaves), "a leaf is in no tree");
    std::vector<int32_t> waiting(trees.root.begin(), trees.root.end());
    std::size_t n_visited = 0;
    while (!waiting.empty()) {
        const int32_t node = waiting.back();
        waiting.pop_back();
        if (node < 0) continue;
        ++n_visited;
        waiting.push_back(trees.right[node]);
        waiting.push_back(trees.left[node]);
    }
    check(n_visited == n_nodes, "a node is in no tree");
}

nb::dict bound_make_chunks(const Array<const int32_t>& root, const Array<const int32_t>& left, const Array<const int32_t>& right,
                           const Held<Boxes>& boxes, const Array<const int32_t>& player, int64_t max_states, int64_t order) {
    ChunkLists made;
    {
        const nb::gil_scoped_release without;
        const Forest trees{span_of(root), span_of(left), span_of(right)};
        check(max_states >= 1 && max_states <= MAX_STATES, "max_states is none of the numbers of states that a seat can have");
        check(order >= 0, "order is negative");
        check_size(player.size(), boxes.view.n_cells.size(), "player");
        check_range(span_of(player), 0, std::numeric_limits<int32_t>::max(), "player");
        check_range(boxes.view.n_cells, 2, std::numeric_limits<int32_t>::max(), "n_cells");
        check_forest(trees, boxes.view.n_leaves());
        made = make_chunks(trees, boxes.view, span_of(player), max_states, order);
    }
    nb::dict out;
    const auto give = [&](const char* name, auto& values) {
        values.reserve(1);  // so that there is an address
        values.shrink_to_fit();
        out[name] = numpy_of(std::move(values));
    };
    give("chunk_first", made.chunk_first);
    give("leaf_order", made.leaf_order);
    give("seat_first", made.seat_first);
    give("seat_player", made.seat_player);
    give("axis_first", made.axis_first);
    give("axis_feature", made.axis_feature);
    give("axis_table", made.axis_table);
    give("axis_kind", made.axis_kind);
    give("state_first", made.state_first);
    give("table", made.table);
    give("words", made.words);
    return out;
}

HeldLeaves* make_chunked_leaves(const Array<const int64_t>& chunk_first, const Array<const int32_t>& leaf_order,
                                const Array<const int64_t>& seat_first, const Array<const int32_t>& seat_player,
                                const Array<const int64_t>& state_first, const Array<const Word>& words) {
    check(chunk_first.size() >= 1, "chunk_first has an entry more than there are chunks");
    check_parts(span_of(chunk_first), leaf_order.size(), "chunk_first");
    check_size(seat_first.size(), chunk_first.size(), "seat_first");
    check_parts(span_of(seat_first), seat_player.size(), "seat_first");
    check_size(state_first.size(), seat_player.size() + 1, "state_first");
    check_parts(span_of(state_first), words.size(), "state_first");
    check_range(span_of(leaf_order), 0, int64_t(leaf_order.size()), "leaf_order");
    const ChunkedLeaves view{span_of(chunk_first), span_of(leaf_order),  span_of(seat_first),
                             span_of(seat_player), span_of(state_first), span_of(words)};
    for (int64_t chunk = 0; chunk < view.n_chunks(); ++chunk)
        check(view.chunk_first[chunk + 1] - view.chunk_first[chunk] <= MAX_LEAVES, "a chunk has more than 64 leaves");
    for (int64_t seat = 0; seat < view.n_seats(); ++seat)
        check(view.n_states(seat) >= 1 && view.n_states(seat) <= MAX_STATES, "a seat has no states, or too many");
    return new HeldLeaves(view, chunk_first, leaf_order, seat_first, seat_player, state_first, words);
}

// What the table says of an axis ends before the table does, and leads to no classes and states that there are not.
// Returns the number of states of the seat after the axis, of which there were n_before (0: it is the first axis).
int64_t check_axis(const Axes& axes, int64_t axis, int64_t n_before) {
    const int64_t at = axes.start[axis], kind = axes.kind[axis], size = int64_t(axes.table.size());
    const int64_t head = kind < 0 ? 1 : 2, n_entries = kind < 0 ? axes.missing[axis] + 1 : kind;
    check(at >= 0 && at <= size && head + n_entries <= size - at, "the table of an axis ends behind the table");
    const int64_t n_classes = axes.table[at + head - 1];
    check(n_classes >= 1 && n_classes <= MAX_STATES, "an axis has no classes, or too many");
    if (kind < 0) check_range(axes.table.subspan(at + 1, n_entries), 0, n_classes, "the classes of an axis");
    else check(kind < n_classes && axes.table[at] >= 0 && axes.table[at] < n_classes, "an axis leads to more classes than it has");
    if (n_before == 0) return n_classes;
    const int64_t following = at + head + n_entries, n_pairs = n_before * n_classes;
    check(n_pairs <= size - following, "the states of an axis end behind the table");
    const std::span<const int32_t> states = axes.table.subspan(following, n_pairs);
    check_range(states, 0, MAX_STATES, "the states of an axis");
    return *std::max_element(states.begin(), states.end()) + 1;
}

HeldAxes* make_axes(const HeldLeaves& leaves, const Array<const int64_t>& first, const Array<const int32_t>& line,
                    const Array<const int64_t>& missing, const Array<const int64_t>& start, const Array<const int32_t>& kind,
                    const Array<const int32_t>& table) {
    const std::size_t n_axes = kind.size();
    check_size(first.size(), leaves.view.seat_player.size() + 1, "first");
    check_parts(span_of(first), n_axes, "first");
    check_size(line.size(), n_axes, "line");
    check_size(missing.size(), n_axes, "missing");
    check_size(start.size(), n_axes, "start");
    check_range(span_of(line), 0, std::numeric_limits<int32_t>::max(), "line");
    check_range(span_of(missing), 0, std::numeric_limits<int32_t>::max(), "missing");
    const Axes view{span_of(first), span_of(line), span_of(missing), span_of(start), span_of(kind), span_of(table)};
    for (int64_t seat = 0; seat < view.n_seats(); ++seat) {
        int64_t n_states = 0;
        for (int64_t axis = view.first[seat]; axis < view.first[seat + 1]; ++axis) n_states = check_axis(view, axis, n_states);
        check(n_states >= 1 && n_states <= leaves.view.n_states(seat), "the axes of a seat do not lead to its states");
    }
    return new HeldAxes(view, first, line, missing, start, kind, table);
}

void bound_write_states(const Array2<const int32_t>& cells, int64_t first, int64_t last, const HeldAxes& axes,
                        const Array<const int64_t>& seats, const Array2<std::uint16_t>& states) {
    const Axes& a = axes.view;
    const Matrix<const int32_t> lines = matrix_of(cells);
    check(first >= 0 && first <= last && last <= lines.n_columns, "more rows than cells has");
    check_range(span_of(seats), 0, a.n_seats(), "seats");
    check_size(states.shape(0), seats.size(), "states");
    check(int64_t(states.shape(1)) >= last - first, "more rows than states has");
    constexpr int64_t ANY = std::numeric_limits<int64_t>::max();  // cells are compared with cuts only, not looked up
    std::vector<int64_t> n_cells(lines.n_rows, ANY);
    for (const int64_t seat : span_of(seats))
        for (int64_t axis = a.first[seat]; axis < a.first[seat + 1]; ++axis) {
            check(a.line[axis] < lines.n_rows, "cells has no line for an axis");
            if (a.kind[axis] < 0) n_cells[a.line[axis]] = std::min(n_cells[a.line[axis]], a.missing[axis] + 1);
        }
    for (int64_t line = 0; line < lines.n_rows; ++line)
        if (n_cells[line] != ANY) check_range(std::span(lines[line] + first, std::size_t(last - first)), 0, n_cells[line], "cells");
    write_states(lines, first, last, a, span_of(seats), matrix_of(states));
}

}  // namespace

void check_states(Matrix<const std::uint16_t> states, std::span<const int64_t> state_first) {
    for (int64_t seat = 0; seat < states.n_rows; ++seat)
        check_range(std::span(states[seat], std::size_t(states.n_columns)), 0, state_first[seat + 1] - state_first[seat], "states");
}

void bind_chunks(nb::module_& m) {
    nb::class_<HeldLeaves>(m, "ChunkedLeaves")
        .def(nb::new_(&make_chunked_leaves), arg("chunk_first"), arg("leaf_order"), arg("seat_first"), arg("seat_player"),
             arg("state_first"), arg("words"));
    nb::class_<HeldAxes>(m, "Axes")
        .def(nb::new_(&make_axes), nb::arg("leaves"), arg("first"), arg("line"), arg("missing"), arg("start"), arg("kind"), arg("table"));
    m.def("make_chunks", &bound_make_chunks, arg("root"), arg("left"), arg("right"), nb::arg("boxes"), arg("player"),
          nb::arg("max_states"), nb::arg("order"));
    m.def("write_states", &bound_write_states, arg("cells"), nb::arg("first"), nb::arg("last"), nb::arg("axes"), arg("seats"),
          arg("states"), without_gil());
}

}  // namespace glasswood
