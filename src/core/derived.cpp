#include "derived.h"

#include <algorithm>

#include "vectors.h"

namespace glasswood {

Places::Places(const DerivedColumns& derived) : first_(derived.n_keys() + 1, 0) {
    for (int64_t key = 0; key < derived.n_keys(); ++key) {
        const int64_t n = derived.entry_first[key + 1] - derived.entry_first[key];
        first_[key + 1] = first_[key] + n + n / 2 + 1;  // a third is empty
    }
    slots_.assign(first_.back(), Slot{0, 0});
    for (int64_t key = 0; key < derived.n_keys(); ++key) {
        Slot* slots = slots_.data() + first_[key];
        const Word size = Word(first_[key + 1] - first_[key]);
        for (int64_t i = derived.entry_first[key]; i < derived.entry_first[key + 1]; ++i) {
            Word at = start(derived.entry[i], size);
            while (slots[at].place != 0) at = at + 1 == size ? 0 : at + 1;
            slots[at] = {derived.entry[i], 1 + i - derived.entry_first[key]};
        }
    }
}

// The upper half of a product spreads numbers over the slots without a division.
Word Places::start(Word number, Word size) {
    const Word mixed = (number ^ (number >> 32)) * 0x9E3779B97F4A7C15u;
    return ((mixed >> 32) * size) >> 32;
}

void write_ranks(Matrix<const int32_t> cells, const DerivedColumns& derived, const Places& places, Matrix<int32_t> ranks) {
    const int64_t n_rows = cells.n_columns;
    std::vector<Word> number(n_rows);
    for (int64_t key = 0; key < derived.n_keys(); ++key) {
        std::fill(number.begin(), number.end(), Word(0));
        for (int64_t p = derived.part_first[key]; p < derived.part_first[key + 1]; ++p) {
            const Word* part = derived.part.data() + derived.table[p];
            const int32_t* cell = cells[derived.line[p]];
            for (int64_t r = 0; r < n_rows; ++r) number[r] += part[cell[r]];
        }
        for (int64_t r = 0; r < n_rows; ++r) {
            const int64_t place = places.find(key, number[r]);
            for (int64_t c = derived.column_first[key]; c < derived.column_first[key + 1]; ++c)
                ranks[c][r] = derived.rank[derived.rank_first[c] + place];
        }
    }
}

void write_changed_replies(Matrix<const int32_t> cells, int64_t cell_row, Matrix<const std::uint16_t> states, int64_t row,
                           const ChunkedLeaves& chunks, const DerivedColumns& derived, const Places& places, const Changes& changes,
                           const WordsOfRanks& words, Cube<const double> value, Cube<double> reply) {
    const int64_t n_rows = reply.n_columns, n_values = reply.n_rows;
    const int64_t n_keys = int64_t(changes.key.size()), n_chunks = int64_t(changes.chunk.size());
    const int64_t n_known = std::min(n_rows, cells.n_columns - cell_row);
    std::vector<Word> kept_number(n_keys * n_rows, 0), kept_leaves(n_chunks * n_rows), bits(n_rows);
    std::vector<std::uint8_t> rank(derived.n_columns() * n_rows);
    for (int64_t i = 0; i < n_keys; ++i) {
        Word* number = kept_number.data() + i * n_rows;
        for (int64_t k = changes.kept_part_first[i]; k < changes.kept_part_first[i + 1]; ++k) {
            const int64_t p = changes.kept_part[k];
            const Word* part = derived.part.data() + derived.table[p];
            const int32_t* cell = cells[derived.line[p]] + cell_row;
            for (int64_t r = 0; r < n_known; ++r) number[r] += part[cell[r]];
        }
    }
    for (int64_t i = 0; i < n_chunks; ++i) {
        Word* leaves = kept_leaves.data() + i * n_rows;
        std::fill_n(leaves, n_rows, ~Word(0));
        for (int64_t k = changes.kept_seat_first[i]; k < changes.kept_seat_first[i + 1]; ++k) {
            const int64_t seat = changes.kept_seat[k];
            const Word* word = chunks.words.data() + chunks.state_first[seat];
            const std::uint16_t* state = states[seat] + row;
            for (int64_t r = 0; r < n_rows; ++r) leaves[r] &= word[state[r]];
        }
    }
    for (int64_t question = 0; question < changes.n_questions(); ++question) {
        for (int64_t i = 0; i < n_keys; ++i) {
            const Word moved = changes.moved[question][i];
            if (question > 0 && moved == changes.moved[question - 1][i]) continue;
            const int64_t key = changes.key[i], first = derived.column_first[key], last = derived.column_first[key + 1];
            const Word* number = kept_number.data() + i * n_rows;
            for (int64_t r = 0; r < n_rows; ++r) {
                const int64_t place = places.find(key, number[r] + moved);
                for (int64_t c = first; c < last; ++c) rank[c * n_rows + r] = derived.rank[derived.rank_first[c] + place];
            }
        }
        for (int64_t line = changes.line_first[question]; line < changes.line_first[question + 1]; ++line) {
            const int64_t i = changes.line_chunk[line];
            std::copy_n(kept_leaves.data() + i * n_rows, n_rows, bits.data());
            for (int64_t k = changes.seat_first[i]; k < changes.seat_first[i + 1]; ++k) {
                const Word* word = words.word.data() + words.first[changes.seat[k]];
                const std::uint8_t* at = rank.data() + changes.column[k] * n_rows;
                for (int64_t r = 0; r < n_rows; ++r) bits[r] &= word[at[r]];
            }
            for (int64_t k = 0; k < n_values; ++k)
                pick(bits.data(), changes.line_word.subspan(line, 1), value.line(changes.chunk[i], k), MAX_LEAVES, n_rows,
                     reply.line(line, k), 0);
        }
    }
}

}  // namespace glasswood
