#include "row_cells.h"

namespace glasswood {

void write_cells(std::span<const Column> columns, const CutsOfColumns& cuts, Matrix<int32_t> cells) {
    for (std::size_t column = 0; column < columns.size(); ++column)
        for (int64_t row = 0; row < cells.n_columns; ++row)
            cells[column][row] = int32_t(cuts.cell(column, columns[column][row]));
}

}  // namespace glasswood
