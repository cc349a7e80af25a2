#include "binding.h"
#include "plan.h"

namespace glasswood {
namespace {

using HeldBoxes = Held<Boxes>;

HeldBoxes* make_boxes(const Array<const int64_t>& first, const Array<const int32_t>& feature, const Array<const int32_t>& slot,
                      const Array<const int32_t>& low, const Array<const int32_t>& high, const Array<const bool>& missing,
                      const Array<const bool>& unseen, const Array<const Word>& sets, const Array<const int64_t>& n_cells,
                      const Array<const int64_t>& n_codes) {
    const Boxes view{span_of(first), span_of(feature), span_of(slot), span_of(low), span_of(high), span_of(missing), span_of(unseen),
                     span_of(sets), span_of(n_cells), span_of(n_codes)};
    const std::size_t n_boxes = feature.size();
    check(first.size() >= 1, "first has an entry more than there are leaves");
    check_starts(view.first, int64_t(n_boxes), "first");
    check_size(slot.size(), n_boxes, "slot");
    check_size(low.size(), n_boxes, "low");
    check_size(high.size(), n_boxes, "high");
    check_size(missing.size(), n_boxes, "missing");
    check_size(unseen.size(), n_boxes, "unseen");
    check_size(n_codes.size(), n_cells.size(), "n_codes");
    check_range(view.feature, 0, int64_t(n_cells.size()), "feature");
    check_range(view.slot, 0, std::numeric_limits<int32_t>::max(), "slot");
    check_range(view.low, 0, int64_t(1) << 31, "low");
    for (std::size_t f = 0; f < n_cells.size(); ++f) {
        check(view.n_codes[f] >= 0 && view.n_cells[f] >= 2, "a feature has at least two cells");
        check(view.n_codes[f] == 0 || view.n_cells[f] == view.n_codes[f] + 2, "a feature of categories has a cell for each, and two");
    }
    for (std::size_t box = 0; box < n_boxes; ++box) {
        const int32_t f = view.feature[box];
        if (view.n_codes[f] > 0) check_category_set(view.low[box], view.n_codes[f], sets.size(), "a set of categories");
        else check(view.high[box] <= view.n_cells[f] - 2, "a box ends behind the cells of its feature");
    }
    return new HeldBoxes(view, first, feature, slot, low, high, missing, unseen, sets, n_cells, n_codes);
}

}  // namespace

void bind_plan(nb::module_& m) {
    nb::class_<HeldBoxes>(m, "Boxes")
        .def(nb::new_(&make_boxes), arg("first"), arg("feature"), arg("slot"), arg("low"), arg("high"), arg("missing"), arg("unseen"),
             arg("sets"), arg("n_cells"), arg("n_codes"));
}

}  // namespace glasswood
