#include "binding.h"
#include "constants.h"
#include "interactions.h"

namespace glasswood {
namespace {

using HeldChunks = Held<ChunkedLeaves>;
using HeldPlayers = Held<PlayersOfLeaves>;
using HeldTerms = Held<TermTables>;

struct HeldLookups : Held<Lookups> {
    SeatsOfEntries seats;

    template <class... Arrays>
    HeldLookups(const Lookups& view, SeatsOfEntries&& found, const Arrays&... arrays) : Held<Lookups>(view, arrays...), seats(std::move(found)) {
        this->view.seats = &seats;
    }
};

struct GrowingSets {
    Matrix<const int32_t> plus;
    std::span<const int64_t> size;
    int64_t order;
};
using HeldSets = Held<GrowingSets>;

HeldPlayers* make_players(const Array<const int64_t>& first, const Array<const int32_t>& feature, const Array<const int32_t>& slot,
                          const Array<const int32_t>& player, const Array<const bool>& wanted) {
    check(first.size() >= 1, "first has an entry more than there are leaves");
    check_parts(span_of(first), feature.size(), "first");
    check_size(slot.size(), feature.size(), "slot");
    check_range(span_of(feature), 0, int64_t(player.size()), "feature");
    check_range(span_of(player), 0, int64_t(wanted.size()), "player");
    const PlayersOfLeaves view{span_of(first), span_of(feature), span_of(slot), span_of(player), span_of(wanted)};
    return new HeldPlayers(view, first, feature, slot, player, wanted);
}

WantedSets sets_of(const Array<const int64_t>& size, const Array<const int32_t>& rest) {
    check(size.size() >= 1, "size has an entry more than there are players");
    check_starts(span_of(size), int64_t(rest.size()), "size");
    check(size.data()[0] == 1 && size.data()[size.size() - 1] == int64_t(rest.size()), "size does not fit rest");
    for (std::size_t i = 1; i < rest.size(); ++i)
        check(rest.data()[i] >= 0 && rest.data()[i] < int64_t(i), "rest leads to a later set");
    return {span_of(size), span_of(rest)};
}

void check_chunks_and_players(const ChunkedLeaves& chunks, const PlayersOfLeaves& players) {
    check_size(chunks.leaf_order.size() + 1, players.first.size(), "leaf_order, and one,");
    check_range(chunks.seat_player, 0, int64_t(players.wanted.size()), "seat_player");
}

using HeldBlock = Held<SetBlock>;

HeldBlock* make_set_block(const Array<const int32_t>& prefix, int32_t first, int32_t last, bool own) {
    const std::span<const int32_t> players = span_of(prefix);
    for (std::size_t i = 1; i < players.size(); ++i) check(players[i - 1] < players[i], "prefix is not in increasing order");
    check(players.empty() || (players[0] >= 0 && players.back() < first), "first is not behind the prefix");
    return new HeldBlock(SetBlock{players, first, last, own}, prefix);
}

nb::object bound_find_terms(int64_t first, int64_t last, const HeldChunks& chunks, const HeldPlayers& players,
                            const Array<const int64_t>& size, const Array<const int32_t>& rest, const HeldBlock& block, int64_t max_entries) {
    check_chunks_and_players(chunks.view, players.view);
    check(first >= 0 && first <= last && last <= chunks.view.n_chunks(), "there are no such chunks");
    const WantedSets sets = sets_of(size, rest);
    Terms found;
    Found which;
    {
        nb::gil_scoped_release release;
        which = find_terms(first, last, chunks.view, players.view, sets, block.view, max_entries, found);
    }
    check(which != Found::TOO_MANY_PLAYERS, "a path has more players than size");
    if (which == Found::TOO_MANY_ENTRIES) return nb::none();
    return nb::make_tuple(numpy_of(std::move(found.set)), numpy_of(std::move(found.rest)), numpy_of(std::move(found.seat)),
                          numpy_of(std::move(found.size)), numpy_of(std::move(found.first)), numpy_of(std::move(found.pair_term)),
                          numpy_of(std::move(found.pair_first)), numpy_of(std::move(found.set_rest)),
                          numpy_of(std::move(found.set_last)), numpy_of(std::move(found.set_size)));
}

// The counted sets: `plus` is the number of a set with one more player. Sets of up to `order` players can grow by any
// player that they lack, and sets of the first u players stay among the first size[u] if they grow by one of these.
HeldSets* make_growing_sets(const Array2<const int32_t>& plus, const Array<const int64_t>& size, int64_t order) {
    const int64_t n_sets = int64_t(plus.shape(1)), n_players = int64_t(size.size()) - 1;
    check(size.size() >= 1 && int64_t(plus.shape(0)) >= n_players, "plus has a line for each player");
    check_starts(span_of(size), n_sets, "size");
    check_size(std::size_t(size.data()[n_players]), plus.shape(1), "a line of plus");
    const Matrix<const int32_t> grown = matrix_of(plus);
    std::vector<bool> has(std::size_t(n_players * n_sets));
    std::vector<int64_t> n_of(std::size_t(n_sets), 0);
    for (int64_t i = 0, known = 0; i < n_sets; ++i) {
        while (i >= size.data()[known]) ++known;  // the set is one of the first `known` players
        for (int64_t player = 0; player < n_players; ++player) {
            const int64_t j = grown[player][i];
            if (j < 0) {
                check(has[player * n_sets + i] || n_of[i] >= order, "a set cannot grow to the order");
                continue;
            }
            check(j > i && j < size.data()[std::max(known, player + 1)], "plus leads to no later set of the same players");
            n_of[j] = n_of[i] + 1;
            for (int64_t other = 0; other < n_players; ++other)
                if (has[other * n_sets + i] || other == player) has[other * n_sets + j] = true;
        }
    }
    return new HeldSets(GrowingSets{grown, span_of(size), order}, plus, size);
}

// Terms lead to earlier ones until one has no seat, over seats that there are.
void check_terms(std::span<const int32_t> rest, std::span<const int32_t> seat, int64_t n_seats) {
    check_size(seat.size(), rest.size(), "seat");
    check_range(seat, -1, n_seats, "seat");
    for (std::size_t term = 0; term < rest.size(); ++term)
        check(seat[term] < 0 || (rest[term] >= 0 && rest[term] < int64_t(term)), "rest leads to a later term");
}

// The number of combinations of states of a term, or more than `most`.
int64_t n_states_of(int32_t term, std::span<const int32_t> rest, std::span<const int32_t> seat, std::span<const int64_t> state_first,
                    int64_t most) {
    int64_t n = 1;
    for (; seat[term] >= 0 && n <= most; term = rest[term]) n *= state_first[seat[term] + 1] - state_first[seat[term]];
    return n;
}

HeldTerms* make_term_tables(const HeldChunks& chunks, const Array<const int32_t>& rest, const Array<const int32_t>& seat,
                            const Array<const int32_t>& pair_term, const Array<const int64_t>& pair_first,
                            const Array<const int64_t>& table_first, int64_t n_values) {
    check_terms(span_of(rest), span_of(seat), int64_t(chunks.view.seat_player.size()));
    check_size(pair_first.size(), chunks.view.leaf_order.size() + 1, "pair_first");
    check_parts(span_of(pair_first), pair_term.size(), "pair_first");
    check_range(span_of(pair_term), 0, int64_t(rest.size()), "pair_term");
    check_size(table_first.size(), rest.size() + 1, "table_first");
    check_starts(span_of(table_first), std::numeric_limits<int64_t>::max() - 1, "table_first");
    for (std::size_t term = 0; term < rest.size(); ++term) {
        const int64_t places = table_first.data()[term + 1] - table_first.data()[term];
        if (seat.data()[term] >= 0)
            check(n_states_of(int32_t(term), span_of(rest), span_of(seat), chunks.view.state_first, places) * n_values == places,
                  "a table has another size than its states");
    }
    const TermTables view{span_of(rest), span_of(seat), span_of(pair_term), span_of(pair_first), span_of(table_first), n_values};
    return new HeldTerms(view, rest, seat, pair_term, pair_first, table_first);
}

// The number of players of the largest set.
int64_t max_players(std::span<const int32_t> rest) {
    std::vector<int64_t> n_of(rest.size(), 0);
    for (std::size_t i = 1; i < rest.size(); ++i) n_of[i] = n_of[rest[i]] + 1;
    return *std::max_element(n_of.begin(), n_of.end());
}

void bound_fill_tables(int64_t first, int64_t last, const HeldChunks& chunks, const HeldPlayers& players, const Array<const int64_t>& size,
                       const Array<const int32_t>& rest, const HeldBlock& block, const HeldSets& counted, const HeldTerms& terms,
                       const Array2<const double>& value, const Array<const int64_t>& leaf_offset, const Array<const double>& exact,
                       const Array<double>& table) {
    const std::size_t n_leaves = chunks.view.leaf_order.size();
    check_chunks_and_players(chunks.view, players.view);
    const WantedSets sets = sets_of(size, rest);
    check(int64_t(block.view.prefix.size()) + max_players(sets.rest) <= counted.view.order, "a set has more players than were counted");
    check(first >= 0 && first <= last && last <= chunks.view.n_chunks(), "there are no such chunks");
    check_size(terms.view.pair_first.size(), n_leaves + 1, "pair_first");
    check_size(value.shape(0), n_leaves, "value");
    check_size(value.shape(1), std::size_t(terms.view.n_values), "a line of value");
    check_size(leaf_offset.size(), n_leaves + 1, "leaf_offset");
    check_parts(span_of(leaf_offset), exact.size(), "leaf_offset");
    check(int64_t(table.size()) >= terms.view.table_first.back(), "table is too short");
    check_range(players.view.slot, 0, std::max<int64_t>(1, int64_t(counted.view.size.size()) - 1), "slot");
    for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
        int64_t used = 0;
        for (int64_t box = players.view.first[leaf]; box < players.view.first[leaf + 1]; ++box)
            used = std::max<int64_t>(used, players.view.slot[box] + 1);
        check(counted.view.size[used] <= leaf_offset.data()[leaf + 1] - leaf_offset.data()[leaf], "a leaf has too few counts");
    }
    check(fill_tables(first, last, chunks.view, players.view, sets, block.view, counted.view.plus, terms.view,
                      LeafCounts{matrix_of(value), span_of(leaf_offset), span_of(exact)}, span_of(table)),
          "the terms are not those of the chunks");
}

HeldLookups* make_lookups(const Array<const int64_t>& group_order, const Array<const int64_t>& group_first,
                          const Array<const int32_t>& entry_term, const Array<const int64_t>& entry_table, const Array<const int32_t>& rest,
                          const Array<const int32_t>& seat, const Array<const int64_t>& state_first, const Array<const double>& table) {
    check(group_first.size() >= 1 && state_first.size() >= 1, "group_first and state_first have an entry more");
    check_range(span_of(group_order), 0, int64_t(group_first.size()) - 1, "group_order");
    check_starts(span_of(group_first), int64_t(entry_term.size()), "group_first");
    check_size(entry_table.size(), entry_term.size(), "entry_table");
    check_range(span_of(entry_term), 0, int64_t(rest.size()), "entry_term");
    check_terms(span_of(rest), span_of(seat), int64_t(state_first.size()) - 1);
    check_starts(span_of(state_first), std::numeric_limits<int64_t>::max() - 1, "state_first");
    SeatsOfEntries seats = seats_of_entries(span_of(entry_term), span_of(rest), span_of(seat), span_of(state_first));
    for (std::size_t entry = 0; entry < entry_term.size(); ++entry) {
        check(seats.first[entry + 1] - seats.first[entry] <= MAX_SEATS, "a term has too many seats");
        const int64_t begin = entry_table.data()[entry], n = seats.table_size[entry];
        check(begin >= 0 && n <= int64_t(table.size()) && begin + n + BEHIND <= int64_t(table.size()), "a table ends behind the tables");
    }
    const Lookups view{span_of(group_order), span_of(group_first), nullptr, span_of(entry_table), span_of(state_first), span_of(table)};
    return new HeldLookups(view, std::move(seats), group_order, group_first, entry_table, state_first, table);
}

void bound_look_up(const Array2<const std::uint16_t>& states, int64_t n_rows, int64_t sum_width, const HeldLookups& lookups, int64_t first,
                   const Array2<double>& out, const Array2<double>& sums) {
    const std::size_t n_groups = lookups.view.group_first.size() - 1;
    check_size(states.shape(0), lookups.view.state_first.size() - 1, "states");
    check(states.shape(1) % BATCH == 0, "the number of columns of states is no multiple of 32");
    check(n_rows >= 0 && n_rows <= int64_t(states.shape(1)) && first >= 0, "more rows than states");
    check(sum_width > 0 && sum_width % BATCH == 0, "sum_width is no multiple of 32");
    check_states(matrix_of(states), lookups.view.state_first);
    if (out.shape(0) > 0) {
        check_size(out.shape(0), n_groups, "out");
        check(first + n_rows <= int64_t(out.shape(1)), "out has too few columns");
    }
    if (sums.shape(1) > 0) {
        check_size(sums.shape(0), 3, "sums");
        check_size(sums.shape(1), n_groups, "a line of sums");
    }
    look_up(matrix_of(states), n_rows, sum_width, lookups.view, first, matrix_of(out), matrix_of(sums));
}

}  // namespace

