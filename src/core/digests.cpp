#include "digests.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace glasswood {
namespace {

constexpr int64_t BESIDE = 64;  // columns beside each other that are read together, row by row
constexpr Word STEP = 0x9E3779B97F4A7C15;  // of the keys from row to row

// Every bit of a value, and of the key of its row, moves many bits of what is added.
inline Word mixed(Word value, Word key) {
    Word x = value ^ key;
    x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93;
    return x ^ (x >> 29);
}

template <class Bits>
inline Word bits_at(const std::byte* at) {
    Bits value;
    std::memcpy(&value, at, sizeof(Bits));
    return value;
}

template <class Bits>
Word digest(const std::byte* start, int64_t stride, Word key, int64_t n_rows) {
    Word sum = 0;
    if (stride == int64_t(sizeof(Bits)))  // with a known distance, compilers use vectors
        for (int64_t row = 0; row < n_rows; ++row, key += STEP) sum += mixed(bits_at<Bits>(start + row * int64_t(sizeof(Bits))), key);
    else
        for (int64_t row = 0; row < n_rows; ++row, key += STEP) sum += mixed(bits_at<Bits>(start + row * stride), key);
    return sum;
}

Word digest(const RawColumn& column, const std::byte* start, Word key, int64_t n_rows) {
    switch (column.width) {
        case 8: return digest<std::uint64_t>(start, column.stride, key, n_rows);
        case 4: return digest<std::uint32_t>(start, column.stride, key, n_rows);
        case 2: return digest<std::uint16_t>(start, column.stride, key, n_rows);
        default: return digest<std::uint8_t>(start, column.stride, key, n_rows);
    }
}

// How many columns, from the first one on, lie beside each other, as in an array in C order.
std::size_t beside(std::span<const RawColumn> columns) {
    std::size_t n = 1;
    while (n < columns.size() && n < BESIDE && columns[n].width == columns[0].width && columns[n].stride == columns[0].stride &&
           columns[n].start == columns[n - 1].start + columns[0].width)
        ++n;
    return n;
}

template <class Bits>
void add_beside(const RawColumn& first, Word key, int64_t n_rows, std::span<Word> digests) {
    std::array<Word, BESIDE> sums{};
    const int64_t n = int64_t(digests.size());
    for (int64_t row = 0; row < n_rows; ++row, key += STEP)
        for (int64_t k = 0; k < n; ++k) sums[k] += mixed(bits_at<Bits>(first.start + row * first.stride + k * int64_t(sizeof(Bits))), key);
    for (int64_t k = 0; k < n; ++k) digests[k] += sums[k];
}

}  // namespace

void add_digests(std::span<const RawColumn> columns, int64_t first, int64_t n_rows, std::span<Word> digests) {
    std::size_t k = 0;
    while (k < columns.size()) {
        const std::size_t n = beside(columns.subspan(k));
        const Word key = Word(first) * STEP;
        if (n > 1 && columns[k].width == 8) add_beside<std::uint64_t>(columns[k], key, n_rows, digests.subspan(k, n));
        else if (n > 1 && columns[k].width == 4) add_beside<std::uint32_t>(columns[k], key, n_rows, digests.subspan(k, n));
        else
            for (std::size_t i = k; i < k + n; ++i) digests[i] += digest(columns[i], columns[i].start, key, n_rows);
        k += n;
    }
}

}  // namespace glasswood
