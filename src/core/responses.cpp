#include "responses.h"

#include <algorithm>
#include <vector>

#include "asking.h"

namespace glasswood {

namespace {

constexpr int64_t N_ENTRIES = MAX_LEAVES + 1;  // a value for each leaf of a chunk, and a 0 for none

// Writes the values of the leaves of a chunk, (n_values, N_ENTRIES).
void write_values(const ChunkedLeaves& chunks, int64_t chunk, Matrix<const double> value, std::vector<double>& out) {
    const int64_t first = chunks.chunk_first[chunk], n_leaves = chunks.chunk_first[chunk + 1] - first;
    for (int64_t k = 0; k < value.n_columns; ++k)
        for (int64_t i = 0; i < N_ENTRIES; ++i)
            out[k * N_ENTRIES + i] = i < n_leaves ? value[chunks.leaf_order[first + i]][k] : 0.0;
}

}  // namespace

void write_others(Matrix<const std::uint16_t> states, int64_t row, const ChunkedLeaves& chunks, Matrix<const double> value,
                  std::span<const int64_t> line, Matrix<Word> others, Cube<double> own) {
    const int64_t n_rows = own.n_columns, n_values = value.n_columns;
    int64_t most = 0;
    for (int64_t chunk = 0; chunk < chunks.n_chunks(); ++chunk)
        most = std::max(most, chunks.seat_first[chunk + 1] - chunks.seat_first[chunk]);
    std::vector<Word> suits_of(most * n_rows), rest_of((most + 1) * n_rows), before(n_rows);
    std::vector<double> values(n_values * N_ENTRIES);
    for (int64_t chunk = 0; chunk < chunks.n_chunks(); ++chunk) {
        const int64_t n_leaves = chunks.chunk_first[chunk + 1] - chunks.chunk_first[chunk];
        const int64_t first_seat = chunks.seat_first[chunk], n_seats = chunks.seat_first[chunk + 1] - first_seat;
        const bool asked = std::any_of(line.begin() + first_seat, line.begin() + first_seat + n_seats, [](int64_t l) { return l >= 0; });
        const Word all_leaves = n_leaves == MAX_LEAVES ? ~Word(0) : (Word(1) << n_leaves) - 1;
        // rest: the leaves that suit a row in the seats from i on, or if nothing is asked, in all that were looked at.
        Word* last = rest_of.data() + (asked ? n_seats * n_rows : 0);
        std::fill_n(last, n_rows, all_leaves);
        for (int64_t i = n_seats - 1; i >= 0; --i) {
            const Word* words = chunks.words.data() + chunks.state_first[first_seat + i];
            const std::uint16_t* state = states[first_seat + i] + row;
            if (!asked) {
                for (int64_t r = 0; r < n_rows; ++r) last[r] &= words[state[r]];
                continue;
            }
            Word *suits = suits_of.data() + i * n_rows, *rest = rest_of.data() + i * n_rows;
            for (int64_t r = 0; r < n_rows; ++r) suits[r] = words[state[r]];
            for (int64_t r = 0; r < n_rows; ++r) rest[r] = rest[n_rows + r] & suits[r];
        }
        write_values(chunks, chunk, value, values);
        for (int64_t k = 0; k < n_values; ++k)
            pick(rest_of.data(), {&all_leaves, 1}, values.data() + k * N_ENTRIES, n_leaves, n_rows, own.line(chunk, k), 0);
        if (!asked) continue;
        std::fill(before.begin(), before.end(), all_leaves);  // those that suit it in the seats before i
        for (int64_t i = 0; i < n_seats; ++i) {
            const Word *suits = suits_of.data() + i * n_rows, *rest = rest_of.data() + (i + 1) * n_rows;
            const int64_t to = line[first_seat + i];
            if (to >= 0)
                for (int64_t r = 0; r < n_rows; ++r) others[to][r] = before[r] & rest[r];
            for (int64_t r = 0; r < n_rows; ++r) before[r] &= suits[r];
        }
    }
}

void write_replies(Matrix<const Word> others, std::span<const int64_t> line, const ChunkedLeaves& chunks, Matrix<const double> value,
                   std::span<const int64_t> seat, Cube<double> reply) {
    std::vector<double> values(value.n_columns * N_ENTRIES);
    int64_t to = 0, known = -1;  // the chunk whose values these are
    for (const int64_t s : seat) {
        const int64_t chunk = std::upper_bound(chunks.seat_first.begin(), chunks.seat_first.end(), s) - chunks.seat_first.begin() - 1;
        if (chunk != known) write_values(chunks, chunk, value, values);
        known = chunk;
        const int64_t first = chunks.state_first[s], n_states = chunks.n_states(s);
        for (int64_t k = 0; k < value.n_columns; ++k)
            pick(others[line[s]], chunks.words.subspan(first, n_states), values.data() + k * N_ENTRIES,
                 chunks.chunk_first[chunk + 1] - chunks.chunk_first[chunk], reply.n_columns, reply.line(to, k),
                 reply.n_rows * reply.n_columns);
        to += n_states;
    }
}

bool ask(Cube<const double> reply, Cube<const double> own, const PlacesOfChunks& places, const Questions& questions,
         const Response& response, std::span<const double> offset, std::span<const double> weight, std::span<double> sums,
         const WholeSums& whole, std::span<double> out) {
    const int64_t n_rows = reply.n_columns, n_outputs = int64_t(response.constant.size());
    const auto add = whole.weighted ? (whole.large ? add_whole<true, true, 2> : add_whole<true, false, 2>)
                                    : (whole.large ? add_whole<false, true, 2> : add_whole<false, false, 2>);
    bool fits = true;
    Asking asking(reply, own, places, response, offset);
    asking.each(questions, [&](int64_t question, Matrix<const double> y) {
        for (int64_t o = 0; o < n_outputs; ++o) {
            if (!sums.empty()) weigh(y[o], weight.data(), n_rows, sums.data() + (question * n_outputs + o) * 2 * PARTS);
            if (!whole.sums.empty()) {
                fits &= !whole.large || all_within(y[o], n_rows, LARGEST / whole.factor);
                int64_t* to = whole.sums.data() + (question * n_outputs + o) * 2 * LIMBS;
                for (int64_t place = 0; place < whole.digits.n_rows; ++place)
                    add(y[o], whole.digits[place], n_rows, whole.factor, int(place), to);
            }
            if (!out.empty()) std::copy_n(y[o], n_rows, out.data() + (question * n_outputs + o) * n_rows);
        }
    });
    return fits;
}

}  // namespace glasswood
