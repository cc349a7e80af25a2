// Losses of rows: of what was observed for a row and its response if one player took other values, added up over rows.
#pragma once

#include "responses.h"

namespace glasswood {

// Of the response y and the target t of a row, summed over outputs unless said otherwise.
enum class Loss {
    CHANGE,    // (y - y0)^2, where y0 is the response of the row as it is; a sum for each output, no target
    SQUARED,   // (y - t)^2
    ABSOLUTE,  // |y - t|
    QUANTILE,  // max(level (t - y), (level - 1) (t - y))
    LOGIT,     // log(1 + exp(y)) - t y, where y are the log-odds of one output
    LOG,       // -log of the share of the class that was observed, not less than `level`; one share is that of the second class
    POISSON,   // 2 (t log(t / y) - t + y)
    GAMMA,     // 2 ((t - y) / y - log(t / y))
    POISSON_OF_LOG,  // the same, where y is the logarithm of what is predicted
    GAMMA_OF_LOG,
};
constexpr int N_LOSSES = 10;

// Sums of losses as wide whole numbers in units of 2**-52 / scale, (n_questions, n_sums, LIMBS); that of squares is 2**-52 /
// scale**2. There is one sum, or one for each output for CHANGE.
struct LossSums {
    Loss loss;
    double level, scale;                // scale is a power of two
    Matrix<const double> target;        // (n_outputs, n_rows)
    Matrix<const int64_t> digits;       // of the rows' weights, as of `WholeSums`
    bool weighted, large;               // not large: losses times the scale are at most 1/2
    std::span<int64_t> sums;
};

constexpr double LARGEST_LOSS = 1125899906842624.0;  // 2**50: a loss times the scale

// Adds the losses of rows for all questions, see `ask`. Returns whether all of them fit; sums are wrong if not.
bool add_losses(Cube<const double> reply, Cube<const double> own, const PlacesOfChunks& places, const Questions& questions,
                const Response& response, std::span<const double> offset, const LossSums& losses);

}  // namespace glasswood
