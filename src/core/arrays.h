// Arrays as kernels see them: a pointer and sizes. Nothing here knows of Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace glasswood {

using Word = std::uint64_t;  // 64 rows, leaves or categories, one bit each
using std::int32_t;
using std::int64_t;

// A matrix in C order.
template <class T>
struct Matrix {
    T* data;
    int64_t n_rows, n_columns;

    T* operator[](int64_t row) const { return data + row * n_columns; }
};

// An array of three dimensions, in C order.
template <class T>
struct Cube {
    T* data;
    int64_t n_layers, n_rows, n_columns;

    T* line(int64_t layer, int64_t row) const { return data + (layer * n_rows + row) * n_columns; }
};

// Numbers with any distance, in entries, from one to the next, such as a field of a library's nodes.
template <class T>
struct Strided {
    const T* data;
    int64_t size, stride;

    T operator[](int64_t at) const { return data[at * stride]; }
};

// Whether the category `code` is in the set that starts at `words`.
inline bool has_category(const Word* words, int64_t code) { return words[code >> 6] >> (code & 63) & 1; }

// A column of a table: float32 or float64, with any number of bytes from row to row.
struct Column {
    const std::byte* start;
    int64_t stride;
    bool is_single;

    double operator[](int64_t row) const {
        const std::byte* at = start + row * stride;
        return is_single ? double(*reinterpret_cast<const float*>(at)) : *reinterpret_cast<const double*>(at);
    }
};

}  // namespace glasswood
