#include "responses.h"

#include <algorithm>
#include <vector>

namespace glasswood {
namespace {

// Replaces the scores of each row by their softmax; y has a line per output.
void softmax(Matrix<double> y) {
    for (int64_t row = 0; row < y.n_columns; ++row) {
        double high = y[0][row];
        for (int64_t o = 1; o < y.n_rows; ++o) high = std::max(high, y[o][row]);
        for (int64_t o = 0; o < y.n_rows; ++o) y[o][row] -= high;
    }
    respond(Link::EXP, y.data, y.n_rows * y.n_columns, 1.0, 0.0, y.data);
    for (int64_t row = 0; row < y.n_columns; ++row) {
        double whole = 0.0;
        for (int64_t o = 0; o < y.n_rows; ++o) whole += y[o][row];
        for (int64_t o = 0; o < y.n_rows; ++o) y[o][row] /= whole;
    }
}

}  // namespace

void write_replies(Matrix<const std::uint16_t> states, int64_t row, const ChunkedLeaves& chunks, Matrix<const double> value,
                   std::span<const bool> asked, Cube<double> reply, Cube<double> own) {
    const int64_t n_rows = reply.n_columns, n_values = value.n_columns;
    int64_t most = 0;
    for (int64_t chunk = 0; chunk < chunks.n_chunks(); ++chunk)
        most = std::max(most, chunks.seat_first[chunk + 1] - chunks.seat_first[chunk]);
    std::vector<Word> suits_of(most * n_rows), rest_of((most + 1) * n_rows), before(n_rows), others(n_rows);
    constexpr int64_t N_ENTRIES = MOST_LEAVES + 1;  // a value for each leaf, and a 0 for none
    std::vector<double> values(n_values * N_ENTRIES);
    for (int64_t chunk = 0; chunk < chunks.n_chunks(); ++chunk) {
        const int64_t first = chunks.chunk_first[chunk], n_leaves = chunks.chunk_first[chunk + 1] - first;
        const int64_t first_seat = chunks.seat_first[chunk], n_seats = chunks.seat_first[chunk + 1] - first_seat;
        for (int64_t k = 0; k < n_values; ++k)
            for (int64_t i = 0; i < N_ENTRIES; ++i)
                values[k * N_ENTRIES + i] = i < n_leaves ? value[chunks.leaf_order[first + i]][k] : 0.0;
        const Word all_leaves = n_leaves == MOST_LEAVES ? ~Word(0) : (Word(1) << n_leaves) - 1;
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

void ask(Cube<const double> reply, Cube<const double> own, const PlacesOfChunks& places, const Questions& questions,
         const Response& response, std::span<const double> weight, std::span<double> sums, std::span<double> out) {
    const int64_t n_values = reply.n_rows, n_rows = reply.n_columns, n_outputs = int64_t(response.constant.size());
    std::vector<double> total_of(n_outputs * n_rows, 0.0), now_of(n_outputs * n_rows), y_of(n_outputs * n_rows);
    const Matrix<double> total{total_of.data(), n_outputs, n_rows}, now{now_of.data(), n_outputs, n_rows};
    const Matrix<double> y{y_of.data(), n_outputs, n_rows};
    for (int64_t chunk = 0; chunk < own.n_layers; ++chunk)
        for (int64_t k = 0; k < n_values; ++k) {
            double* to = total[places.output[chunk] + k];
            const double* from = own.line(chunk, k);
            for (int64_t r = 0; r < n_rows; ++r) to[r] += from[r];
        }
    for (std::size_t player = 0; player + 1 < questions.seat_first.size(); ++player) {
        now_of = total_of;
        for (int64_t i = questions.seat_first[player]; i < questions.seat_first[player + 1]; ++i) {
            const int64_t chunk = places.seat_chunk[questions.seat[i]];
            for (int64_t k = 0; k < n_values; ++k)
                add_difference(now[places.output[chunk] + k], reply.line(questions.state[i], k), own.line(chunk, k), n_rows);
        }
        for (int64_t question = questions.question_first[player]; question < questions.question_first[player + 1]; ++question) {
            for (int64_t change = questions.change_first[question]; change < questions.change_first[question + 1]; ++change) {
                const int64_t first = places.output[places.seat_chunk[questions.change_seat[change]]];
                for (int64_t k = 0; k < n_values; ++k)
                    add_difference(now[first + k], reply.line(questions.new_state[change], k),
                                   reply.line(questions.old_state[change], k), n_rows);
            }
            for (int64_t o = 0; o < n_outputs; ++o) respond(response.link, now[o], n_rows, response.factor, response.constant[o], y[o]);
            if (response.link == Link::SOFTMAX) softmax(y);
            for (int64_t o = 0; o < n_outputs; ++o) {
                if (!sums.empty()) weigh(y[o], weight.data(), n_rows, sums.data() + (question * n_outputs + o) * 2 * PARTS);
                if (!out.empty()) std::copy_n(y[o], n_rows, out.data() + (question * n_outputs + o) * n_rows);
            }
        }
    }
}

}  // namespace glasswood
