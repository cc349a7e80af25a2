#include "subsets.h"

namespace glasswood {

void subset_sums(std::span<const int64_t> leaf_offset, std::span<const int32_t> n_players, std::span<const int64_t> size,
                 Matrix<const int32_t> minus, std::span<int64_t> counts) {
    for (std::size_t leaf = 0; leaf < n_players.size(); ++leaf) {
        int64_t* here = counts.data() + leaf_offset[leaf];
        for (int32_t player = 0; player < n_players[leaf]; ++player)
            for (int64_t i = 0; i < size[n_players[leaf]]; ++i)
                if (minus[player][i] >= 0) here[i] += here[minus[player][i]];
    }
}

void subset_differences(std::span<const int64_t> leaf_offset, std::span<const int32_t> n_players, std::span<const int64_t> size,
                        Matrix<const int32_t> minus, std::span<double> counts) {
    for (std::size_t leaf = 0; leaf < n_players.size(); ++leaf) {
        double* here = counts.data() + leaf_offset[leaf];
        for (int32_t player = 0; player < n_players[leaf]; ++player)
            for (int64_t i = size[n_players[leaf]] - 1; i >= 0; --i)
                if (minus[player][i] >= 0) here[i] -= here[minus[player][i]];
    }
}

}  // namespace glasswood
