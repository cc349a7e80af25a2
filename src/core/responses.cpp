#include "responses.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace glasswood {
namespace {

// The softmax of rows' scores. From one question to the next the scores of few outputs change, and only their powers are
// computed again. A row's powers are relative to its highest score without any change; a row whose scores change by hundreds
// is computed by itself.
class Softmax {
  public:
    Softmax(const Response& response, Matrix<const double> scores)
        : response_(response),
          n_(scores.n_columns),
          high_(n_),
          before_(scores.n_rows * n_),
          powers_(before_.size()),
          changed_(scores.n_rows, false) {
        for (int64_t row = 0; row < n_; ++row) high_[row] = highest(scores, row);
        for (int64_t o = 0; o < scores.n_rows; ++o) write(o, scores[o], before_.data());
    }

    // Begins with rows as they are.
    void start() {
        powers_ = before_;
        std::fill(changed_.begin(), changed_.end(), false);
    }

    void note_change(int64_t first, int64_t n) { std::fill_n(changed_.begin() + first, n, true); }

    void write(Matrix<const double> scores, Matrix<double> out) {
        for (int64_t o = 0; o < scores.n_rows; ++o)
            if (changed_[o]) write(o, scores[o], powers_.data());
        std::fill(changed_.begin(), changed_.end(), false);
        if (write_shares(powers_.data(), scores.n_rows, n_, out.data)) return;
        for (int64_t row = 0; row < n_; ++row) {
            double sum = 0.0;
            for (int64_t o = 0; o < scores.n_rows; ++o) sum += powers_[o * n_ + row];
            if (sum <= SMALLEST_SUM || sum >= LARGEST_SUM) write_row(scores, row, out);
        }
    }

  private:
    double score(Matrix<const double> scores, int64_t o, int64_t row) const {
        return scores[o][row] * response_.factor + response_.constant[o];
    }

    double highest(Matrix<const double> scores, int64_t row) const {
        double high = score(scores, 0, row);
        for (int64_t o = 1; o < scores.n_rows; ++o) high = std::max(high, score(scores, o, row));
        return high;
    }

    void write(int64_t o, const double* scores, double* powers) const {
        write_powers(scores, n_, response_.factor, response_.constant[o], high_.data(), powers + o * n_);
    }

    void write_row(Matrix<const double> scores, int64_t row, Matrix<double> out) const {
        const double high = highest(scores, row);
        double sum = 0.0;
        for (int64_t o = 0; o < scores.n_rows; ++o) {
            double power[DOUBLES] = {score(scores, o, row) - high};
            respond(Link::EXP, power, DOUBLES, 1.0, 0.0, power);
            out[o][row] = power[0];
            sum += power[0];
        }
        for (int64_t o = 0; o < scores.n_rows; ++o) out[o][row] *= 1.0 / sum;
    }

    const Response& response_;
    int64_t n_;
    std::vector<double> high_, before_, powers_;
    std::vector<char> changed_;
};

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

bool ask(Cube<const double> reply, Cube<const double> own, const PlacesOfChunks& places, const Questions& questions,
         const Response& response, std::span<const double> offset, std::span<const double> weight, std::span<double> sums,
         const WholeSums& whole, std::span<double> out) {
    const int64_t n_values = reply.n_rows, n_rows = reply.n_columns, n_outputs = int64_t(response.constant.size());
    std::vector<double> total_of(n_outputs * n_rows, 0.0), now_of(n_outputs * n_rows), y_of(n_outputs * n_rows);
    const Matrix<double> total{total_of.data(), n_outputs, n_rows}, now{now_of.data(), n_outputs, n_rows};
    const Matrix<double> y{y_of.data(), n_outputs, n_rows};
    const auto add = whole.weighted ? (whole.large ? add_whole<true, true> : add_whole<true, false>)
                                    : (whole.large ? add_whole<false, true> : add_whole<false, false>);
    bool fits = true;
    std::copy(offset.begin(), offset.end(), total_of.begin());
    for (int64_t chunk = 0; chunk < own.n_layers; ++chunk)
        for (int64_t k = 0; k < n_values; ++k) {
            double* to = total[places.output[chunk] + k];
            const double* from = own.line(chunk, k);
            for (int64_t r = 0; r < n_rows; ++r) to[r] += from[r];
        }
    const Matrix<const double> scores{now_of.data(), n_outputs, n_rows};
    std::optional<Softmax> softmax;
    if (response.link == Link::SOFTMAX) softmax.emplace(response, Matrix<const double>{total_of.data(), n_outputs, n_rows});
    for (std::size_t player = 0; player + 1 < questions.seat_first.size(); ++player) {
        std::copy(total_of.begin(), total_of.end(), now_of.begin());
        if (softmax) softmax->start();
        for (int64_t i = questions.seat_first[player]; i < questions.seat_first[player + 1]; ++i) {
            const int64_t chunk = places.seat_chunk[questions.seat[i]];
            for (int64_t k = 0; k < n_values; ++k)
                add_difference(now[places.output[chunk] + k], reply.line(questions.state[i], k), own.line(chunk, k), n_rows);
            if (softmax) softmax->note_change(places.output[chunk], n_values);
        }
        for (int64_t question = questions.question_first[player]; question < questions.question_first[player + 1]; ++question) {
            for (int64_t change = questions.change_first[question]; change < questions.change_first[question + 1]; ++change) {
                const int64_t first = places.output[places.seat_chunk[questions.change_seat[change]]];
                for (int64_t k = 0; k < n_values; ++k)
                    add_difference(now[first + k], reply.line(questions.new_state[change], k),
                                   reply.line(questions.old_state[change], k), n_rows);
                if (softmax) softmax->note_change(first, n_values);
            }
            if (softmax) {
                softmax->write(scores, y);
            } else {
                for (int64_t o = 0; o < n_outputs; ++o)
                    respond(response.link, now[o], n_rows, response.factor, response.constant[o], y[o]);
            }
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
        }
    }
    return fits;
}

}  // namespace glasswood
