// Derived columns: small whole numbers (ranks) that several columns of a row determine together, such as the statistics that
// CatBoost keeps of combinations of categories; and what trees that split on them say if some columns of the row change.
#pragma once

#include <cstdint>
#include <vector>

#include "arrays.h"
#include "chunks.h"

namespace glasswood {

// Each row has a number for each *key*, the sum modulo 2**64 of the key's parts: part p is part[table[p] + c] of a row whose
// cell in line[p] is c. Key k has the parts from part_first[k] on, the numbers from entry_first[k] on, which are all that it
// knows, and the derived columns from column_first[k] on. The rank of a row in column c is rank[rank_first[c]] if its number is
// not known, and rank[rank_first[c] + 1 + i] if it is the i-th one.
struct DerivedColumns {
    std::span<const int64_t> part_first;
    std::span<const int32_t> line;
    std::span<const int64_t> table;
    std::span<const Word> part;
    std::span<const int64_t> entry_first;
    std::span<const Word> entry;
    std::span<const int64_t> column_first;
    std::span<const int64_t> rank_first;
    std::span<const std::uint8_t> rank;

    int64_t n_keys() const { return int64_t(part_first.size()) - 1; }
    int64_t n_columns() const { return int64_t(rank_first.size()); }
};

// Where the numbers of each key are: an open hash table for each.
class Places {
  public:
    explicit Places(const DerivedColumns& derived);

    // 1 + i for the i-th number of the key, 0 for a number that is not known.
    int64_t find(int64_t key, Word number) const {
        const Slot* slots = slots_.data() + first_[key];
        const Word size = Word(first_[key + 1] - first_[key]);
        for (Word at = start(number, size);; at = at + 1 == size ? 0 : at + 1) {
            if (slots[at].place == 0 || slots[at].number == number) return slots[at].place;
        }
    }

  private:
    struct Slot {
        Word number;
        int64_t place;
    };

    static Word start(Word number, Word size);

    std::vector<int64_t> first_;
    std::vector<Slot> slots_;
};

// Writes the rank of every row in every derived column, one line each.
void write_ranks(Matrix<const int32_t> cells, const DerivedColumns& derived, const Places& places, Matrix<int32_t> ranks);

// Questions about rows some of whose columns change, and what they concern.
//
// `key` are the keys with a part that changes. Key i keeps the parts `kept_part` from kept_part_first[i] on; the others add up
// to moved[q][i] at question q. `chunk` are the chunks with a seat that changes. Chunk i keeps the seats `kept_seat` from
// kept_seat_first[i] on, and has the seats `seat` of derived columns that change from seat_first[i] on; `column` has these.
// At question q, the replies of the chunks line_chunk (by their number in `chunk`) are wanted, for the lines from line_first[q]
// on; line_word has the leaves that suit the new values of all other seats.
struct Changes {
    std::span<const int64_t> key, kept_part_first, kept_part;
    Matrix<const Word> moved;
    std::span<const int64_t> chunk, kept_seat_first, kept_seat, seat_first, seat, column;
    std::span<const int64_t> line_first, line_chunk;
    std::span<const Word> line_word;

    int64_t n_questions() const { return int64_t(line_first.size()) - 1; }
};

// The leaves that suit each rank, for each seat of a derived column: word[first[seat] + rank].
struct WordsOfRanks {
    std::span<const int64_t> first;
    std::span<const Word> word;
};

// Writes the replies of chunks to questions, (n_lines, n_values, n_rows), for the rows that are the columns of `states` from
// `row` on, and those of `cells` from `cell_row` on; those that `cells` lacks are padding. `value` has the values of the leaves
// of each chunk, (n_chunks, n_values, MAX_LEAVES + 1), and last a 0.
void write_changed_replies(Matrix<const int32_t> cells, int64_t cell_row, Matrix<const std::uint16_t> states, int64_t row,
                           const ChunkedLeaves& chunks, const DerivedColumns& derived, const Places& places, const Changes& changes,
                           const WordsOfRanks& words, Cube<const double> value, Cube<double> reply);

}  // namespace glasswood
