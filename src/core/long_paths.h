// Metrics leaf by leaf without tables, for paths of any length (up to 63 players): rows that meet the same players of a
// leaf are dealt with once.
#pragma once

#include "arrays.h"
#include "chunks.h"
#include "metric_leaves.h"

namespace glasswood {

constexpr int MAX_PATH_PLAYERS = 63;  // the bits of a mask

// The sets of paths with u players, as masks, from first[u] on; if the first has one player, the first u are those of one
// player each, in order.
struct SetMasks {
    std::span<const int64_t> first;
    std::span<const Word> mask;
};

// Points and weights that are exact for paths with u players, from first[u] on.
struct Quadrature {
    std::span<const int64_t> first;
    std::span<const double> point, weight;
};

// Adds the leaves of a chunk to an index of rows, with background rows at hand.
//
// `here` and `there` are the states of the rows and of the background rows, one line per seat of the chunk; `weight` is
// that of each background row. `values` are those of a metric on cubes, see `kind_of_set`. `out` is (sets, outputs, rows).
// Costs, per leaf, the number of distinct players that are met, of rows times background rows, and more for those pairs
// that make a cube.
void add_long_paths(int64_t chunk, Matrix<const std::uint16_t> here, Matrix<const std::uint16_t> there, std::span<const double> weight,
                    const ChunkedLeaves& chunks, const MetricLeaves& leaves, Matrix<const double> value, const SetMasks& sets,
                    Cube<const double> values, Cube<double> out);

// Adds the leaves of a chunk to a path-dependent index of rows.
//
// Each player i that does not take part meets its conditions with a share r_i of the training weight, so an index is
// w * sum over t of weight(t) * prod_X (q_i - r_i) * prod_others (q_i t + r_i (1 - t)): points of t that are exact for
// polynomials take the place of sums over subsets, and no term cancels another. `share` is that of each slot of each leaf.
void add_shared_paths(int64_t chunk, Matrix<const std::uint16_t> states, std::span<const double> share, const ChunkedLeaves& chunks,
                      const MetricLeaves& leaves, Matrix<const double> value, const SetMasks& sets, const Quadrature& nodes,
                      Cube<double> out);

// Adds the leaves of a chunk to a path-dependent metric of rows that has no points, see above.
//
// Of the players q that a row meets, each one must take part, to make up for the training rows that break its conditions,
// with probability 1 - r_i, independently of the others. How many do is a polynomial, the product of r_i + (1 - r_i) u,
// whose coefficients are never negative. Those without the players of a set are found by dividing by their factors, from
// the end at which rounding errors do not grow.
void add_weighed_paths(int64_t chunk, Matrix<const std::uint16_t> states, std::span<const double> share, const ChunkedLeaves& chunks,
                       const MetricLeaves& leaves, Matrix<const double> value, const SetMasks& sets, Cube<const double> values,
                       Cube<double> out);

}  // namespace glasswood
