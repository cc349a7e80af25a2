#include "binding.h"
#include "constants.h"
#include "targets.h"

namespace glasswood {
namespace {

void bound_add_targets(const Array2<const int32_t>& cells, const Array<const int64_t>& first, int64_t begin, int64_t end,
                       const Array2<const double>& terms, const Array<const int64_t>& weight, const Array3<int64_t>& sums) {
    check(begin >= 0 && begin <= end && end <= int64_t(terms.shape(0)), "rows that are not in terms");
    check_size(cells.shape(1), terms.shape(0), "a line of cells");
    check_size(first.size(), cells.shape(0), "first");
    check_size(sums.shape(1), terms.shape(1), "sums, for a cell,");
    check(sums.shape(0) >= 1 && sums.shape(2) == LIMBS, "sums are of at least one cell, with five limbs");
    check_range(span_of(first), 0, int64_t(sums.shape(0)), "first");
    for (std::size_t feature = 0; feature < cells.shape(0); ++feature) {
        const std::span<const int32_t> line(cells.data() + feature * cells.shape(1) + begin, std::size_t(end - begin));
        check_range(line, 0, int64_t(sums.shape(0)) - 1 - first.data()[feature], "cells");
    }
    if (weight.size() > 0) {
        check_size(weight.size(), terms.shape(0), "weight");
        check_range(span_of(weight), 0, std::numeric_limits<int64_t>::max(), "weight");
    }
    add_targets(matrix_of(cells), span_of(first), begin, end, matrix_of(terms), span_of(weight), cube_of(sums));
}

}  // namespace

void bind_targets(nb::module_& m) {
    m.def("add_targets", &bound_add_targets, arg("cells"), arg("first"), nb::arg("begin"), nb::arg("end"), arg("terms"), arg("weight"),
          arg("sums"), without_gil());
}

}  // namespace glasswood
