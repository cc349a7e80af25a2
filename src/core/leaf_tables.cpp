#include "leaf_tables.h"

#include <algorithm>
#include <array>
#include <vector>

#include "vectors.h"

namespace glasswood {
namespace {

// Adds what one leaf is worth to the tables at `out`: for each of its values, one table per set.
void add_leaf(int64_t leaf, int64_t flip, const TabledLeaves& leaves, const Templates& templates, const double* exact, double* unit,
              double* out) {
    const int used = leaves.n_players[leaf];
    const int64_t size = templates.n_sets[used] << used;
    std::fill(unit, unit + size, 0.0);
    for (int64_t entry = templates.first[used]; entry < templates.first[used + 1]; ++entry)
        unit[templates.target[entry]] += exact[templates.broken[entry]] * templates.value[entry];
    for (int64_t k = 0; k < leaves.value.n_columns; ++k, out += size) {
        const double value = leaves.value[leaf][k];
        for (int64_t i = 0; i < size; ++i) out[i] += unit[i ^ flip] * value;
    }
}

}  // namespace

void fill_leaf_tables(int64_t first, int64_t last, const TabledLeaves& leaves, const Templates& templates,
                      std::span<const int64_t> leaf_offset, std::span<const double> exact, std::span<double> table) {
    const auto size_of = [&](int64_t leaf) { return templates.n_sets[leaves.n_players[leaf]] << leaves.n_players[leaf]; };
    int64_t most = 1;
    for (int64_t leaf = first; leaf < last; ++leaf) most = std::max(most, size_of(leaf));
    std::vector<double> unit(most);
    for (int64_t leaf = first; leaf < last; ++leaf) {
        if (leaves.table_first[leaf] < 0) continue;
        double* out = table.data() + leaves.table_first[leaf];
        std::fill(out, out + size_of(leaf) * leaves.value.n_columns, 0.0);
        add_leaf(leaf, 0, leaves, templates, exact.data() + leaf_offset[leaf], unit.data(), out);
        const int64_t partner = leaves.partner[leaf];
        if (partner >= 0)
            add_leaf(partner, leaves.partner_bit[leaf], leaves, templates, exact.data() + leaf_offset[partner], unit.data(), out);
    }
}

void add_leaf_tables(Matrix<const std::uint16_t> states, const ChunkedLeaves& chunks, const MetricLeaves& leaves,
                     std::span<const int64_t> table_first, std::span<const double> table, Matrix<double> out) {
    const int64_t width = states.n_columns;
    int64_t most = 1;
    for (int64_t chunk = 0; chunk < chunks.n_chunks(); ++chunk) most = std::max(most, chunks.seat_first[chunk + 1] - chunks.seat_first[chunk]);
    std::vector<Word> suits(most * width);    // for each seat of a chunk and each row, the leaves that suit it
    std::vector<std::uint16_t> met(width);    // the players of a leaf whose conditions each row meets
    const std::uint16_t* const index = met.data();
    const std::uint16_t one = 1;
    std::array<const Word*, MAX_TABLE_PLAYERS> lines;
    for (int64_t chunk = 0; chunk < chunks.n_chunks(); ++chunk) {
        const int64_t first_seat = chunks.seat_first[chunk], first_place = chunks.chunk_first[chunk];
        for (int64_t seat = first_seat; seat < chunks.seat_first[chunk + 1]; ++seat) {
            const Word* words = chunks.words.data() + chunks.state_first[seat];
            const std::uint16_t* state = states[seat];
            Word* suit = suits.data() + (seat - first_seat) * width;
            for (int64_t r = 0; r < width; ++r) suit[r] = words[state[r]];
        }
        for (int64_t place = first_place; place < chunks.chunk_first[chunk + 1]; ++place) {
            const int32_t leaf = chunks.leaf_order[place];
            if (table_first[leaf] < 0) continue;  // its partner's tables are for both
            const int used = leaves.n_players[leaf];
            for (int slot = 0; slot < used; ++slot)
                lines[slot] = suits.data() + (leaves.seat[leaves.slot_first[leaf] + slot] - first_seat) * width;
            for (int64_t r = 0; r < width; r += BATCH) collect_bits(lines.data(), used, int(place - first_place), r, met.data());
            const double* here = table.data() + table_first[leaf];
            for (int64_t k = 0; k < leaves.n_values; ++k) {
                const int64_t column = leaves.output_place[leaves.output[leaf] + k];
                for (int64_t x = 0; x < leaves.n_sets[used]; ++x, here += int64_t(1) << used) {
                    if (column < 0) continue;
                    double* line = out[leaves.set[leaves.set_first[leaf] + x] * leaves.n_outputs + column];
                    add_entries(line, width, here, int64_t(1) << used, &index, &one, 1);
                }
            }
        }
    }
}

}  // namespace glasswood
