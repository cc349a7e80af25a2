#include <bit>

#include "binding.h"
#include "constants.h"
#include "leaf_tables.h"
#include "long_paths.h"

namespace glasswood {
namespace {

using HeldChunks = Held<ChunkedLeaves>;
using HeldLeaves = Held<MetricLeaves>;
using HeldTemplates = Held<Templates>;
using HeldTabled = Held<TabledLeaves>;
using HeldMasks = Held<SetMasks>;
using HeldQuadrature = Held<Quadrature>;

HeldLeaves* make_metric_leaves(const HeldChunks& chunks, const Array<const int32_t>& n_players, const Array<const int64_t>& slot_first,
                               const Array<const int64_t>& seat, const Array<const int64_t>& output,
                               const Array<const int64_t>& output_place, const Array<const int64_t>& n_sets,
                               const Array<const int64_t>& set_first, const Array<const int64_t>& set, int64_t n_values, int64_t n_outputs,
                               int64_t n_numbers) {
    const ChunkedLeaves& c = chunks.view;
    const std::size_t n_leaves = c.leaf_order.size();
    const MetricLeaves view{span_of(n_players), span_of(slot_first), span_of(seat), span_of(output), span_of(output_place), span_of(n_sets),
                            span_of(set_first), span_of(set),        n_values,      n_outputs,       n_numbers};
    check_size(n_players.size(), n_leaves, "n_players");
    check_size(slot_first.size(), n_leaves + 1, "slot_first");
    check_size(output.size(), n_leaves, "output");
    check_size(set_first.size(), n_leaves + 1, "set_first");
    check_parts(view.slot_first, seat.size(), "slot_first");
    check_parts(view.set_first, set.size(), "set_first");
    check(n_values >= 0 && n_outputs >= 0 && n_numbers >= 0, "a number is negative");
    check_range(view.n_players, 0, std::min<int64_t>(int64_t(n_sets.size()), MAX_PATH_PLAYERS + 1), "n_players");
    check_range(view.set, 0, n_numbers, "set");
    check_range(view.output_place, -1, n_outputs, "output_place");
    check_range(view.output, 0, int64_t(output_place.size()) - n_values + 1, "output");
    for (int64_t chunk = 0; chunk < c.n_chunks(); ++chunk)
        for (int64_t place = c.chunk_first[chunk]; place < c.chunk_first[chunk + 1]; ++place) {
            const int32_t leaf = c.leaf_order[place];
            const int64_t first = view.slot_first[leaf], n = view.slot_first[leaf + 1] - first;
            check(n == view.n_players[leaf], "slot_first does not fit n_players");
            check(view.set_first[leaf + 1] - view.set_first[leaf] == view.n_sets[n], "set_first does not fit n_sets");
            check_range(view.seat.subspan(first, n), c.seat_first[chunk], c.seat_first[chunk + 1], "the seats of a leaf");
        }
    return new HeldLeaves(view, n_players, slot_first, seat, output, output_place, n_sets, set_first, set);
}

HeldTemplates* make_templates(const Array<const int64_t>& n_sets, const Array<const int64_t>& first, const Array<const int32_t>& target,
                              const Array<const int32_t>& broken, const Array<const double>& value) {
    const Templates view{span_of(n_sets), span_of(first), span_of(target), span_of(broken), span_of(value)};
    check(n_sets.size() <= MAX_TABLE_PLAYERS + 1, "templates have too many players");
    check_size(first.size(), n_sets.size() + 1, "first");
    check_parts(view.first, value.size(), "first");
    check_size(target.size(), value.size(), "target");
    check_size(broken.size(), value.size(), "broken");
    check_range(view.n_sets, 0, int64_t(1) << 32, "n_sets");
    for (std::size_t used = 0; used < n_sets.size(); ++used) {
        const int64_t at = view.first[used], n = view.first[used + 1] - at;
        check_range(view.target.subspan(at, n), 0, view.n_sets[used] << used, "target");
        check_range(view.broken.subspan(at, n), 0, int64_t(1) << used, "broken");
    }
    return new HeldTemplates(view, n_sets, first, target, broken, value);
}

HeldTabled* make_tabled_leaves(const HeldTemplates& templates, const Array<const int32_t>& n_players, const Array2<const double>& value,
                               const Array<const int64_t>& table_first, const Array<const int64_t>& partner,
                               const Array<const int64_t>& partner_bit) {
    const TabledLeaves view{span_of(n_players), matrix_of(value), span_of(table_first), span_of(partner), span_of(partner_bit)};
    const std::size_t n_leaves = n_players.size();
    check_size(value.shape(0), n_leaves, "value");
    check_size(table_first.size(), n_leaves, "table_first");
    check_size(partner.size(), n_leaves, "partner");
    check_size(partner_bit.size(), n_leaves, "partner_bit");
    check_range(view.n_players, 0, int64_t(templates.view.n_sets.size()), "n_players");
    check_range(view.partner, -1, int64_t(n_leaves), "partner");
    for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
        if (view.partner[leaf] < 0) continue;
        check(view.n_players[view.partner[leaf]] == view.n_players[leaf], "partners have different numbers of players");
        check(view.partner_bit[leaf] >= 0 && view.partner_bit[leaf] >> view.n_players[leaf] == 0, "partner_bit is no player of the leaf");
    }
    return new HeldTabled(view, n_players, value, table_first, partner, partner_bit);
}

// The tables of leaves end before the table does, with what must be behind them.
void check_tables(std::span<const int32_t> n_players, std::span<const int64_t> n_sets, std::span<const int64_t> table_first, int64_t n_values,
                  std::size_t n_entries) {
    const int64_t end = int64_t(n_entries) - BEHIND;
    for (std::size_t leaf = 0; leaf < n_players.size(); ++leaf)
        check(table_first[leaf] < 0 || table_first[leaf] + (n_sets[n_players[leaf]] << n_players[leaf]) * n_values <= end,
              "the tables of a leaf end behind the table");
}

void bound_fill_leaf_tables(int64_t first, int64_t last, const HeldTabled& leaves, const HeldTemplates& templates,
                            const Array<const int64_t>& leaf_offset, const Array<const double>& exact, const Array<double>& table) {
    const TabledLeaves& l = leaves.view;
    const int64_t n_leaves = int64_t(l.n_players.size());
    check(first >= 0 && first <= last && last <= n_leaves, "leaves that there are not");
    check_size(leaf_offset.size(), std::size_t(n_leaves) + 1, "leaf_offset");
    check_range(l.n_players, 0, int64_t(templates.view.n_sets.size()), "n_players");
    const auto check_counts = [&](int64_t leaf) {
        const int64_t at = leaf_offset.data()[leaf], n = int64_t(1) << l.n_players[leaf];
        check(at >= 0 && at + n <= int64_t(exact.size()), "the counts of a leaf end behind the counts");
    };
    for (int64_t leaf = first; leaf < last; ++leaf) {
        check_counts(leaf);
        if (l.partner[leaf] >= 0) check_counts(l.partner[leaf]);
    }
    check_tables(l.n_players.subspan(first, last - first), templates.view.n_sets, l.table_first.subspan(first, last - first),
                 l.value.n_columns, table.size());
    fill_leaf_tables(first, last, l, templates.view, span_of(leaf_offset), span_of(exact), span_of(table));
}

void bound_add_leaf_tables(const Array2<const std::uint16_t>& states, const HeldChunks& chunks, const HeldLeaves& leaves,
                           const Array<const int64_t>& table_first, const Array<const double>& table, const Array2<double>& out) {
    const MetricLeaves& l = leaves.view;
    check_size(states.shape(0), chunks.view.seat_player.size(), "states");
    check(states.shape(1) % BATCH == 0, "the number of rows is no multiple of 32");
    check_states(matrix_of(states), chunks.view.state_first);
    check_size(l.n_players.size(), chunks.view.leaf_order.size(), "leaves");
    check_size(table_first.size(), l.n_players.size(), "table_first");
    check_range(l.n_players, 0, MAX_TABLE_PLAYERS + 1, "n_players");
    check_tables(l.n_players, l.n_sets, span_of(table_first), l.n_values, table.size());
    check_size(out.shape(0), std::size_t(l.n_numbers * l.n_outputs), "out");
    check_size(out.shape(1), states.shape(1), "a line of out");
    add_leaf_tables(matrix_of(states), chunks.view, l, span_of(table_first), span_of(table), matrix_of(out));
}

HeldMasks* make_set_masks(const Array<const int64_t>& first, const Array<const Word>& mask) {
    const SetMasks view{span_of(first), span_of(mask)};
    check_parts(view.first, mask.size(), "first");
    check(first.size() <= MAX_PATH_PLAYERS + 2, "masks have too many players");
    for (std::size_t used = 0; used + 1 < first.size(); ++used) {
        const std::span<const Word> masks = view.mask.subspan(view.first[used], view.first[used + 1] - view.first[used]);
        for (const Word one : masks) check(one >> used == 0, "a mask has more players than its path");
        if (masks.empty() || std::popcount(masks[0]) != 1) continue;
        check(masks.size() >= used, "sets of one player do not come first");
        for (std::size_t x = 0; x < used; ++x) check(masks[x] == Word(1) << x, "sets of one player do not come first");
    }
    return new HeldMasks(view, first, mask);
}

HeldQuadrature* make_quadrature(const Array<const int64_t>& first, const Array<const double>& point, const Array<const double>& weight) {
    check_parts(span_of(first), point.size(), "first");
    check_size(weight.size(), point.size(), "weight");
    return new HeldQuadrature(Quadrature{span_of(first), span_of(point), span_of(weight)}, first, point, weight);
}

void check_states_of_chunk(int64_t chunk, const Array2<const std::uint16_t>& states, const ChunkedLeaves& chunks) {
    const int64_t first = chunks.seat_first[chunk], n_seats = chunks.seat_first[chunk + 1] - first;
    check_size(states.shape(0), std::size_t(n_seats), "states");
    check_states(matrix_of(states), chunks.state_first.subspan(first, n_seats + 1));
}

// What both ways rely on, for the leaves of a chunk.
void check_paths(int64_t chunk, const ChunkedLeaves& chunks, const MetricLeaves& leaves, const Array2<const double>& value,
                 const SetMasks& sets, const Array3<double>& out, std::size_t n_rows) {
    check_size(leaves.n_players.size(), chunks.leaf_order.size(), "leaves");
    check_size(value.shape(0), chunks.leaf_order.size(), "value");
    check_size(value.shape(1), std::size_t(leaves.n_values), "a line of value");
    check_size(out.shape(0), std::size_t(leaves.n_numbers), "out");
    check_size(out.shape(1), std::size_t(leaves.n_outputs), "out, for a set,");
    check_size(out.shape(2), n_rows, "a line of out");
    for (int64_t place = chunks.chunk_first[chunk]; place < chunks.chunk_first[chunk + 1]; ++place) {
        const int32_t used = leaves.n_players[chunks.leaf_order[place]];
        check(used + 1 < int64_t(sets.first.size()), "there are no sets of a path");
        check(sets.first[used + 1] - sets.first[used] == leaves.n_sets[used], "a path has other sets than its leaf");
    }
}

void check_chunk(int64_t chunk, const ChunkedLeaves& chunks) { check(chunk >= 0 && chunk < chunks.n_chunks(), "there is no such chunk"); }

// The values on cubes that the sets of the leaves of a chunk need.
void check_values(int64_t chunk, const ChunkedLeaves& chunks, const MetricLeaves& leaves, const SetMasks& sets, const Array3<const double>& values) {
    for (int64_t place = chunks.chunk_first[chunk]; place < chunks.chunk_first[chunk + 1]; ++place) {
        const std::size_t used = leaves.n_players[chunks.leaf_order[place]];
        check(values.shape(1) > used && values.shape(2) > used, "there are no values of a path");
        for (int64_t x = sets.first[used]; x < sets.first[used + 1]; ++x)
            check(std::size_t(kind_of_set(std::popcount(sets.mask[x]) + 1, 0)) <= values.shape(0), "there are no values of a set");
    }
}

void bound_add_long_paths(int64_t chunk, const Array2<const std::uint16_t>& here, const Array2<const std::uint16_t>& there,
                          const Array<const double>& weight, const HeldChunks& chunks, const HeldLeaves& leaves,
                          const Array2<const double>& value, const HeldMasks& sets, const Array3<const double>& values,
                          const Array3<double>& out) {
    check_chunk(chunk, chunks.view);
    check_states_of_chunk(chunk, here, chunks.view);
    check_states_of_chunk(chunk, there, chunks.view);
    check_size(weight.size(), there.shape(1), "weight");
    check_paths(chunk, chunks.view, leaves.view, value, sets.view, out, here.shape(1));
    check_values(chunk, chunks.view, leaves.view, sets.view, values);
    add_long_paths(chunk, matrix_of(here), matrix_of(there), span_of(weight), chunks.view, leaves.view, matrix_of(value), sets.view,
                   cube_of(values), cube_of(out));
}

void bound_add_weighed_paths(int64_t chunk, const Array2<const std::uint16_t>& states, const Array<const double>& share,
                             const HeldChunks& chunks, const HeldLeaves& leaves, const Array2<const double>& value, const HeldMasks& sets,
                             const Array3<const double>& values, const Array3<double>& out) {
    check_chunk(chunk, chunks.view);
    check_states_of_chunk(chunk, states, chunks.view);
    check_paths(chunk, chunks.view, leaves.view, value, sets.view, out, states.shape(1));
    check_size(share.size(), leaves.view.seat.size(), "share");
    check_values(chunk, chunks.view, leaves.view, sets.view, values);
    add_weighed_paths(chunk, matrix_of(states), span_of(share), chunks.view, leaves.view, matrix_of(value), sets.view, cube_of(values),
                      cube_of(out));
}

void bound_add_shared_paths(int64_t chunk, const Array2<const std::uint16_t>& states, const Array<const double>& share,
                            const HeldChunks& chunks, const HeldLeaves& leaves, const Array2<const double>& value, const HeldMasks& sets,
                            const HeldQuadrature& nodes, const Array3<double>& out) {
    check_chunk(chunk, chunks.view);
    check_states_of_chunk(chunk, states, chunks.view);
    check_paths(chunk, chunks.view, leaves.view, value, sets.view, out, states.shape(1));
    check_size(share.size(), leaves.view.seat.size(), "share");
    for (int64_t place = chunks.view.chunk_first[chunk]; place < chunks.view.chunk_first[chunk + 1]; ++place)
        check(leaves.view.n_players[chunks.view.leaf_order[place]] + 1 < int64_t(nodes.view.first.size()), "there are no points of a path");
    add_shared_paths(chunk, matrix_of(states), span_of(share), chunks.view, leaves.view, matrix_of(value), sets.view, nodes.view,
                     cube_of(out));
}

}  // namespace

