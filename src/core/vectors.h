// Many rows at a time: lookups with an index made of several states, responses, and sums in a fixed order.
//
// All intrinsics of the core are in this file, each with a portable twin that returns the same bits. Numbers of rows are
// multiples of BATCH. Sums have eight parts that are always the same, so that they do not depend on the level.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "arrays.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
#include <immintrin.h>
#define GLASSWOOD_PERMUTES 1  // tables of up to 64 entries are held in registers
#endif

namespace glasswood {

constexpr int BATCH = 32;  // rows at a time
constexpr int PARTS = 8;   // of a sum, and doubles that are added at once
constexpr int BEHIND = 64; // entries of memory that there must be behind a table of lookups

#if GLASSWOOD_PERMUTES
// Eight entries of a table that is held in registers, eight entries each.
template <int registers>
inline __m512d pick_from(const __m512d* table, __m512i places) {
    // Of each 16 entries, the one that the last four bits name; then the further bits choose among those.
    __m512d found[registers / 2];
    for (int k = 0; k < registers / 2; ++k) found[k] = _mm512_permutex2var_pd(table[2 * k], places, table[2 * k + 1]);
    for (int n = registers / 4, bit = 16; n >= 1; n /= 2, bit *= 2) {
        const __mmask8 chosen = _mm512_test_epi64_mask(places, _mm512_set1_epi64(bit));
        for (int k = 0; k < n; ++k) found[k] = _mm512_mask_blend_pd(chosen, found[2 * k], found[2 * k + 1]);
    }
    return found[0];
}

template <int piece>
inline __m512i places_of(__m512i index) {
    return _mm512_cvtepu16_epi64(_mm512_extracti32x4_epi32(index, piece));
}

template <int registers, int piece>
inline void add_piece(double* total, const __m512d* table, __m512i index) {
    double* at = total + PARTS * piece;
    _mm512_storeu_pd(at, _mm512_add_pd(_mm512_loadu_pd(at), pick_from<registers>(table, places_of<piece>(index))));
}
#endif

// The sum of the states of all lines, each times its factor, for the BATCH rows from `row` on.
inline void index_of(std::uint16_t index[BATCH], int64_t row, const std::uint16_t* const* lines, const std::uint16_t* factors,
                     int64_t n_lines) {
    std::fill(index, index + BATCH, std::uint16_t(0));
    for (int64_t k = 0; k < n_lines; ++k) {
        const std::uint16_t* line = lines[k] + row;
        const std::uint16_t factor = factors[k];
        for (int i = 0; i < BATCH; ++i) index[i] = std::uint16_t(index[i] + line[i] * factor);
    }
}

#if GLASSWOOD_PERMUTES
template <int registers>
inline void add_permuted(double* total, int64_t n_rows, const double* table, const std::uint16_t* const* lines,
                         const std::uint16_t* factors, int64_t n_lines) {
    __m512d held[registers];
    for (int k = 0; k < registers; ++k) held[k] = _mm512_loadu_pd(table + PARTS * k);
    alignas(64) std::uint16_t numbers[BATCH];
    for (int64_t row = 0; row < n_rows; row += BATCH) {
        index_of(numbers, row, lines, factors, n_lines);
        const __m512i index = _mm512_load_si512(numbers);
        add_piece<registers, 0>(total + row, held, index);
        add_piece<registers, 1>(total + row, held, index);
        add_piece<registers, 2>(total + row, held, index);
        add_piece<registers, 3>(total + row, held, index);
    }
}
#endif

// Adds table[sum of line[row] * factor over the lines] to total[row].
inline void add_entries(double* total, int64_t n_rows, const double* table, [[maybe_unused]] int64_t n_entries,
                        const std::uint16_t* const* lines, const std::uint16_t* factors, int64_t n_lines) {
#if GLASSWOOD_PERMUTES
    if (n_entries <= 16) return add_permuted<2>(total, n_rows, table, lines, factors, n_lines);
    if (n_entries <= 32) return add_permuted<4>(total, n_rows, table, lines, factors, n_lines);
    if (n_entries <= 64) return add_permuted<8>(total, n_rows, table, lines, factors, n_lines);
#endif
    for (int64_t row = 0; row < n_rows; row += BATCH) {
        std::uint16_t index[BATCH];
        index_of(index, row, lines, factors, n_lines);
        for (int i = 0; i < BATCH; ++i) total[row + i] += table[index[i]];
    }
}

// For each row, the entry of a table of 64 that the lowest common bit of `word` and the row's bits names, or 0.
inline void pick(const Word* bits, Word word, const double* table, int64_t n_rows, double* out) {
#if GLASSWOOD_PERMUTES
    __m512d held[8];
    for (int k = 0; k < 8; ++k) held[k] = _mm512_loadu_pd(table + PARTS * k);
    const __m512i words = _mm512_set1_epi64(int64_t(word)), zero = _mm512_setzero_si512(), last = _mm512_set1_epi64(63);
    for (int64_t row = 0; row < n_rows; row += PARTS) {
        const __m512i common = _mm512_and_si512(_mm512_loadu_si512(bits + row), words);
        const __m512i lowest = _mm512_and_si512(common, _mm512_sub_epi64(zero, common));
        const __m512i places = _mm512_and_si512(_mm512_sub_epi64(last, _mm512_lzcnt_epi64(lowest)), last);
        const __mmask8 some = _mm512_test_epi64_mask(common, common);
        _mm512_storeu_pd(out + row, _mm512_maskz_mov_pd(some, pick_from<8>(held, places)));
    }
#else
    for (int64_t row = 0; row < n_rows; ++row) {
        const Word common = bits[row] & word;
        out[row] = common ? table[std::countr_zero(common)] : 0.0;
    }
#endif
}

// For the BATCH rows from `row` on, a number whose bit k is the bit `bit` of the row's word in line k.
inline void collect_bits(const Word* const* lines, int64_t n_lines, int bit, int64_t row, std::uint16_t* out) {
#if GLASSWOOD_PERMUTES
    const __m512i wanted = _mm512_set1_epi64(int64_t(1) << bit);
    __m512i found = _mm512_setzero_si512();
    for (int64_t k = 0; k < n_lines; ++k) {
        __mmask32 have = 0;
        for (int piece = 0; piece < BATCH / PARTS; ++piece) {
            const __m512i words = _mm512_loadu_si512(lines[k] + row + PARTS * piece);
            have |= __mmask32(_mm512_test_epi64_mask(words, wanted)) << (PARTS * piece);
        }
        found = _mm512_mask_add_epi16(found, have, found, _mm512_set1_epi16(short(1 << k)));
    }
    _mm512_storeu_si512(out + row, found);
#else
    std::uint16_t found[BATCH] = {};
    for (int64_t k = 0; k < n_lines; ++k) {
        const Word* line = lines[k] + row;
        for (int i = 0; i < BATCH; ++i) found[i] = std::uint16_t(found[i] | (line[i] >> bit & 1) << k);
    }
    std::copy(found, found + BATCH, out + row);
#endif
}

// Writes the sums of absolute values and of squares, in eight parts each.
inline void sum_moments(const double* values, int64_t n, double out[2 * PARTS]) {
    double sizes[PARTS] = {}, squares[PARTS] = {};
    for (int64_t i = 0; i < n; i += PARTS)
        for (int k = 0; k < PARTS; ++k) {
            sizes[k] += std::fabs(values[i + k]);
            squares[k] += values[i + k] * values[i + k];
        }
    std::copy(sizes, sizes + PARTS, out);
    std::copy(squares, squares + PARTS, out + PARTS);
}

// Adds the weighted sums of values and of their squares, in eight parts each.
inline void weigh(const double* values, const double* weights, int64_t n, double out[2 * PARTS]) {
    double sums[PARTS], squares[PARTS];
    std::copy(out, out + PARTS, sums);
    std::copy(out + PARTS, out + 2 * PARTS, squares);
    for (int64_t i = 0; i < n; i += PARTS)
        for (int k = 0; k < PARTS; ++k) {
            const double x = values[i + k], term = x * weights[i + k];
            sums[k] += term;
            squares[k] += term * x;
        }
    std::copy(sums, sums + PARTS, out);
    std::copy(squares, squares + PARTS, out + PARTS);
}

// total += plus - minus
inline void add_difference(double* total, const double* plus, const double* minus, int64_t n) {
    for (int64_t i = 0; i < n; ++i) total[i] += plus[i] - minus[i];
}

// e to the power of x, right to about one unit in the last place; the same bits on every machine.
inline double exponential(double x) {
    x = std::min(709.0, std::max(-708.0, x));
    // x = n ln 2 + r. Adding and taking away 1.5 * 2**52 rounds to a whole number, which is then in the last bits.
    constexpr double MAGIC = 6755399441055744.0;
    const double shifted = x * 1.4426950408889634 + MAGIC;
    const double n = shifted - MAGIC;
    double r = x - n * 6.93147180369123816490e-01;  // ln 2 in two parts, the first one short
    r = r - n * 1.90821492927058770002e-10;
    double power = 1.0 / 6227020800.0;
    power = power * r + 1.0 / 479001600.0;
    power = power * r + 1.0 / 39916800.0;
    power = power * r + 1.0 / 3628800.0;
    power = power * r + 1.0 / 362880.0;
    power = power * r + 1.0 / 40320.0;
    power = power * r + 1.0 / 5040.0;
    power = power * r + 1.0 / 720.0;
    power = power * r + 1.0 / 120.0;
    power = power * r + 1.0 / 24.0;
    power = power * r + 1.0 / 6.0;
    power = power * r + 1.0 / 2.0;
    power = power * r + 1.0;
    power = power * r + 1.0;
    // 2**n is n added to the exponent.
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(power) + (std::bit_cast<std::uint64_t>(shifted) << 52));
}

enum class Link { IDENTITY, LOGISTIC, SOFTMAX, EXP };

// Writes the link of factor * x + constant; softmax is that of all outputs, so it is left to the caller.
inline void respond(Link link, const double* values, int64_t n, double factor, double constant, double* out) {
    if (link == Link::LOGISTIC)
        for (int64_t i = 0; i < n; ++i) out[i] = 1.0 / (1.0 + exponential(0.0 - (values[i] * factor + constant)));
    else if (link == Link::EXP)
        for (int64_t i = 0; i < n; ++i) out[i] = exponential(values[i] * factor + constant);
    else
        for (int64_t i = 0; i < n; ++i) out[i] = values[i] * factor + constant;
}

}  // namespace glasswood
