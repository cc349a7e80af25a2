#include "targets.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "vectors.h"

namespace glasswood {
namespace {

constexpr int64_t BLOCK_ROWS = 64;       // whose limbs stay in the cache
constexpr double UNITS = 1099511627776;  // 2^40 of them are 1
constexpr double SMALL = 4.6e18;         // less than 2^62

// The limbs of a number times a weight, not both of them small. Those of a negative number are all negative.
void write_large(double units, int64_t weight, int64_t* out) {
    int64_t limbs[LIMBS], found[LIMBS + 3] = {};
    double rest = std::fabs(units);
    for (int limb = LIMBS - 1; limb >= 0; --limb) {
        const double part = std::floor(std::ldexp(rest, -LIMB_BITS * limb));
        rest -= std::ldexp(part, LIMB_BITS * limb);
        limbs[limb] = int64_t(part);
    }
    for (int place = 0; place < 3; ++place, weight >>= LIMB_BITS)
        for (int limb = 0; limb < LIMBS; ++limb) found[limb + place] += limbs[limb] * (weight & LIMB_MASK);
    for (int limb = 0; limb < LIMBS + 2; ++limb) {
        found[limb + 1] += found[limb] >> LIMB_BITS;
        found[limb] &= LIMB_MASK;
    }
    found[LIMBS - 1] += (found[LIMBS] << LIMB_BITS) + (found[LIMBS + 1] << 2 * LIMB_BITS);
    for (int limb = 0; limb < LIMBS; ++limb) out[limb] = units < 0 ? -found[limb] : found[limb];
}

// Both as one whole number of 64 bits, if that fits: the third limb has its sign.
void write_limbs(double term, int64_t weight, int64_t* out) {
    const double units = std::nearbyint(term * UNITS);
    if (std::fabs(units) * double(weight) >= SMALL) return write_large(units, weight, out);
    const int64_t whole = int64_t(units) * weight;
    out[0] = whole & LIMB_MASK;
    out[1] = whole >> LIMB_BITS & LIMB_MASK;
    out[2] = whole >> 2 * LIMB_BITS;
    std::fill(out + 3, out + LIMBS, 0);
}

void add(const int64_t* line, int64_t n, int64_t* to) {
    for (int64_t i = 0; i < n; ++i) to[i] += line[i];
}

}  // namespace

void add_targets(Matrix<const int32_t> cells, std::span<const int64_t> first, int64_t begin, int64_t end, Matrix<const double> terms,
                 std::span<const int64_t> weight, Cube<int64_t> sums) {
    const int64_t n_terms = terms.n_columns, width = n_terms * LIMBS;
    std::vector<int64_t> lines(BLOCK_ROWS * width);
    for (int64_t start = begin; start < end; start += BLOCK_ROWS) {
        const int64_t n = std::min(BLOCK_ROWS, end - start);
        for (int64_t row = 0; row < n; ++row)
            for (int64_t term = 0; term < n_terms; ++term)
                write_limbs(terms[start + row][term], weight.empty() ? 1 : weight[start + row], lines.data() + row * width + term * LIMBS);
        for (int64_t feature = 0; feature < cells.n_rows; ++feature) {
            const int32_t* cell = cells[feature] + start;
            for (int64_t row = 0; row < n; ++row) add(lines.data() + row * width, width, sums.line(first[feature] + cell[row], 0));
        }
        for (int64_t row = 0; row < n; ++row) add(lines.data() + row * width, width, sums.line(sums.n_layers - 1, 0));
    }
}

}  // namespace glasswood
