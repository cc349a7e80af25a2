#include "losses.h"

#include <vector>

#include "asking.h"

namespace glasswood {
namespace {

constexpr double MIN_SHARE = 1e-280;  // whose power was not cut off

// What a loss has of the target alone, once for all questions: t log t - t, or -1 - log t.
void write_constants(Loss loss, const double* target, int64_t n, double* out) {
    const bool counts = loss == Loss::POISSON || loss == Loss::POISSON_OF_LOG;
    const Doubles none = all(0.0), one = all(1.0);
    for (int64_t i = 0; i < n; i += DOUBLES) {
        const Doubles t = load(target + i), log = logarithm(t > none ? t : one);
        store(out + i, counts ? t * log - t : -1.0 - log);
    }
}

// Adds the loss of one output to `out`.
template <Loss LOSS>
void add_output(const LossSums& losses, const double* y, const double* target, const double* constant, int64_t n, double* out) {
    const Doubles level = all(losses.level), none = all(0.0), one = all(1.0), not_a_number = all(std::numeric_limits<double>::quiet_NaN());
    for (int64_t i = 0; i < n; i += DOUBLES) {
        const Doubles x = load(y + i), t = load(target + i);
        Doubles found;
        if constexpr (LOSS == Loss::CHANGE || LOSS == Loss::SQUARED) {
            const Doubles off = (x - t) * losses.scale;
            found = off * off;
        } else if constexpr (LOSS == Loss::ABSOLUTE) {
            found = absolute(x - t) * losses.scale;
        } else if constexpr (LOSS == Loss::QUANTILE) {
            const Doubles rest = (t - x) * losses.scale;
            found = rest > none ? rest * level : rest * (level - 1.0);
        } else if constexpr (LOSS == Loss::LOGIT) {
            found = softplus(x * (1.0 - 2.0 * t));
        } else if constexpr (LOSS == Loss::POISSON_OF_LOG) {
            found = 2.0 * (load(constant + i) - t * x + exponential(x));
        } else if constexpr (LOSS == Loss::GAMMA_OF_LOG) {
            found = 2.0 * (load(constant + i) + t * exponential(0.0 - x) + x);
        } else if constexpr (LOSS == Loss::POISSON || LOSS == Loss::GAMMA) {
            const Doubles log = logarithm(x > none ? x : one);
            found = LOSS == Loss::POISSON ? 2.0 * (load(constant + i) - t * log + x) : 2.0 * (load(constant + i) + t / x + log);
            found = x > none ? found : not_a_number;
        }
        store(out + i, load(out + i) + found);
    }
}

// Writes the logarithm of the share of the class that was observed.
void write_log(const LossSums& losses, Matrix<const double> y, double* out) {
    const Doubles level = all(losses.level), least = all(MIN_SHARE), not_a_number = all(std::numeric_limits<double>::quiet_NaN());
    for (int64_t i = 0; i < y.n_columns; i += DOUBLES) {
        Doubles share = all(0.0);
        if (y.n_rows == 1) {
            const Doubles t = load(losses.target[0] + i);
            share = (1.0 - t) + (2.0 * t - 1.0) * load(y[0] + i);
        } else {
            for (int64_t o = 0; o < y.n_rows; ++o) share += load(losses.target[o] + i) * load(y[o] + i);
        }
        share = share < level ? level : share;
        store(out + i, share > least ? 0.0 - logarithm(share) : not_a_number);
    }
}

}  // namespace

bool add_losses(Cube<const double> reply, Cube<const double> own, const PlacesOfChunks& places, const Questions& questions,
                const Response& response, std::span<const double> offset, const LossSums& losses) {
    const int64_t n_rows = reply.n_columns, n_outputs = int64_t(response.constant.size());
    const bool each_output = losses.loss == Loss::CHANGE;
    const int64_t n_sums = each_output ? n_outputs : 1;
    const auto add = losses.weighted ? (losses.large ? add_whole<true, true, 1> : add_whole<true, false, 1>)
                                     : (losses.large ? add_whole<false, true, 1> : add_whole<false, false, 1>);
    constexpr decltype(&add_output<Loss::CHANGE>) WRITERS[N_LOSSES] = {
        add_output<Loss::CHANGE>, add_output<Loss::SQUARED>, add_output<Loss::ABSOLUTE>, add_output<Loss::QUANTILE>,
        add_output<Loss::LOGIT>,  nullptr,                   add_output<Loss::POISSON>,  add_output<Loss::GAMMA>,
        add_output<Loss::POISSON_OF_LOG>, add_output<Loss::GAMMA_OF_LOG>};
    const auto write = WRITERS[int(losses.loss)];
    Asking asking(reply, own, places, response, offset);
    std::vector<double> before, constant(n_outputs * n_rows), loss(n_rows);
    Matrix<const double> target = losses.target;
    if (each_output) {
        const Matrix<const double> found = asking.as_they_are();
        before.assign(found.data, found.data + n_outputs * n_rows);
        target = {before.data(), n_outputs, n_rows};
    } else if (losses.loss >= Loss::POISSON) {
        for (int64_t o = 0; o < n_outputs; ++o) write_constants(losses.loss, target[o], n_rows, constant.data() + o * n_rows);
    }
    std::vector<char> counts(n_rows, false);  // rows of weight 0 may have any loss
    for (int64_t place = 0; place < losses.digits.n_rows; ++place)
        for (int64_t i = 0; i < n_rows; ++i) counts[i] |= losses.digits[place][i] != 0;
    bool fits = true;
    const auto add_sum = [&](int64_t sum) {
        if (losses.large && !all_within(loss.data(), n_rows, LARGEST_LOSS))
            for (int64_t i = 0; i < n_rows; ++i) fits &= !counts[i] || std::abs(loss[i]) <= LARGEST_LOSS;
        int64_t* to = losses.sums.data() + sum * LIMBS;
        for (int64_t place = 0; place < losses.digits.n_rows; ++place) add(loss.data(), losses.digits[place], n_rows, 1.0, int(place), to);
    };
    asking.each(questions, [&](int64_t question, Matrix<const double> y) {
        if (losses.loss == Loss::LOG) {
            write_log(losses, y, loss.data());
            return add_sum(question);
        }
        for (int64_t o = 0; o < n_outputs; ++o) {
            if (each_output || o == 0) std::fill(loss.begin(), loss.end(), 0.0);
            write(losses, y[o], target[o], constant.data() + o * n_rows, n_rows, loss.data());
            if (each_output || o == n_outputs - 1) add_sum(each_output ? question * n_sums + o : question);
        }
    });
    return fits;
}

}  // namespace glasswood
