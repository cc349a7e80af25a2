#include "binding.h"
#include "constants.h"
#include "derived.h"

namespace glasswood {
namespace {

using HeldChunks = Held<ChunkedLeaves>;

// Derived columns, and where their numbers are.
struct HeldDerived : Held<DerivedColumns> {
    template <class... Arrays>
    HeldDerived(DerivedColumns view, std::vector<int64_t> n_cells, const Arrays&... arrays)
        : Held<DerivedColumns>(view, arrays...), n_cells(std::move(n_cells)), places(view) {}

    std::vector<int64_t> n_cells;  // of each part
    Places places;
};

HeldDerived* make_derived(const Array<const int64_t>& part_first, const Array<const int32_t>& line, const Array<const int64_t>& n_cells,
                          const Array<const Word>& part, const Array<const int64_t>& entry_first, const Array<const Word>& entry,
                          const Array<const int64_t>& column_first, const Array<const int64_t>& rank_first,
                          const Array<const std::uint8_t>& rank, const Array<const int64_t>& table) {
    check(part_first.size() >= 1, "part_first has an entry more than there are keys");
    const std::size_t n_keys = part_first.size() - 1;
    check_parts(span_of(part_first), line.size(), "part_first");
    check_size(n_cells.size(), line.size(), "n_cells");
    check_size(table.size(), line.size(), "table");
    for (std::size_t p = 0; p < line.size(); ++p)
        check(line.data()[p] >= 0 && n_cells.data()[p] >= 1 && table.data()[p] >= 0 &&
                  table.data()[p] + n_cells.data()[p] <= int64_t(part.size()),
              "a part is not in the table of parts");
    check_size(entry_first.size(), n_keys + 1, "entry_first");
    check_parts(span_of(entry_first), entry.size(), "entry_first");
    check_size(column_first.size(), n_keys + 1, "column_first");
    check_parts(span_of(column_first), rank_first.size(), "column_first");
    for (std::size_t key = 0; key < n_keys; ++key) {
        const int64_t n_ranks = 1 + entry_first.data()[key + 1] - entry_first.data()[key];
        for (int64_t c = column_first.data()[key]; c < column_first.data()[key + 1]; ++c)
            check(rank_first.data()[c] >= 0 && rank_first.data()[c] + n_ranks <= int64_t(rank.size()), "a column has too few ranks");
    }
    const DerivedColumns view{span_of(part_first), span_of(line),         span_of(table),      span_of(part),
                              span_of(entry_first), span_of(entry),        span_of(column_first), span_of(rank_first),
                              span_of(rank)};
    std::vector<int64_t> sizes(n_cells.data(), n_cells.data() + n_cells.size());
    return new HeldDerived(view, std::move(sizes), part_first, line, table, part, entry_first, entry, column_first, rank_first, rank);
}

// The cells of the rows from `first` to `last` are cells of the parts.
void check_cells(Matrix<const int32_t> cells, int64_t first, int64_t last, const HeldDerived& derived) {
    for (std::size_t p = 0; p < derived.view.line.size(); ++p) {
        check(derived.view.line[p] < cells.n_rows, "there are fewer lines of cells than parts look at");
        check_range(std::span<const int32_t>(cells[derived.view.line[p]] + first, last - first), 0, derived.n_cells[p], "cells");
    }
}

void bound_write_ranks(const Array2<const int32_t>& cells, const HeldDerived& derived, const Array2<int32_t>& ranks) {
    check_size(ranks.shape(0), std::size_t(derived.view.n_columns()), "ranks");
    check_size(ranks.shape(1), cells.shape(1), "a line of ranks");
    check_cells(matrix_of(cells), 0, int64_t(cells.shape(1)), derived);
    write_ranks(matrix_of(cells), derived.view, derived.places, matrix_of(ranks));
}

using HeldChanges = Held<Changes>;

HeldChanges* make_changes(const HeldChunks& chunks, const HeldDerived& derived, const Array<const int64_t>& key,
                          const Array<const int64_t>& kept_part_first, const Array<const int64_t>& kept_part,
                          const Array2<const Word>& moved, const Array<const int64_t>& chunk, const Array<const int64_t>& kept_seat_first,
                          const Array<const int64_t>& kept_seat, const Array<const int64_t>& seat_first, const Array<const int64_t>& seat,
                          const Array<const int64_t>& column, const Array<const int64_t>& line_first,
                          const Array<const int64_t>& line_chunk, const Array<const Word>& line_word) {
    check_range(span_of(key), 0, derived.view.n_keys(), "key");
    check_size(kept_part_first.size(), key.size() + 1, "kept_part_first");
    check_parts(span_of(kept_part_first), kept_part.size(), "kept_part_first");
    check_range(span_of(kept_part), 0, int64_t(derived.view.line.size()), "kept_part");
    check(line_first.size() >= 1, "line_first has an entry more than there are questions");
    check_size(moved.shape(0), line_first.size() - 1, "moved");
    check_size(moved.shape(1), key.size(), "moved, for a question,");
    check_range(span_of(chunk), 0, chunks.view.n_chunks(), "chunk");
    check_size(kept_seat_first.size(), chunk.size() + 1, "kept_seat_first");
    check_parts(span_of(kept_seat_first), kept_seat.size(), "kept_seat_first");
    check_range(span_of(kept_seat), 0, chunks.view.n_seats(), "kept_seat");
    check_size(seat_first.size(), chunk.size() + 1, "seat_first");
    check_parts(span_of(seat_first), seat.size(), "seat_first");
    check_range(span_of(seat), 0, chunks.view.n_seats(), "seat");
    check_size(column.size(), seat.size(), "column");
    check_range(span_of(column), 0, derived.view.n_columns(), "column");
    check_parts(span_of(line_first), line_chunk.size(), "line_first");
    check_range(span_of(line_chunk), 0, int64_t(chunk.size()), "line_chunk");
    check_size(line_word.size(), line_chunk.size(), "line_word");
    const Changes view{span_of(key),       span_of(kept_part_first), span_of(kept_part),  matrix_of(moved),    span_of(chunk),
                       span_of(kept_seat_first), span_of(kept_seat),       span_of(seat_first), span_of(seat),       span_of(column),
                       span_of(line_first), span_of(line_chunk),      span_of(line_word)};
    return new HeldChanges(view, key, kept_part_first, kept_part, moved, chunk, kept_seat_first, kept_seat, seat_first, seat, column,
                           line_first, line_chunk, line_word);
}

void bound_write_changed_replies(const Array2<const int32_t>& cells, int64_t cell_row, const Array2<const std::uint16_t>& states, int64_t row,
                                 const HeldChunks& chunks, const HeldDerived& derived, const HeldChanges& changes,
                                 const Array<const int64_t>& word_first, const Array<const Word>& word, const Array3<const double>& value,
                                 const Array3<double>& reply) {
    const Changes& c = changes.view;
    const int64_t n_rows = int64_t(reply.shape(2)), n_ranks = 256;
    check(n_rows % PARTS == 0, "the number of rows is no multiple of 8");
    check(cell_row >= 0 && cell_row <= int64_t(cells.shape(1)), "rows that are not in cells");
    check_cells(matrix_of(cells), cell_row, std::min(int64_t(cells.shape(1)), cell_row + n_rows), derived);
    check_size(states.shape(0), std::size_t(chunks.view.n_seats()), "states");
    check(row >= 0 && row + n_rows <= int64_t(states.shape(1)), "rows that are not in states");
    for (const int64_t seat : c.kept_seat)
        check_range(std::span<const std::uint16_t>(matrix_of(states)[seat] + row, n_rows), 0, chunks.view.n_states(seat), "states");
    check_size(word_first.size(), std::size_t(chunks.view.n_seats()), "word_first");
    for (const int64_t seat : c.seat)
        check(word_first.data()[seat] >= 0 && word_first.data()[seat] + n_ranks <= int64_t(word.size()), "a seat has no words of ranks");
    check_size(value.shape(0), std::size_t(chunks.view.n_chunks()), "value");
    check_size(value.shape(2), MAX_LEAVES + 1, "values of a chunk");
    check_size(reply.shape(0), c.line_chunk.size(), "reply");
    check_size(reply.shape(1), value.shape(1), "reply, for a line,");
    write_changed_replies(matrix_of(cells), cell_row, matrix_of(states), row, chunks.view, derived.view, derived.places, c,
                          WordsOfRanks{span_of(word_first), span_of(word)}, cube_of(value), cube_of(reply));
}

}  // namespace

void bind_derived(nb::module_& m) {
    nb::class_<HeldDerived>(m, "DerivedColumns")
        .def(nb::new_(&make_derived), arg("part_first"), arg("line"), arg("n_cells"), arg("part"), arg("entry_first"), arg("entry"),
             arg("column_first"), arg("rank_first"), arg("rank"), arg("table"));
    m.def("write_ranks", &bound_write_ranks, arg("cells"), nb::arg("derived"), arg("ranks"), without_gil());
    nb::class_<HeldChanges>(m, "Changes")
        .def(nb::new_(&make_changes), nb::arg("chunks"), nb::arg("derived"), arg("key"), arg("kept_part_first"), arg("kept_part"),
             arg("moved"), arg("chunk"), arg("kept_seat_first"), arg("kept_seat"), arg("seat_first"), arg("seat"), arg("column"),
             arg("line_first"), arg("line_chunk"), arg("line_word"));
    m.def("write_changed_replies", &bound_write_changed_replies, arg("cells"), nb::arg("cell_row"), arg("states"), nb::arg("row"),
          nb::arg("chunks"), nb::arg("derived"), nb::arg("changes"), arg("word_first"), arg("word"), arg("value"), arg("reply"),
          without_gil());
}

}  // namespace glasswood
