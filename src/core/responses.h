// Rows one by one: what the score of a row would be if one player took other values, and sums of that over rows.
#pragma once

#include "arrays.h"
#include "constants.h"
#include "interactions.h"

namespace glasswood {

// Writes what each chunk adds to the score of each row, (n_chunks, n_values, n_rows), to `own`; and to `others`, for the
// seats that have a `line` there (others have -1), the leaves that suit a row in all other seats of the chunk.
//
// `states` has a line per seat; the rows are its columns from `row` on. A state's word tells which leaves suit it, so the
// leaf of a row is the one bit that is left of the words of all seats. The number of rows is a multiple of PARTS.
void write_others(Matrix<const std::uint16_t> states, int64_t row, const ChunkedLeaves& chunks, Matrix<const double> value,
                  std::span<const int64_t> line, Matrix<Word> others, Cube<double> own);

// Writes what the chunks of some seats add to the score of each row with the seat in any state, (n_states, n_values, n_rows):
// the value of the leaf that the row reaches if the seat is in that state and all others are as they are; 0 if the leaf is
// in another chunk. The states are those of all seats, one after the other. A few nanoseconds per state and row.
void write_replies(Matrix<const Word> others, std::span<const int64_t> line, const ChunkedLeaves& chunks, Matrix<const double> value,
                   std::span<const int64_t> seat, Cube<double> reply);

// Player p has the seats from seat_first[p] on, which are in `state` for its first question. Its questions are those from
// question_first[p] on; before question v, the seats of the changes from change_first[v] on go from `old_state` to `new_state`.
struct Questions {
    std::span<const int64_t> seat_first, seat, state, question_first, change_first, new_state, old_state, change_seat;
};

// The response is the link of factor * (sum of leaf values) + constant.
struct Response {
    Link link;
    double factor;
    std::span<const double> constant;  // of each output
};

struct PlacesOfChunks {
    std::span<const int64_t> seat_chunk, output;  // the chunk of each seat, and the first output of each chunk
};

// Sums of whole numbers: of the responses times `factor`, and of the squares of that, each as wide numbers,
// (n_questions, n_outputs, 2, LIMBS); see `add_whole`. There are none if `sums` is empty.
struct WholeSums {
    std::span<int64_t> sums;
    Matrix<const int64_t> digits;  // of the rows' weights, a line for each place; one line if there are no weights
    bool weighted, large;
    double factor;
};

constexpr double LARGEST = 33554432.0;  // 2**25: a response times the factor

// Asks each player's questions: what the response of each row is, if the player takes a value. Adds the weighted sums of
// responses and of their squares, in eight parts, to `sums`, (n_questions, n_outputs, 2, 8), unless it is empty; adds to
// whole sums; writes the response of each row to `out`, (n_questions, n_outputs, n_rows), unless it is empty. Returns whether
// all responses fit in whole sums; those are wrong if not. `offset`, (n_outputs, n_rows), is added to each row's sum of leaf
// values, unless it is empty.
bool ask(Cube<const double> reply, Cube<const double> own, const PlacesOfChunks& places, const Questions& questions,
         const Response& response, std::span<const double> offset, std::span<const double> weight, std::span<double> sums,
         const WholeSums& whole, std::span<double> out);

}  // namespace glasswood
