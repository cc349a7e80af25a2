// Blocks of 4,096 rows as bits, 64 rows to a word. Written as plain loops that compilers turn into vector instructions.
#pragma once

#include <bit>
#include <cmath>

#include "arrays.h"
#include "vectors.h"

namespace glasswood {

constexpr int WORDS = 64, ROWS = 64 * WORDS;

struct alignas(64) Block {
    Word word[WORDS];
};

// Where the word of the rows from 64 * word on is in its block. Words are dealt out to eight lanes: those of the first
// 512 rows are the first lanes of the eight vectors of a block, and so on. Numbers of bits that are added up vector by
// vector are then those of successive rows, see running_counts.
constexpr int LANES = 8;
constexpr int place_of(int word) { return word % LANES * LANES + word / LANES; }

// out = rows & mask (or & ~mask if `flip` is all ones); returns 0 iff no bit is left.
inline Word keep(Block& out, const Block& rows, const Block& mask, Word flip) {
    Word some = 0;
    for (int i = 0; i < WORDS; ++i) some |= out.word[i] = rows.word[i] & (mask.word[i] ^ flip);
    return some;
}

inline int64_t count(const Block& rows) { return count_bits(rows.word, rows.word, 0, WORDS); }

// The number of bits in rows & (mask ^ flip).
inline int64_t count(const Block& rows, const Block& mask, Word flip) { return count_bits(rows.word, mask.word, flip, WORDS); }

// For each word of a block, the number of bits in earlier rows.
inline void running_counts(const Block& rows, int64_t before[WORDS]) {
    int64_t total[LANES] = {};
    for (int vector = 0; vector < WORDS; vector += LANES)
        for (int lane = 0; lane < LANES; ++lane) {
            before[vector + lane] = total[lane];
            total[lane] += std::popcount(rows.word[vector + lane]);
        }
    int64_t earlier[LANES] = {};  // lanes
    for (int lane = 1; lane < LANES; ++lane) earlier[lane] = earlier[lane - 1] + total[lane - 1];
    for (int vector = 0; vector < WORDS; vector += LANES)
        for (int lane = 0; lane < LANES; ++lane) before[vector + lane] += earlier[lane];
}

// The comparisons x <= cut of the rows of a block; NaN counts as true if `missing`.
template <bool missing, class T>
inline void compare(const T* x, T cut, Block& out) {
    for (int word = 0; word < WORDS; ++word) out.word[place_of(word)] = compare<missing>(x + 64 * word, cut);
}

}  // namespace glasswood
