// Many rows at a time: lookups with an index made of several states, responses, and sums in a fixed order.
//
// All intrinsics of the core are in this file, each with a portable twin that returns the same bits. Numbers of rows are
// multiples of BATCH. Sums have eight parts that are always the same, so that they do not depend on the level.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "arrays.h"
#include "constants.h"

#ifndef GLASSWOOD_LEVEL
#error "vectors.h differs between instruction levels: only kernels include it, never what is compiled once for all levels"
#endif

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__)
#include <immintrin.h>
#define GLASSWOOD_PERMUTES 1  // tables of up to 64 entries are held in registers
#elif defined(__AVX2__)
#include <immintrin.h>
#define GLASSWOOD_SIGNS 1  // comparisons are taken from signs
#endif
#if defined(__AVX2__) && !defined(__AVX512VPOPCNTDQ__)
#define GLASSWOOD_SHUFFLES 1  // bits are counted by looking up half bytes
#endif

namespace glasswood {

// As many doubles as the machine adds at once: with arrays in their place, compilers keep such sums in memory.
#if defined(__GNUC__)  // and Clang
#if defined(__AVX512F__)
constexpr int DOUBLES = 8;
#elif defined(__AVX__)
constexpr int DOUBLES = 4;
#else
constexpr int DOUBLES = 2;
#endif
typedef double Doubles __attribute__((vector_size(8 * DOUBLES), aligned(8), may_alias));
typedef Word Words __attribute__((vector_size(8 * DOUBLES), aligned(8), may_alias));
typedef int64_t Wholes __attribute__((vector_size(8 * DOUBLES), aligned(8), may_alias));
inline Doubles all(double value) { return Doubles{} + value; }

// Entries of a table, loaded one by one: gather instructions take up to twice as long.
inline Doubles gather(const double* table, const std::uint16_t* index) {
    Doubles found;
    for (int i = 0; i < DOUBLES; ++i) found[i] = table[index[i]];
    return found;
}
#else
constexpr int DOUBLES = 1;
typedef double Doubles;
typedef Word Words;
typedef int64_t Wholes;
inline Doubles all(double value) { return value; }
inline Doubles gather(const double* table, const std::uint16_t* index) { return table[*index]; }
#endif
inline Doubles load(const double* values) { return *reinterpret_cast<const Doubles*>(values); }
inline void store(double* out, Doubles values) { *reinterpret_cast<Doubles*>(out) = values; }
inline Doubles absolute(Doubles x) { return std::bit_cast<Doubles>(std::bit_cast<Words>(x) & (~Word(0) >> 1)); }

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
#if defined(__GNUC__)  // and Clang: sums stay in registers, where a loop over an array is twice to three times as slow
    constexpr int N = 4 * DOUBLES, N_SUMS = BATCH / N;
    typedef std::uint16_t Lanes __attribute__((vector_size(2 * N), aligned(2), may_alias));
    Lanes sum[N_SUMS] = {};
    for (int64_t k = 0; k < n_lines; ++k)
        for (int i = 0; i < N_SUMS; ++i) sum[i] += *reinterpret_cast<const Lanes*>(lines[k] + row + i * N) * factors[k];
    for (int i = 0; i < N_SUMS; ++i) *reinterpret_cast<Lanes*>(index + i * N) = sum[i];
#else
    std::fill(index, index + BATCH, std::uint16_t(0));
    for (int64_t k = 0; k < n_lines; ++k) {
        const std::uint16_t* line = lines[k] + row;
        for (int i = 0; i < BATCH; ++i) index[i] = std::uint16_t(index[i] + line[i] * factors[k]);
    }
#endif
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
    // All numbers of some rows first: next to each other, compilers pass numbers from vector to vector, which is slower.
    constexpr int64_t AT_A_TIME = 8 * BATCH;
    std::uint16_t index[AT_A_TIME];
    for (int64_t first = 0; first < n_rows; first += AT_A_TIME) {
        const int64_t n = std::min(AT_A_TIME, n_rows - first);
        for (int64_t i = 0; i < n; i += BATCH) index_of(index + i, first + i, lines, factors, n_lines);
        double* sums = total + first;
        for (int64_t i = 0; i < n; i += DOUBLES) store(sums + i, load(sums + i) + gather(table, index + i));
    }
}

