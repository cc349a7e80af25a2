// Boxes as runs of neighbouring cells.
#pragma once

#include "plan.h"

namespace glasswood {

// Some cells, one after the other.
struct Run {
    int64_t first, end;
};

// The cells of one feature that lead to a leaf, see Boxes.
struct Box {
    int64_t n_cells, n_codes;
    int32_t low, high;
    bool missing, unseen;
    const Word* sets;

    static Box of(const Boxes& boxes, int64_t box) {
        const int32_t f = boxes.feature[box];
        return {boxes.n_cells[f], boxes.n_codes[f], boxes.low[box], boxes.high[box], boxes.missing[box], boxes.unseen[box], boxes.sets.data()};
    }

    bool has_code(int64_t cell) const {
        if (cell == n_cells - 1) return missing;
        return cell == n_codes ? unseen : has_category(sets + low, cell);
    }
};

// Writes the runs of cells that a box consists of; returns their number, at most one for every other cell.
inline int64_t write_runs(const Box& box, Run* runs) {
    int64_t n_runs = 0;
    if (box.n_codes == 0) {
        if (box.low <= box.high) runs[n_runs++] = {box.low, int64_t(box.high) + 1};
        if (box.missing) runs[n_runs++] = {box.n_cells - 1, box.n_cells};
        return n_runs;
    }
    bool inside = false;
    for (int64_t cell = 0; cell < box.n_cells; ++cell) {
        const bool meets = box.has_code(cell);
        if (meets && !inside) runs[n_runs].first = cell;
        if (inside && !meets) runs[n_runs++].end = cell;
        inside = meets;
    }
    if (inside) runs[n_runs++].end = box.n_cells;
    return n_runs;
}

}  // namespace glasswood
