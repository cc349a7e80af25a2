#include "closed_forms.h"

#include <algorithm>
#include <vector>

#include "runs.h"

namespace glasswood {
void add_curves(const Leaves& leaves, std::span<const int64_t> place, Matrix<double> steps) {
    const Boxes& boxes = leaves.boxes;
    const int64_t n_values = leaves.value.n_columns;
    int64_t most = 0;
    for (const int64_t n_cells : boxes.n_cells) most = std::max(most, n_cells);
    std::vector<Run> runs(most + 1);
    for (int64_t leaf = 0; leaf < boxes.n_leaves(); ++leaf) {
        const Counts counts = leaves.counts.from(leaves.offset[leaf]);
        const double* value = leaves.value[leaf];
        const double none = counts[0];
        for (int64_t box = boxes.first[leaf]; box < boxes.first[leaf + 1]; ++box) {
            const int64_t at = place[boxes.feature[box]];
            if (at < 0) continue;
            const double one = counts[leaves.plus[boxes.slot[box]][0]];
            const int64_t n_runs = write_runs(Box::of(boxes, box), runs.data());
            for (int64_t k = 0; k < n_values; ++k) {
                const int64_t output = leaves.output[leaf] + k;
                const double up = value[k] * one;
                steps[at][output] -= value[k] * none;
                for (int64_t run = 0; run < n_runs; ++run) {
                    steps[at + runs[run].first][output] += up;
                    steps[at + runs[run].end][output] -= up;
                }
            }
        }
    }
}

void pairs_on_paths(const Boxes& boxes, Matrix<bool> found) {
    for (int64_t leaf = 0; leaf < boxes.n_leaves(); ++leaf)
        for (int64_t box = boxes.first[leaf]; box < boxes.first[leaf + 1]; ++box)
            for (int64_t other = box + 1; other < boxes.first[leaf + 1]; ++other) {
                const int32_t a = boxes.feature[box], b = boxes.feature[other];
                found[std::min(a, b)][std::max(a, b)] = true;
            }
}

void add_grids(const Leaves& leaves, int64_t first_leaf, int64_t last_leaf, Matrix<const int64_t> grids,
               Matrix<const int32_t> pair_number, double* out, int64_t n_outputs) {
    const Boxes& boxes = leaves.boxes;
    const int64_t n_points = grids.n_columns, n_values = leaves.value.n_columns;
    int64_t most = 0;
    for (int64_t leaf = first_leaf; leaf < last_leaf; ++leaf) most = std::max(most, boxes.first[leaf + 1] - boxes.first[leaf]);
    std::vector<std::uint8_t> inside(most * n_points);  // whether each point of a box's feature lies in the box
    for (int64_t leaf = first_leaf; leaf < last_leaf; ++leaf) {
        const int64_t start = boxes.first[leaf], end = boxes.first[leaf + 1];
        const Counts counts = leaves.counts.from(leaves.offset[leaf]);
        const double* value = leaves.value[leaf];
        for (int64_t box = start; box < end; ++box)
            for (int64_t point = 0; point < n_points; ++point)
                inside[(box - start) * n_points + point] = boxes.has(box, grids[boxes.feature[box]][point]);
        for (int64_t one = start; one < end; ++one)
            for (int64_t two = one + 1; two < end; ++two) {
                const bool in_order = boxes.feature[one] < boxes.feature[two];
                const int64_t box_a = in_order ? one : two, box_b = in_order ? two : one;
                const int64_t pair = pair_number[boxes.feature[box_a]][boxes.feature[box_b]];
                const int32_t slot_a = boxes.slot[box_a], slot_b = boxes.slot[box_b];
                if (pair < 0 || slot_a == slot_b) continue;
                const int32_t only_a = leaves.plus[slot_a][0];
                double term[2][2];  // by whether the point lies in the box of a, and in that of b
                term[0][0] = counts[0];
                term[1][0] = counts[0] - counts[only_a];
                term[0][1] = counts[0] - counts[leaves.plus[slot_b][0]];
                term[1][1] = term[1][0] + term[0][1] - counts[0] + counts[leaves.plus[slot_b][only_a]];
                const std::uint8_t* inside_a = inside.data() + (box_a - start) * n_points;
                const std::uint8_t* inside_b = inside.data() + (box_b - start) * n_points;
                double* place = out + pair * n_points * n_points * n_outputs + leaves.output[leaf];
                for (int64_t x = 0; x < n_points; ++x)
                    for (int64_t y = 0; y < n_points; ++y, place += n_outputs) {
                        const double factor = term[inside_a[x]][inside_b[y]];
                        for (int64_t k = 0; k < n_values; ++k) place[k] += value[k] * factor;
                    }
            }
    }
}

void sets_of_fixed(const Leaves& leaves, std::span<const bool> fixed, std::span<int32_t> sets) {
    const Boxes& boxes = leaves.boxes;
    for (int64_t leaf = 0; leaf < boxes.n_leaves(); ++leaf) {
        int32_t set = 0;
        for (int64_t box = boxes.first[leaf]; box < boxes.first[leaf + 1] && set >= 0; ++box)
            if (fixed[boxes.feature[box]] && !leaves.has[boxes.slot[box]][set]) set = leaves.plus[boxes.slot[box]][set];
        sets[leaf] = set;
    }
}

void add_points(const Leaves& leaves, Matrix<const int64_t> points, std::span<const bool> fixed, std::span<const int32_t> sets,
                Matrix<double> out) {
    const Boxes& boxes = leaves.boxes;
    for (int64_t leaf = 0; leaf < boxes.n_leaves(); ++leaf) {
        const double count = leaves.counts[leaves.offset[leaf] + sets[leaf]];
        for (int64_t point = 0; point < points.n_columns; ++point) {
            bool meets = true;
            for (int64_t box = boxes.first[leaf]; box < boxes.first[leaf + 1] && meets; ++box) {
                const int32_t f = boxes.feature[box];
                if (fixed[f]) meets = boxes.has(box, points[f][point]);
            }
            if (!meets) continue;
            double* place = out[point] + leaves.output[leaf];
            for (int64_t k = 0; k < leaves.value.n_columns; ++k) place[k] += leaves.value[leaf][k] * count;
        }
    }
}

}  // namespace glasswood
