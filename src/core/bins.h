// Counting per bin: G_l({j}) of the rows whose feature j is in a bin. For accumulated local effects (ALE).
#pragma once

#include "arrays.h"
#include "bitsets.h"
#include "lists.h"

namespace glasswood {

// The bins of columns, numbered one column behind the other. A column of numbers has one bin per condition of `edges`, which
// says "at most" an edge, in increasing order, the last one infinity; and one for missing values. A column of categories has
// the bins that `bin_of_code` tells, one for unseen categories and one for missing values.
struct BinsOfColumns {
    std::span<const int64_t> first, n_bins;        // of each column: its first bin, and how many there are
    std::span<const int64_t> code_first;           // of each column: its first code in `bin_of_code`; only for categories
    std::span<const int32_t> bin_of_code;
    int64_t total;                                 // bins of all columns, those included that are not among these
};

// What is counted: the jobs of the count of a leaf and a feature (as `leaf_offset` numbers them, for sets of one feature) are
// those from first[count] to first[count + 1]: one for each of some bins of the feature, in increasing order; for categories
// one for each of all bins.
struct BinJobs {
    std::span<const int64_t> first;
    std::span<const int32_t> bin;
    std::span<const int64_t> whole;                // of each bin: how many bins its column has if it is the first one of categories
};

// Adds the number (or weight) of rows of each job, of the rows of each group, to its counts; and those of all bins of columns
// that are `weighed` to its cells. `edges` are conditions on the same columns as `conditions`.
void count_bins_with_bitsets(std::span<const Column> columns, const Conditions& conditions, const Conditions& edges, const BitsetTrees& trees,
                             const Subsets& subsets, const BinsOfColumns& bins, const BinJobs& jobs, std::span<const bool> weighed,
                             const Groups& groups);

// The same with lists of rows, for large trees. `bins` has the bin of each row in each column (all of the model's), and
// `column` the column of each count.
void count_bins_with_lists(std::span<const int32_t> root, const ListTrees& trees, int64_t n_rows, Matrix<const int32_t> ranks,
                           Matrix<const int32_t> following, Matrix<const int32_t> bins, std::span<const int32_t> column, const BinJobs& jobs,
                           std::span<const int64_t> weight, std::span<int64_t> counts);

}  // namespace glasswood