void bind_interactions(nb::module_& m) {
    nb::class_<HeldPlayers>(m, "PlayersOfLeaves")
        .def(nb::new_(&make_players), arg("first"), arg("feature"), arg("slot"), arg("player"), arg("wanted"));
    nb::class_<HeldTerms>(m, "TermTables")
        .def(nb::new_(&make_term_tables), nb::arg("chunks"), arg("rest"), arg("seat"), arg("pair_term"), arg("pair_first"),
             arg("table_first"), nb::arg("n_values"));
    nb::class_<HeldLookups>(m, "Lookups")
        .def(nb::new_(&make_lookups), arg("group_order"), arg("group_first"), arg("entry_term"), arg("entry_table"), arg("rest"),
             arg("seat"), arg("state_first"), arg("table"));
    nb::class_<HeldSets>(m, "GrowingSets").def(nb::new_(&make_growing_sets), arg("plus"), arg("size"), nb::arg("order"));
    nb::class_<HeldBlock>(m, "SetBlock")
        .def(nb::new_(&make_set_block), arg("prefix"), nb::arg("first"), nb::arg("last"), nb::arg("own"));
    m.def("find_terms", &bound_find_terms, nb::arg("first"), nb::arg("last"), nb::arg("chunks"), nb::arg("players"), arg("size"), arg("rest"),
          nb::arg("block"), nb::arg("max_entries"));
    m.def("fill_tables", &bound_fill_tables, nb::arg("first"), nb::arg("last"), nb::arg("chunks"), nb::arg("players"), arg("size"),
          arg("rest"), nb::arg("block"), nb::arg("counted"), nb::arg("terms"), arg("value"), arg("leaf_offset"), arg("exact"), arg("table"), without_gil());
    m.def("look_up", &bound_look_up, arg("states"), nb::arg("n_rows"), nb::arg("sum_width"), nb::arg("lookups"), nb::arg("first"), arg("out"), arg("sums"),
          without_gil());
}

}  // namespace glasswood