// The number of bits in n words of rows & (mask ^ flip); n is a multiple of 4, and at most 124.
inline int64_t count_bits(const Word* rows, const Word* mask, Word flip, int n) {
#if GLASSWOOD_SHUFFLES
    const __m256i bits_of = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15), flips = _mm256_set1_epi64x(int64_t(flip));
    __m256i sums = _mm256_setzero_si256();  // of each byte, at most 8 from each of 31 vectors
    for (int i = 0; i < n; i += 4) {
        const auto at = [i](const Word* words) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words + i)); };
        const __m256i here = _mm256_and_si256(at(rows), _mm256_xor_si256(at(mask), flips));
        sums = _mm256_add_epi8(sums, _mm256_shuffle_epi8(bits_of, _mm256_and_si256(here, low)));
        sums = _mm256_add_epi8(sums, _mm256_shuffle_epi8(bits_of, _mm256_and_si256(_mm256_srli_epi16(here, 4), low)));
    }
    sums = _mm256_sad_epu8(sums, _mm256_setzero_si256());
    return _mm256_extract_epi64(sums, 0) + _mm256_extract_epi64(sums, 1) + _mm256_extract_epi64(sums, 2) + _mm256_extract_epi64(sums, 3);
#else
    int64_t total = 0;
    for (int i = 0; i < n; ++i) total += std::popcount(rows[i] & (mask[i] ^ flip));
    return total;
#endif
}

// One bit per place: adding up chosen entries is what compilers turn into comparisons of whole vectors.
struct Bits {
    Word of[64];
    constexpr Bits() : of{} {
        for (int bit = 0; bit < 64; ++bit) of[bit] = Word(1) << bit;
    }
};
inline constexpr Bits BIT;

// The comparisons x <= cut of 64 rows, as bits; NaN counts as true if `missing`.
template <bool missing, class T>
inline Word compare(const T* x, T cut) {
    Word bits = 0;
#if GLASSWOOD_SIGNS
    if constexpr (sizeof(T) == 4) {
        for (int bit = 0; bit < 64; bit += 8) {
            const __m256 found = _mm256_cmp_ps(_mm256_loadu_ps(x + bit), _mm256_set1_ps(cut), missing ? _CMP_NGT_UQ : _CMP_LE_OQ);
            bits |= Word(_mm256_movemask_ps(found)) << bit;
        }
        return bits;
    }
#endif
    for (int bit = 0; bit < 64; ++bit) bits |= (missing ? !(x[bit] > cut) : x[bit] <= cut) ? BIT.of[bit] : 0;
    return bits;
}

#if GLASSWOOD_PERMUTES
template <int registers>
inline void pick_held(const Word* bits, std::span<const Word> words, const double* table, int64_t n_rows, double* out, int64_t stride) {
    __m512d held[registers];
    for (int k = 0; k < registers; ++k) held[k] = _mm512_loadu_pd(table + PARTS * k);
    const __m512i zero = _mm512_setzero_si512(), last = _mm512_set1_epi64(63);
    for (int64_t row = 0; row < n_rows; row += PARTS) {
        const __m512i own = _mm512_loadu_si512(bits + row);
        double* to = out + row;
        for (const Word word : words) {
            const __m512i common = _mm512_and_si512(own, _mm512_set1_epi64(int64_t(word)));
            const __m512i lowest = _mm512_and_si512(common, _mm512_sub_epi64(zero, common));
            const __m512i places = _mm512_and_si512(_mm512_sub_epi64(last, _mm512_lzcnt_epi64(lowest)), last);
            const __mmask8 some = _mm512_test_epi64_mask(common, common);
            _mm512_storeu_pd(to, _mm512_maskz_mov_pd(some, pick_from<registers>(held, places)));
            to += stride;
        }
    }
}
#endif

