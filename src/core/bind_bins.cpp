#include "bind_rows.h"
#include "binding.h"
#include "bins.h"

namespace glasswood {
namespace {

using HeldBins = Held<BinsOfColumns>;
using HeldJobs = Held<BinJobs>;

HeldJobs* make_jobs(const Array<const int64_t>& first, const Array<const int32_t>& bin, const Array<const int64_t>& whole) {
    check_parts(span_of(first), bin.size(), "first");
    check_range(span_of(bin), 0, int64_t(whole.size()), "bin");
    check_range(span_of(whole), 0, int64_t(whole.size()) + 1, "whole");
    // Of each bin, the first bin of its column, if that has categories: there, all bins of the column are counted.
    std::vector<int64_t> start(whole.size(), -1);
    for (std::size_t b = 0; b < whole.size(); ++b) {
        const int64_t n = whole.data()[b];
        check(n == 0 || (int64_t(b) + n <= int64_t(whole.size()) && start[b] < 0), "whole has columns that overlap, or end behind the bins");
        std::fill_n(start.begin() + b, n, int64_t(b));
    }
    for (std::size_t at = 0; at + 1 < first.size(); ++at) {
        const int32_t* own = bin.data() + first.data()[at];
        const int64_t n = first.data()[at + 1] - first.data()[at];
        for (int64_t k = 1; k < n; ++k) check(own[k - 1] < own[k], "the bins of a count do not increase");
        if (n > 0 && start[own[0]] >= 0)
            check(start[own[0]] == own[0] && whole.data()[own[0]] == n && own[n - 1] == own[0] + n - 1, "not all bins of categories are counted");
    }
    return new HeldJobs(BinJobs{span_of(first), span_of(bin), span_of(whole)}, first, bin, whole);
}

HeldBins* make_bins(const Array<const int64_t>& first, const Array<const int64_t>& n_bins, const Array<const int64_t>& code_first,
                    const Array<const int32_t>& bin_of_code, const HeldConditions& edges, const HeldJobs& jobs) {
    const Conditions& e = edges.view;
    const int64_t total = int64_t(jobs.view.whole.size());
    check_size(first.size(), e.n_codes.size(), "first");
    check_size(n_bins.size(), first.size(), "n_bins");
    check_size(code_first.size(), first.size(), "code_first");
    for (std::size_t c = 0; c < first.size(); ++c) {
        const int64_t start = first.data()[c], n = n_bins.data()[c], n_codes = e.n_codes[c], code = code_first.data()[c];
        check(start >= 0 && n >= 2 && start + n <= total, "the bins of a column end behind the bins");
        if (n_codes == 0) {
            check(e.first[c + 1] - e.first[c] == n - 1, "a column of numbers has a bin for each edge, and one");
            continue;
        }
        check(jobs.view.whole[start] == n, "whole does not fit n_bins");
        check(code >= 0 && code + n_codes <= int64_t(bin_of_code.size()), "the codes of a column end behind bin_of_code");
        check_range(std::span<const int32_t>(bin_of_code.data() + code, std::size_t(n_codes)), 0, n - 2, "bin_of_code");
    }
    const BinsOfColumns view{span_of(first), span_of(n_bins), span_of(code_first), span_of(bin_of_code), total};
    return new HeldBins(view, first, n_bins, code_first, bin_of_code);
}

void bound_count_bins_with_bitsets(const Columns& columns, const Array<const int64_t>& which, const Array<const int64_t>& bounds,
                                   const HeldConditions& conditions, const HeldConditions& edges, const HeldBitsetTrees& trees,
                                   const HeldSubsets& subsets, const HeldBins& bins, const HeldJobs& jobs, const Array<const bool>& weighed,
                                   const Array<const int64_t>& weight, const CountTargets& homes) {
    const std::vector<Column> picked = columns.pick(span_of(which));
    check_size(picked.size() + 1, conditions.view.first.size(), "which, and one,");
    check_size(edges.view.first.size(), conditions.view.first.size(), "the first edges");
    check_size(bins.view.first.size(), picked.size(), "the columns of bins");
    check_size(weighed.size(), picked.size(), "weighed");
    check_rows(columns, span_of(bounds), span_of(weight), homes);
    check_size(conditions.view.cut.size(), std::size_t(trees.view.n_conditions), "conditions");
    for (std::size_t c = 0; c < picked.size(); ++c) {
        const int64_t n_codes = edges.view.n_codes[c], n_edges = edges.view.first[c + 1] - edges.view.first[c];
        check(n_codes > 0 ? jobs.view.whole[bins.view.first[c]] == bins.view.n_bins[c] : n_edges == bins.view.n_bins[c] - 1,
              "bins do not fit edges and jobs");
    }
    check(std::size_t(bins.view.total) == jobs.view.whole.size(), "bins and jobs are of other columns");
    check_size(jobs.view.first.size(), std::size_t(trees.view.leaf_offset.back()) + 1, "the first jobs");
    check_size(homes.n_counts, jobs.view.bin.size(), "counts");
    check_size(homes.n_cells, std::size_t(bins.view.total), "cells");
    count_bins_with_bitsets(picked, conditions.view, edges.view, trees.view, subsets.view, bins.view, jobs.view, span_of(weighed),
                            Groups{span_of(bounds), homes.counts, homes.cells, span_of(weight)});
}

void bound_count_bins_with_lists(const Array<const int32_t>& root, const HeldListTrees& trees, int64_t n_rows,
                                 const Array2<const int32_t>& ranks, const Array2<const int32_t>& following, const HeldSubsets& subsets,
                                 const Array2<const int32_t>& bins, const Array<const int32_t>& column, const HeldJobs& jobs,
                                 const Array<const int64_t>& weight, const Array<int64_t>& counts) {
    const ListTrees& t = trees.view;
    check_children(span_of(root), t.left.size(), t.leaf_offset.size() - 1, "root");
    check_following(matrix_of(following), subsets.view.size);
    check_walk(span_of(root), t.left, t.right, t.slot, t.leaf_offset, subsets.view.size, t.depth, [&](int32_t node) {
        check(t.column[node] >= 0 && t.column[node] < int64_t(ranks.shape(0)), "column is none of the columns");
    });
    check(n_rows >= 0 && n_rows <= LIST_ROWS && int64_t(ranks.shape(1)) >= n_rows, "more rows than fit in ranks");
    check(int64_t(bins.shape(1)) >= n_rows, "more rows than fit in bins");
    check_size(column.size(), std::size_t(t.leaf_offset.back()), "column");
    check_range(span_of(column), 0, int64_t(bins.shape(0)), "column");
    check_size(jobs.view.first.size(), std::size_t(t.leaf_offset.back()) + 1, "the first jobs");
    check_size(counts.size(), jobs.view.bin.size(), "counts");
    if (weight.size() > 0) check_size(weight.size(), std::size_t(n_rows), "weight");
    count_bins_with_lists(span_of(root), t, n_rows, matrix_of(ranks), matrix_of(following), matrix_of(bins), span_of(column), jobs.view,
                          span_of(weight), span_of(counts));
}

}  // namespace

void bind_bins(nb::module_& m) {
    nb::class_<HeldJobs>(m, "BinJobs").def(nb::new_(&make_jobs), arg("first"), arg("bin"), arg("whole"));
    nb::class_<HeldBins>(m, "BinsOfColumns")
        .def(nb::new_(&make_bins), arg("first"), arg("n_bins"), arg("code_first"), arg("bin_of_code"), nb::arg("edges"), nb::arg("jobs"));
    m.def("count_bins_with_bitsets", &bound_count_bins_with_bitsets, nb::arg("columns"), arg("which"), arg("bounds"), nb::arg("conditions"),
          nb::arg("edges"), nb::arg("trees"), nb::arg("subsets"), nb::arg("bins"), nb::arg("jobs"), arg("weighed"), arg("weight"),
          nb::arg("homes"), without_gil());
    m.def("count_bins_with_lists", &bound_count_bins_with_lists, arg("root"), nb::arg("trees"), nb::arg("n_rows"), arg("ranks"),
          arg("following"), nb::arg("subsets"), arg("bins"), arg("column"), nb::arg("jobs"), arg("weight"), arg("counts"), without_gil());
}

}  // namespace glasswood