void bind_leaves(nb::module_& m) {
    nb::class_<HeldLeaves>(m, "MetricLeaves")
        .def(nb::new_(&make_metric_leaves), nb::arg("chunks"), arg("n_players"), arg("slot_first"), arg("seat"), arg("output"),
             arg("output_place"), arg("n_sets"), arg("set_first"), arg("set"), nb::arg("n_values"), nb::arg("n_outputs"),
             nb::arg("n_numbers"));
    nb::class_<HeldTemplates>(m, "Templates")
        .def(nb::new_(&make_templates), arg("n_sets"), arg("first"), arg("target"), arg("broken"), arg("value"));
    nb::class_<HeldTabled>(m, "TabledLeaves")
        .def(nb::new_(&make_tabled_leaves), nb::arg("templates"), arg("n_players"), arg("value"), arg("table_first"), arg("partner"),
             arg("partner_bit"));
    nb::class_<HeldMasks>(m, "SetMasks").def(nb::new_(&make_set_masks), arg("first"), arg("mask"));
    nb::class_<HeldQuadrature>(m, "Quadrature").def(nb::new_(&make_quadrature), arg("first"), arg("point"), arg("weight"));
    m.def("fill_leaf_tables", &bound_fill_leaf_tables, nb::arg("first"), nb::arg("last"), nb::arg("leaves"), nb::arg("templates"),
          arg("leaf_offset"), arg("exact"), arg("table"), without_gil());
    m.def("add_leaf_tables", &bound_add_leaf_tables, arg("states"), nb::arg("chunks"), nb::arg("leaves"), arg("table_first"), arg("table"),
          arg("out"), without_gil());
    m.def("add_long_paths", &bound_add_long_paths, nb::arg("chunk"), arg("here"), arg("there"), arg("weight"), nb::arg("chunks"),
          nb::arg("leaves"), arg("value"), nb::arg("sets"), arg("values"), arg("out"), without_gil());
    m.def("add_shared_paths", &bound_add_shared_paths, nb::arg("chunk"), arg("states"), arg("share"), nb::arg("chunks"), nb::arg("leaves"),
          arg("value"), nb::arg("sets"), nb::arg("nodes"), arg("out"), without_gil());
    m.def("add_weighed_paths", &bound_add_weighed_paths, nb::arg("chunk"), arg("states"), arg("share"), nb::arg("chunks"),
          nb::arg("leaves"), arg("value"), nb::arg("sets"), arg("values"), arg("out"), without_gil());
}

}  // namespace glasswood