// For each row and each word, the entry of a table of 64 that the lowest common bit of the word and the row's bits names, or
// the entry behind them, a 0, if there is none. Words have none but the first n_entries bits. The lines of `out`, one for
// each word, are `stride` apart.
inline void pick(const Word* bits, std::span<const Word> words, const double* table, [[maybe_unused]] int64_t n_entries, int64_t n_rows,
                 double* out, int64_t stride) {
#if GLASSWOOD_PERMUTES
    if (n_entries <= 16) return pick_held<2>(bits, words, table, n_rows, out, stride);
    if (n_entries <= 32) return pick_held<4>(bits, words, table, n_rows, out, stride);
    return pick_held<8>(bits, words, table, n_rows, out, stride);
#else
    for (const Word word : words) {
        for (int64_t row = 0; row < n_rows; ++row) out[row] = table[std::countr_zero(bits[row] & word)];
        out += stride;
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
#elif GLASSWOOD_SIGNS
    // The bit becomes the sign; the signs of 16 rows are then spread over 16 lanes, one bit each.
    const __m128i to_sign = _mm_cvtsi32_si128(63 - bit);
    const __m256i lanes = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768);
    __m256i found[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (int64_t k = 0; k < n_lines; ++k)
        for (int half = 0; half < 2; ++half) {
            int have = 0;
            for (int piece = 0; piece < 4; ++piece) {
                const auto* words = reinterpret_cast<const __m256i*>(lines[k] + row + 16 * half + 4 * piece);
                const __m256i signs = _mm256_sll_epi64(_mm256_loadu_si256(words), to_sign);
                have |= _mm256_movemask_pd(_mm256_castsi256_pd(signs)) << (4 * piece);
            }
            const __m256i chosen = _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16(short(have)), lanes), lanes);
            found[half] = _mm256_or_si256(found[half], _mm256_and_si256(chosen, _mm256_set1_epi16(short(1 << k))));
        }
    for (int half = 0; half < 2; ++half) _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + row + 16 * half), found[half]);
#else
    std::uint16_t found[BATCH] = {};
    for (int64_t k = 0; k < n_lines; ++k) {
        const Word* line = lines[k] + row;
        for (int i = 0; i < BATCH; ++i) found[i] = std::uint16_t(found[i] | (line[i] >> bit & 1) << k);
    }
    std::copy(found, found + BATCH, out + row);
#endif
}

constexpr int DEALT = 16;  // items that may be written behind the last one of a list

// Two lists, and where the next item of each is written.
struct TwoLists {
    std::uint32_t *left, *right;
};

// Where items of a list go, see `deal`.
struct Dealing {
    int row_bits;
    const int32_t* ranks;
    const int32_t* following;
    int64_t n_following;
    std::uint32_t turn;
    int32_t bound;
};

#if GLASSWOOD_PERMUTES
// Entries of a table of integers: from registers if there are at most 64 of them.
template <bool held>
class Followers {
  public:
    Followers(const int32_t* table, int64_t n) : table_(table) {
        if constexpr (held)
            for (int k = 0; k < 4; ++k) {
                const int64_t left = std::clamp<int64_t>(n - 16 * k, 0, 16);
                held_[k] = _mm512_maskz_loadu_epi32(__mmask16((1u << left) - 1), table + 16 * k);
            }
    }
    __m512i operator[](__m512i places) const {
        if constexpr (!held) return _mm512_i32gather_epi32(places, table_, 4);
        const __m512i low = _mm512_permutex2var_epi32(held_[0], places, held_[1]), high = _mm512_permutex2var_epi32(held_[2], places, held_[3]);
        return _mm512_mask_blend_epi32(_mm512_test_epi32_mask(places, _mm512_set1_epi32(32)), low, high);
    }

  private:
    const int32_t* table_;
    __m512i held_[4];
};

template <bool held>
inline int64_t deal_16(const std::uint32_t* items, int64_t n, const Dealing& by, TwoLists& to) {
    const Followers<held> following(by.following, by.n_following);
    const __m512i row_mask = _mm512_set1_epi32((1 << by.row_bits) - 1), turn = _mm512_set1_epi32(int(by.turn)), bound = _mm512_set1_epi32(by.bound);
    const __m128i shift = _mm_cvtsi32_si128(by.row_bits);
    int64_t at = 0;
    for (; at + 16 <= n; at += 16) {
        const __m512i item = _mm512_loadu_si512(items + at), row = _mm512_and_si512(item, row_mask);
        const __m512i rank = _mm512_i32gather_epi32(row, by.ranks, 4), other = following[_mm512_srl_epi32(item, shift)];
        const __m512i broken = _mm512_or_si512(row, _mm512_sll_epi32(other, shift));
        const __mmask16 left = _mm512_cmple_epi32_mask(_mm512_add_epi32(rank, turn), bound);
        const __mmask16 may_break = _mm512_cmpge_epi32_mask(other, _mm512_setzero_si512());
        const __mmask16 to_left = left | may_break, to_right = __mmask16(~left) | may_break;
        _mm512_storeu_si512(to.left, _mm512_maskz_compress_epi32(to_left, _mm512_mask_blend_epi32(left, broken, item)));
        _mm512_storeu_si512(to.right, _mm512_maskz_compress_epi32(to_right, _mm512_mask_blend_epi32(left, item, broken)));
        to.left += std::popcount(unsigned(to_left));
        to.right += std::popcount(unsigned(to_right));
    }
    return at;
}
#elif GLASSWOOD_SIGNS
// For each choice of eight lanes, the numbers of those that are chosen, a byte each.
struct Compressed {
    Word order[256];
    constexpr Compressed() : order{} {
        for (int chosen = 0; chosen < 256; ++chosen)
            for (int lane = 0, place = 0; lane < 8; ++lane)
                if (chosen >> lane & 1) order[chosen] |= Word(lane) << (8 * place++);
    }
};
inline constexpr Compressed COMPRESSED;
#endif

