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

constexpr int64_t DIGEST_ROWS = 1024;  // rows that have a digest together

// The digest of up to DIGEST_ROWS rows. Another value of any row, or another order of the rows, is another digest.
Word digest_of(const RawColumn& column, int64_t n_rows);

// Writes the digests of columns: a line for each block of DIGEST_ROWS rows.
void write_digests(std::span<const RawColumn> columns, int64_t n_rows, Matrix<Word> digests);

}  // namespace glasswood
