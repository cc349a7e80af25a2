// Runs every kernel of the core on inputs that are the same everywhere.
#pragma once

#include <string>
#include <utility>

#include "inputs.h"

namespace glasswood {

// Results by name, each as a digest of 64 bits (FNV-1a of its bytes).
class Digests {
  public:
    std::vector<std::pair<std::string, std::uint64_t>> all;
    std::vector<std::string> broken;  // checks that do not hold

    void check(bool holds, const std::string& what) {
        if (!holds) broken.push_back(what);
    }

    template <class T>
    void add(const std::string& name, std::span<const T> result) {
        std::uint64_t digest = 0xCBF29CE484222325;
        for (const std::byte byte : std::as_bytes(result)) digest = (digest ^ std::uint64_t(byte)) * 0x100000001B3;
        all.emplace_back(name, digest);
    }
    template <class T>
    void add(const std::string& name, const std::vector<T>& result) { add(name, std::span<const T>(result)); }
};

// The distinct conditions are not looked for: each node has one of its own.
struct ConditionsOfModel {
    explicit ConditionsOfModel(const Model& model);

    std::vector<int32_t> of_node;
    std::vector<int64_t> first, category_set, noted;
    std::vector<double> cut;
    std::vector<float> cut_single;
    Flags missing_left, unseen_left;
};

struct Inputs {
    Random random;
    Model model{random};
    Rows rows{random, 5000};
    ConditionsOfModel conditions{model};
    PlayerSets all{N_PLAYERS, N_PLAYERS}, pairs{2, N_PLAYERS}, single{1, N_PLAYERS};
};

// Each adds the digests of some kernels' results. Inputs are only read, so that threads may share them.
void run_ensemble(const Inputs& in, Digests& out);
void run_counting(const Inputs& in, Digests& out);
void run_bins(const Inputs& in, Digests& out);
void run_closed_forms(const Inputs& in, Digests& out);
void run_interactions(const Inputs& in, Digests& out);
void run_metrics(const Inputs& in, Digests& out);
void run_responses(const Inputs& in, Digests& out);
void run_vectors(const Inputs& in, Digests& out);
void run_derived(const Inputs& in, Digests& out);
void run_statistics(const Inputs& in, Digests& out);

// What the others start with: counts of all player sets, and cells of the first rows, one line per feature.
std::vector<int64_t> counts_of(const Inputs& in, const PlayerSets& counted);
std::vector<double> exact_counts_of(const Inputs& in);  // of rows that break exactly each set
std::vector<int32_t> cells_of(const Inputs& in, int64_t n_rows);
std::vector<double> scores_of(const Inputs& in);  // one line of N_OUTPUTS per row

}  // namespace glasswood