// Sends items to two lists, as many as are dealt at once, and returns how many these are: the rest, fewer than DEALT, is left to the
// caller. An item is a row, in its last bits, and a number. It goes left as it is if ranks[row] + turn <= bound, and right
// otherwise; and to the other side with the number following[number], unless that is negative. The right list may begin where the
// items do, since no more are written than have been read.
inline int64_t deal([[maybe_unused]] const std::uint32_t* items, [[maybe_unused]] int64_t n, [[maybe_unused]] const Dealing& by, [[maybe_unused]] TwoLists& to) {
#if GLASSWOOD_PERMUTES
    return by.n_following <= 64 ? deal_16<true>(items, n, by, to) : deal_16<false>(items, n, by, to);
#elif GLASSWOOD_SIGNS
    const __m256i row_mask = _mm256_set1_epi32((1 << by.row_bits) - 1), turn = _mm256_set1_epi32(int(by.turn)), bound = _mm256_set1_epi32(by.bound);
    const __m128i shift = _mm_cvtsi32_si128(by.row_bits);
    const auto write = [](std::uint32_t*& out, int chosen, __m256i values) {
        const __m256i order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(int64_t(COMPRESSED.order[chosen])));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_permutevar8x32_epi32(values, order));
        out += std::popcount(unsigned(chosen));
    };
    int64_t at = 0;
    for (; at + 8 <= n; at += 8) {
        const __m256i item = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(items + at)), row = _mm256_and_si256(item, row_mask);
        const __m256i rank = _mm256_i32gather_epi32(by.ranks, row, 4);
        const __m256i other = _mm256_i32gather_epi32(by.following, _mm256_srl_epi32(item, shift), 4);
        const __m256i broken = _mm256_or_si256(row, _mm256_sll_epi32(other, shift));
        const __m256i not_left = _mm256_cmpgt_epi32(_mm256_add_epi32(rank, turn), bound);
        const int right = _mm256_movemask_ps(_mm256_castsi256_ps(not_left)), may_not = _mm256_movemask_ps(_mm256_castsi256_ps(other));
        write(to.left, 255 & ~(right & may_not), _mm256_blendv_epi8(item, broken, not_left));
        write(to.right, 255 & (right | ~may_not), _mm256_blendv_epi8(broken, item, not_left));
    }
    return at;
#else
    return 0;
#endif
}

constexpr int PIECES = PARTS / DOUBLES;  // of eight parts

// Writes the sums of absolute values, of squares and of the values, in eight parts each.
inline void sum_moments(const double* values, int64_t n, double out[3 * PARTS]) {
    Doubles sizes[PIECES] = {}, squares[PIECES] = {}, sums[PIECES] = {};
    for (int64_t i = 0; i < n; i += PARTS)
        for (int piece = 0; piece < PIECES; ++piece) {
            const Doubles x = load(values + i + piece * DOUBLES);
            sizes[piece] += absolute(x);
            squares[piece] += x * x;
            sums[piece] += x;
        }
    for (int piece = 0; piece < PIECES; ++piece) {
        store(out + piece * DOUBLES, sizes[piece]);
        store(out + PARTS + piece * DOUBLES, squares[piece]);
        store(out + 2 * PARTS + piece * DOUBLES, sums[piece]);
    }
}

