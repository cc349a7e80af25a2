// Digests of columns: whether a table has been changed since it was read.
#pragma once

#include "arrays.h"

namespace glasswood {

// A column of a table as bits: numbers of 1, 2, 4 or 8 bytes, with any number of bytes from row to row.
struct RawColumn {
    const std::byte* start;
    int64_t stride;
    int width;
};

// Adds to each column's digest those of `n_rows` rows, of which the first has the number `first`: a sum over rows, so that
// parts can be added in any order. Another value of any row, or another order of the rows, is another digest.
void add_digests(std::span<const RawColumn> columns, int64_t first, int64_t n_rows, std::span<Word> digests);

}  // namespace glasswood
