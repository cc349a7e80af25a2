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
Word digest_of(const std::byte* start, int64_t stride, int64_t n_rows) {
    Word sum = 0, key = 0;
    if (stride == int64_t(sizeof(Bits)))  // with a known distance, compilers use vectors
        for (int64_t row = 0; row < n_rows; ++row, key += STEP) sum += mixed(bits_at<Bits>(start + row * int64_t(sizeof(Bits))), key);
    else
        for (int64_t row = 0; row < n_rows; ++row, key += STEP) sum += mixed(bits_at<Bits>(start + row * stride), key);
    return sum;
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
void write_beside(const RawColumn& first, int64_t n_rows, std::span<Word> digests) {
    std::array<Word, BESIDE> sums{};
    const int64_t n = int64_t(digests.size());
    Word key = 0;
    for (int64_t row = 0; row < n_rows; ++row, key += STEP)
        for (int64_t k = 0; k < n; ++k) sums[k] += mixed(bits_at<Bits>(first.start + row * first.stride + k * int64_t(sizeof(Bits))), key);
    std::copy_n(sums.begin(), n, digests.begin());
}

}  // namespace

Word digest_of(const RawColumn& column, int64_t n_rows) {
    switch (column.width) {
        case 8: return digest_of<std::uint64_t>(column.start, column.stride, n_rows);
        case 4: return digest_of<std::uint32_t>(column.start, column.stride, n_rows);
        case 2: return digest_of<std::uint16_t>(column.start, column.stride, n_rows);
        default: return digest_of<std::uint8_t>(column.start, column.stride, n_rows);
    }
}

void write_digests(std::span<const RawColumn> columns, int64_t n_rows, Matrix<Word> digests) {
    for (std::size_t k = 0; k < columns.size();) {
        const std::size_t n = beside(columns.subspan(k));
        for (int64_t start = 0; start < n_rows; start += DIGEST_ROWS) {
            const int64_t n_here = std::min(DIGEST_ROWS, n_rows - start);
            const std::span<Word> line(digests[start / DIGEST_ROWS] + k, n);
            const RawColumn first{columns[k].start + start * columns[k].stride, columns[k].stride, columns[k].width};
            if (n > 1 && first.width == 8) write_beside<std::uint64_t>(first, n_here, line);
            else if (n > 1 && first.width == 4) write_beside<std::uint32_t>(first, n_here, line);
            else
                for (std::size_t i = 0; i < n; ++i)
                    line[i] = digest_of({columns[k + i].start + start * first.stride, first.stride, first.width}, n_here);
        }
        k += n;
    }
}

}  // namespace glasswood