// Adds the weighted sums of values and of their squares, in eight parts each.
inline void weigh(const double* values, const double* weights, int64_t n, double out[2 * PARTS]) {
    Doubles sums[PIECES], squares[PIECES];
    for (int piece = 0; piece < PIECES; ++piece) {
        sums[piece] = load(out + piece * DOUBLES);
        squares[piece] = load(out + PARTS + piece * DOUBLES);
    }
    for (int64_t i = 0; i < n; i += PARTS)
        for (int piece = 0; piece < PIECES; ++piece) {
            const Doubles x = load(values + i + piece * DOUBLES), term = x * load(weights + i + piece * DOUBLES);
            sums[piece] += term;
            squares[piece] += term * x;
        }
    for (int piece = 0; piece < PIECES; ++piece) {
        store(out + piece * DOUBLES, sums[piece]);
        store(out + PARTS + piece * DOUBLES, squares[piece]);
    }
}

// Adds whole numbers in units of limb `first` to a wide one. The last limb has what is beyond it.
inline void add_limbs(Wholes numbers, int first, int64_t limbs[LIMBS]) {
    int64_t number = 0, lanes[DOUBLES];
    std::memcpy(lanes, &numbers, sizeof lanes);
    for (const int64_t lane : lanes) number += lane;
    for (int limb = first; limb < LIMBS - 1 && limb < first + 2; ++limb, number >>= LIMB_BITS) limbs[limb] += number & LIMB_MASK;
    const int beyond = std::max(first - (LIMBS - 1), 0);
    limbs[std::min(first + 2, LIMBS - 1)] += number << beyond * LIMB_BITS;
}

// What the bits of x + unit are beyond those of `unit`: x rounded to a whole number, if unit is 1.5 * 2**52 and x is smaller
// than 2**50; x * 2**52 rounded, if unit is 1.5 and x is from -1/2 to 1/2.
inline Wholes whole(Doubles x, double unit) { return std::bit_cast<Wholes>(x + unit) - std::bit_cast<int64_t>(unit); }
constexpr double ONES = 1.5 * 4503599627370496.0, FRACTIONS = 1.5;

// Adds the sums of x and of x * x, for x = factor * value, in units of 2**-52, to two wide numbers; at most 256 rows. If the
// values are LARGE, x is smaller than 2**25; if not, at most 1/2. `digits` are the rows' weights, below 2**28, in units of
// 2**(26 * place); of rows without weights, all bits (-1), and 0 for rows that do not count. With one of both POWERS, there
// is one number, and x may be as large as 2**50 if it is LARGE.
template <bool WEIGHTED, bool LARGE, int POWERS = 2>
void add_whole(const double* values, const int64_t* digits, int64_t n, double factor, int place, int64_t out[POWERS * LIMBS]) {
    constexpr int N = LARGE ? 4 : 2;  // parts of 26 binary digits
    Wholes sums[POWERS][N]{};
    for (int64_t i = 0; i < n; i += DOUBLES) {
        const Doubles x = load(values + i) * factor, powers[2] = {x, x * x};
        const Wholes digit = *reinterpret_cast<const Wholes*>(digits + i);
        for (int k = 0; k < POWERS; ++k) {
            Doubles rest = powers[k];
            if constexpr (LARGE) {
                const Wholes ones = whole(rest, ONES);
                rest -= (rest + ONES) - ONES;
                if constexpr (WEIGHTED) {
                    sums[k][2] += digit * (ones & LIMB_MASK);
                    sums[k][3] += digit * (ones >> LIMB_BITS);
                } else {
                    sums[k][2] += digit & ones;
                }
            }
            const Wholes fractions = whole(rest, FRACTIONS);
            if constexpr (WEIGHTED) {
                sums[k][0] += digit * (fractions & LIMB_MASK);
                sums[k][1] += digit * (fractions >> LIMB_BITS);
            } else {
                sums[k][0] += digit & fractions;
            }
        }
    }
    for (int k = 0; k < POWERS; ++k)
        for (int part = 0; part < N; part += WEIGHTED ? 1 : 2) add_limbs(sums[k][part], place + part, out + k * LIMBS);
}

// Whether no value is beyond a limit, or not a number.
inline bool all_within(const double* values, int64_t n, double limit) {
    bool within = true;
    for (int64_t i = 0; i < n; ++i) within &= std::abs(values[i]) <= limit;
    return within;
}

// total += plus - minus
inline void add_difference(double* total, const double* plus, const double* minus, int64_t n) {
    for (int64_t i = 0; i < n; ++i) total[i] += plus[i] - minus[i];
}

