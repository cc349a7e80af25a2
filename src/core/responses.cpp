#include "responses.h"

#include <algorithm>
#include <vector>

#include "asking.h"

namespace glasswood {

void write_replies(Matrix<const std::uint16_t> states, int64_t row, const ChunkedLeaves& chunks, Matrix<const double> value,
                   std::span<const bool> asked, Cube<double> reply, Cube<double> own) {
    const int64_t n_rows = reply.n_columns, n_values = value.n_columns;
    int64_t most = 0;
    for (int64_t chunk = 0; chunk < chunks.n_chunks(); ++chunk)
        most = std::max(most, chunks.seat_first[chunk + 1] - chunks.seat_first[chunk]);
    std::vector<Word> suits_of(most * n_rows), rest_of((most + 1) * n_rows), before(n_rows), others(n_rows);
    constexpr int64_t N_ENTRIES = MAX_LEAVES + 1;  // a value for each leaf, and a 0 for none
    std::vector<double> values(n_values * N_ENTRIES);
    for (int64_t chunk = 0; chunk < chunks.n_chunks(); ++chunk) {
        const int64_t first = chunks.chunk_first[chunk], n_leaves = chunks.chunk_first[chunk + 1] - first;
        const int64_t first_seat = chunks.seat_first[chunk], n_seats = chunks.seat_first[chunk + 1] - first_seat;
        for (int64_t k = 0; k < n_values; ++k)
            for (int64_t i = 0; i < N_ENTRIES; ++i)
                values[k * N_ENTRIES + i] = i < n_leaves ? value[chunks.leaf_order[first + i]][k] : 0.0;
        const Word all_leaves = n_leaves == MAX_LEAVES ? ~Word(0) : (Word(1) << n_leaves) - 1;
        // rest: the leaves that suit a row in the seats from i on; before: in those up to i.
        std::fill_n(rest_of.begin() + n_seats * n_rows, n_rows, all_leaves);
        std::fill(before.begin(), before.end(), all_leaves);
        for (int64_t i = n_seats - 1; i >= 0; --i) {
            const Word* words = chunks.words.data() + chunks.state_first[first_seat + i];
            const std::uint16_t* state = states[first_seat + i] + row;
            Word *suits = suits_of.data() + i * n_rows, *rest = rest_of.data() + i * n_rows;
            for (int64_t r = 0; r < n_rows; ++r) suits[r] = words[state[r]];
            for (int64_t r = 0; r < n_rows; ++r) rest[r] = rest[n_rows + r] & suits[r];
        }
        for (int64_t k = 0; k < n_values; ++k)
            pick(rest_of.data(), all_leaves, values.data() + k * N_ENTRIES, n_rows, own.line(chunk, k));
        for (int64_t i = 0; i < n_seats; ++i) {
            const Word *suits = suits_of.data() + i * n_rows, *rest = rest_of.data() + (i + 1) * n_rows;
            for (int64_t r = 0; r < n_rows; ++r) {
                others[r] = before[r] & rest[r];
                before[r] &= suits[r];
            }
            if (!asked[first_seat + i]) continue;
            for (int64_t state = chunks.state_first[first_seat + i]; state < chunks.state_first[first_seat + i + 1]; ++state)
                for (int64_t k = 0; k < n_values; ++k)
                    pick(others.data(), chunks.words[state], values.data() + k * N_ENTRIES, n_rows, reply.line(state, k));
        }
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
