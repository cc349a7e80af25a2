// The responses of a block of rows to questions, one question after the other: what kernels that add them up share.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "responses.h"
#include "vectors.h"

namespace glasswood {

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

// Responses of rows, given what each chunk adds to their scores; see `ask` for the arguments.
class Asking {
  public:
    Asking(Cube<const double> reply, Cube<const double> own, const PlacesOfChunks& places, const Response& response,
           std::span<const double> offset)
        : reply_(reply),
          own_(own),
          places_(places),
          response_(response),
          n_outputs_(int64_t(response.constant.size())),
          n_rows_(reply.n_columns),
          total_(n_outputs_ * n_rows_, 0.0),
          now_(total_.size()),
          y_(total_.size()) {
        std::copy(offset.begin(), offset.end(), total_.begin());
        for (int64_t chunk = 0; chunk < own.n_layers; ++chunk)
            for (int64_t k = 0; k < reply.n_rows; ++k) {
                double* to = total_.data() + (places.output[chunk] + k) * n_rows_;
                const double* from = own.line(chunk, k);
                for (int64_t r = 0; r < n_rows_; ++r) to[r] += from[r];
            }
        if (response.link == Link::SOFTMAX) softmax_.emplace(response, Matrix<const double>{total_.data(), n_outputs_, n_rows_});
    }

    // The responses of the rows as they are, a line for each output; valid until the next call of a method.
    Matrix<const double> as_they_are() {
        now_ = total_;
        if (softmax_) softmax_->start();
        return respond_now();
    }

    // Calls visit(question, responses) for each question; responses have a line for each output.
    template <class Visit>
    void each(const Questions& questions, Visit&& visit) {
        for (std::size_t player = 0; player + 1 < questions.seat_first.size(); ++player) {
            now_ = total_;
            if (softmax_) softmax_->start();
            for (int64_t i = questions.seat_first[player]; i < questions.seat_first[player + 1]; ++i) {
                const int64_t chunk = places_.seat_chunk[questions.seat[i]];
                for (int64_t k = 0; k < reply_.n_rows; ++k) change(chunk, k, reply_.line(questions.state[i], k), own_.line(chunk, k));
                if (softmax_) softmax_->note_change(places_.output[chunk], reply_.n_rows);
            }
            for (int64_t question = questions.question_first[player]; question < questions.question_first[player + 1]; ++question) {
                for (int64_t at = questions.change_first[question]; at < questions.change_first[question + 1]; ++at) {
                    const int64_t chunk = places_.seat_chunk[questions.change_seat[at]];
                    for (int64_t k = 0; k < reply_.n_rows; ++k)
                        change(chunk, k, reply_.line(questions.new_state[at], k), reply_.line(questions.old_state[at], k));
                    if (softmax_) softmax_->note_change(places_.output[chunk], reply_.n_rows);
                }
                visit(question, respond_now());
            }
        }
    }

  private:
    void change(int64_t chunk, int64_t k, const double* plus, const double* minus) {
        add_difference(now_.data() + (places_.output[chunk] + k) * n_rows_, plus, minus, n_rows_);
    }

    Matrix<const double> respond_now() {
        if (softmax_) {
            softmax_->write({now_.data(), n_outputs_, n_rows_}, {y_.data(), n_outputs_, n_rows_});
        } else {
            for (int64_t o = 0; o < n_outputs_; ++o)
                respond(response_.link, now_.data() + o * n_rows_, n_rows_, response_.factor, response_.constant[o], y_.data() + o * n_rows_);
        }
        return {y_.data(), n_outputs_, n_rows_};
    }

    Cube<const double> reply_, own_;
    const PlacesOfChunks& places_;
    const Response& response_;
    int64_t n_outputs_, n_rows_;
    std::vector<double> total_, now_, y_;
    std::optional<Softmax> softmax_;
};

}  // namespace glasswood