// e to the power of x, right to about one unit in the last place; the same bits on every machine.
inline Doubles exponential(Doubles x) {
    const Doubles low = all(-708.0), high = all(709.0);
    x = x > low ? x : low;
    x = x < high ? x : high;
    // x = n ln 2 + r. Adding and taking away 1.5 * 2**52 rounds to a whole number, which is then in the last bits.
    constexpr double MAGIC = 6755399441055744.0;
    const Doubles shifted = x * 1.4426950408889634 + MAGIC;
    const Doubles n = shifted - MAGIC;
    Doubles r = x - n * 6.93147180369123816490e-01;  // ln 2 in two parts, the first one short
    r = r - n * 1.90821492927058770002e-10;
    Doubles power = r * (1.0 / 6227020800.0) + 1.0 / 479001600.0;
    for (const double term : {1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0,
                              1.0 / 24.0, 1.0 / 6.0, 1.0 / 2.0, 1.0, 1.0})
        power = power * r + term;
    // 2**n is n added to the exponent.
    return std::bit_cast<Doubles>(std::bit_cast<Words>(power) + (std::bit_cast<Words>(shifted) << 52));
}

// The natural logarithm of a positive number, no denormal one; right to about one unit in the last place, and the same bits on
// every machine.
inline Doubles logarithm(Doubles x) {
    // x = 2**n (1 + f), where 1 + f is between the roots of 1/2 and of 2; log(1 + f) = 2 atanh(s), for s = f / (2 + f).
    constexpr Word ONE = std::bit_cast<Word>(1.0), ROOT = std::bit_cast<Word>(0.70710678118654752);
    const Words bits = std::bit_cast<Words>(x), exponent = (bits + (ONE - ROOT)) >> 52;
    const Doubles n = std::bit_cast<Doubles>(exponent | std::bit_cast<Word>(4503599627370496.0)) - (4503599627370496.0 + 1023.0);
    const Doubles f = std::bit_cast<Doubles>(bits - (exponent << 52) + ONE) - 1.0;
    const Doubles s = f / (2.0 + f), z = s * s;
    Doubles series = z * (2.0 / 23.0) + 2.0 / 21.0;
    for (const double term : {2.0 / 19.0, 2.0 / 17.0, 2.0 / 15.0, 2.0 / 13.0, 2.0 / 11.0, 2.0 / 9.0, 2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0})
        series = series * z + term;
    // 2 s = f - s f, of which f is exact.
    const Doubles small = s * (f - series * z) - n * 1.90821492927058770002e-10;
    return n * 6.93147180369123816490e-01 + (f - small);
}

// log(1 + e to the power of x), for any x.
inline Doubles softplus(Doubles x) {
    const Doubles none = all(0.0);
    return (x > none ? x : none) + logarithm(1.0 + exponential(0.0 - absolute(x)));
}

// Writes the link of factor * x + constant; softmax is that of all outputs, so it is left to the caller.
inline void respond(Link link, const double* values, int64_t n, double factor, double constant, double* out) {
    for (int64_t i = 0; i < n; i += DOUBLES) {
        const Doubles x = load(values + i) * factor + constant;
        if (link == Link::LOGISTIC) store(out + i, 1.0 / (1.0 + exponential(0.0 - x)));
        else store(out + i, link == Link::EXP ? exponential(x) : x);
    }
}

constexpr double SMALLEST_SUM = 1e-200, LARGEST_SUM = 1e200;  // of powers that are all right

// Writes e to the power of factor * x + constant - high.
inline void write_powers(const double* values, int64_t n, double factor, double constant, const double* high, double* out) {
    for (int64_t i = 0; i < n; i += DOUBLES) store(out + i, exponential(load(values + i) * factor + constant - load(high + i)));
}

// Writes each row's powers, of which there is a line per output, divided by their sum. Returns whether no sum is so large or
// so small that powers may have been cut off.
inline bool write_shares(const double* powers, int64_t n_outputs, int64_t n, double* out) {
    Doubles least = all(1.0), greatest = all(1.0);
    for (int64_t i = 0; i < n; i += DOUBLES) {
        Doubles sum = load(powers + i);
        for (int64_t o = 1; o < n_outputs; ++o) sum += load(powers + o * n + i);
        least = sum < least ? sum : least;
        greatest = sum > greatest ? sum : greatest;
        const Doubles share = 1.0 / sum;
        for (int64_t o = 0; o < n_outputs; ++o) store(out + o * n + i, load(powers + o * n + i) * share);
    }
    bool within = true;
    for (int lane = 0; lane < DOUBLES; ++lane) within &= least[lane] > SMALLEST_SUM && greatest[lane] < LARGEST_SUM;
    return within;
}

}  // namespace glasswood
