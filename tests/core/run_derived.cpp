#include <algorithm>

#include "derived.h"
#include "kernels.h"
#include "responses.h"

namespace glasswood {
namespace {

constexpr int64_t N_ROWS = 90, WIDTH = 96;
constexpr int32_t CHANGED = 0, OTHER = 1, DERIVED = 5;  // the derived column takes the place of feature 5

// The replies of all chunks to rows as they are.
std::vector<double> replies_of(const Model& m, const ChunksOfModel& chunks, const std::vector<int32_t>& cells) {
    const std::vector<std::uint16_t> states = chunks.states(matrix(cells, WIDTH));
    std::vector<double> own(chunks.n_chunks() * N_OUTPUTS * WIDTH);
    const std::vector<int64_t> no_line(chunks.n_seats(), -1);
    write_others(matrix(states, WIDTH), 0, chunks.leaves(), m.value_of(), no_line, {nullptr, 0, WIDTH},
                 {own.data(), chunks.n_chunks(), N_OUTPUTS, WIDTH});
    return own;
}

}  // namespace

void run_derived(const Inputs& in, Digests& out) {
    const Model& m = in.model;
    const ChunksOfModel chunks(m, 1 << 15, 1);
    // Features 0 and 1 have a number each for every cell; two thirds of the sums are known.
    Random random;
    const int64_t n_changed = m.n_cells[CHANGED], n_other = m.n_cells[OTHER], n_ranks = m.n_cells[DERIVED] - 1;
    std::vector<Word> part(n_changed + n_other), entry;
    for (Word& number : part) number = random.next();
    for (int64_t i = 0; i < n_changed; ++i)
        for (int64_t k = 0; k < n_other; ++k)
            if ((i + k) % 3 != 0) entry.push_back(part[i] + part[n_changed + k]);
    std::vector<std::uint8_t> rank(1 + entry.size());
    for (std::uint8_t& one : rank) one = std::uint8_t(random.below(std::min<int64_t>(n_ranks, 250)));
    const std::vector<int64_t> part_first{0, 2}, table{0, n_changed}, entry_first{0, int64_t(entry.size())}, column_first{0, 1}, rank_first{0};
    const std::vector<int32_t> line{CHANGED, OTHER};
    const DerivedColumns derived{part_first, line, table, part, entry_first, entry, column_first, rank_first, rank};
    const Places places(derived);
    std::vector<int32_t> cells = cells_of(in, WIDTH);
    const auto with_ranks = [&](std::vector<int32_t> given) {
        write_ranks(matrix(std::as_const(given), WIDTH), derived, places, {given.data() + DERIVED * WIDTH, 1, WIDTH});
        return given;
    };
    cells = with_ranks(cells);
    out.add("ranks", std::span<const int32_t>(cells.data() + DERIVED * WIDTH, WIDTH));

    // All cells of feature 0, one after the other; all chunks with a seat of it, or of the derived column, reply to each.
    std::vector<int64_t> key{0}, kept_part_first{0, 1}, kept_part{1}, chunk, kept_seat_first{0}, kept_seat, seat_first{0}, seat, column;
    std::vector<int64_t> direct(chunks.n_chunks(), -1), line_first{0}, line_chunk, word_first(chunks.n_seats(), -1);
    std::vector<Word> line_word, words;
    for (int64_t c = 0; c < chunks.n_chunks(); ++c) {
        bool concerned = false;
        for (const int64_t s : chunks.seats_of_chunk(c)) concerned |= chunks.made.seat_player[s] == CHANGED || chunks.made.seat_player[s] == DERIVED;
        if (!concerned) continue;
        chunk.push_back(c);
        for (const int64_t s : chunks.seats_of_chunk(c)) {
            if (chunks.made.seat_player[s] == CHANGED) direct[c] = s;
            else if (chunks.made.seat_player[s] == DERIVED) {
                seat.push_back(s);
                column.push_back(0);
            } else kept_seat.push_back(s);
        }
        kept_seat_first.push_back(int64_t(kept_seat.size()));
        seat_first.push_back(int64_t(seat.size()));
    }
    std::vector<int32_t> every_rank(N_FEATURES * 256, 0), every_cell(N_FEATURES * n_changed, 0);
    for (int32_t r = 0; r < 256; ++r) every_rank[DERIVED * 256 + r] = std::min<int32_t>(r, int32_t(n_ranks - 1));
    for (int64_t i = 0; i < n_changed; ++i) every_cell[CHANGED * n_changed + i] = int32_t(i);
    for (const int64_t s : seat) {
        word_first[s] = int64_t(words.size());
        for (const std::uint16_t state : chunks.states(matrix(std::as_const(every_rank), 256), std::span(&s, 1)))
            words.push_back(chunks.made.words[chunks.made.state_first[s] + state]);
    }
    for (int64_t question = 0; question < n_changed; ++question) {
        for (std::size_t i = 0; i < chunk.size(); ++i) {
            line_chunk.push_back(int64_t(i));
            const int64_t s = direct[chunk[i]];
            if (s < 0) line_word.push_back(~Word(0));
            else {
                const std::uint16_t state = chunks.states(matrix(std::as_const(every_cell), n_changed), std::span(&s, 1))[question];
                line_word.push_back(chunks.made.words[chunks.made.state_first[s] + state]);
            }
        }
        line_first.push_back(int64_t(line_chunk.size()));
    }
    std::vector<double> value(chunks.n_chunks() * N_OUTPUTS * (MAX_LEAVES + 1), 0.0);
    for (int64_t c = 0; c < chunks.n_chunks(); ++c)
        for (int64_t i = chunks.made.chunk_first[c]; i < chunks.made.chunk_first[c + 1]; ++i)
            for (int k = 0; k < N_OUTPUTS; ++k)
                value[(c * N_OUTPUTS + k) * (MAX_LEAVES + 1) + i - chunks.made.chunk_first[c]] = m.value_of()[chunks.made.leaf_order[i]][k];
    const Changes changes{key,        kept_part_first, kept_part,  {part.data(), n_changed, 1}, chunk,     kept_seat_first, kept_seat, seat_first, seat,
                          column,     line_first,      line_chunk, line_word};
    const std::vector<std::uint16_t> states = chunks.states(matrix(std::as_const(cells), WIDTH));
    std::vector<double> reply(line_chunk.size() * N_OUTPUTS * WIDTH);
    write_changed_replies(matrix(std::as_const(cells), WIDTH), 0, matrix(states, WIDTH), 0, chunks.leaves(), derived, places, changes,
                          {word_first, words}, {value.data(), chunks.n_chunks(), N_OUTPUTS, MAX_LEAVES + 1},
                          {reply.data(), int64_t(line_chunk.size()), N_OUTPUTS, WIDTH});
    out.add("replies with derived columns", reply);
    bool equal = true;
    for (int64_t question = 0; question < n_changed; ++question) {
        std::vector<int32_t> changed = cells;
        std::fill_n(changed.begin() + CHANGED * WIDTH, WIDTH, int32_t(question));
        const std::vector<double> own = replies_of(m, chunks, with_ranks(changed));
        for (int64_t at = line_first[question]; at < line_first[question + 1]; ++at)
            for (int k = 0; k < N_OUTPUTS; ++k)
                equal &= std::equal(reply.begin() + (at * N_OUTPUTS + k) * WIDTH, reply.begin() + (at * N_OUTPUTS + k) * WIDTH + N_ROWS,
                                    own.begin() + (chunk[line_chunk[at]] * N_OUTPUTS + k) * WIDTH);
    }
    out.check(equal, "changed rows have the replies of rows that are so");
}

}  // namespace glasswood
