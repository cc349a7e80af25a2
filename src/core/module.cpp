// The Python module of one instruction level. glasswood.kernels chooses the level.
#include "binding.h"

NB_MODULE(GLASSWOOD_MODULE, m) {
    m.doc() = "Kernels of Glasswood: functions on arrays.";
    glasswood::bind_counting(m);
    glasswood::bind_ensemble(m);
    glasswood::bind_plan(m);
    glasswood::bind_interactions(m);
    glasswood::bind_responses(m);
    glasswood::bind_chunks(m);
    glasswood::bind_leaves(m);
    glasswood::bind_walks(m);
    glasswood::bind_closed_forms(m);
    glasswood::bind_pairs(m);
    glasswood::bind_targets(m);
    glasswood::bind_bins(m);
    glasswood::bind_derived(m);
}
