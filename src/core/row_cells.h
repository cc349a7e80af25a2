// Rows as cells: the number of the cell that every value of a block of rows lies in, see glasswood.counting._plan.Cells.
#pragma once

#include <cmath>

#include "arrays.h"

namespace glasswood {

struct CutsOfColumns {
    std::span<const double> cut;                      // sorted within a column
    std::span<const int64_t> first, n_codes, n_cells; // of each column: its first cut; its categories, 0 for numbers; its cells

    // The cells of a column are, in this order: the intervals between its cuts, or its categories and one cell for
    // unseen ones; and last the cell of missing values.
    int64_t cell(std::size_t column, double x) const {
        if (std::isnan(x)) return n_cells[column] - 1;
        if (n_codes[column] > 0) return x >= 0 && x < double(n_codes[column]) ? int64_t(x) : n_codes[column];
        const int64_t start = first[column];
        int64_t low = start, high = start + n_cells[column] - 2;
        while (low < high) {
            const int64_t middle = (low + high) >> 1;
            if (cut[middle] < x) low = middle + 1;
            else high = middle;
        }
        return low - start;
    }
};

// Writes the cell of every value; one line per column.
void write_cells(std::span<const Column> columns, const CutsOfColumns& cuts, Matrix<int32_t> cells);

}  // namespace glasswood
