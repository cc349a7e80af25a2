// The least and the greatest value of each column, and whether all are whole numbers: where figures begin and end.
#pragma once

#include "arrays.h"

namespace glasswood {

// Numbers, other than NaN, as whole ones in the same order; -0.0 is 0.0.
int64_t whole_in_order(double x);

// For each group, a line of one entry per column.
struct EndsOfGroups {
    std::span<int64_t* const> least, greatest, whole;
};

// Lowers `least` and raises `greatest` to the values of the rows of each group that are numbers, in the order of
// `whole_in_order`; infinities are numbers. Lowers `whole` to 1 if all of them are finite whole numbers, and to 0
// otherwise. Where all values are NaN, nothing changes. Rows from bounds[g] to bounds[g + 1] are of group g.
void add_ends(std::span<const Column> columns, std::span<const int64_t> bounds, const EndsOfGroups& groups);

}  // namespace glasswood
