#include "statistics.h"

namespace glasswood {

void add_joint_rows(std::span<const std::uint16_t> first, std::span<const std::uint16_t> second, std::span<const double> weight,
                    Matrix<double> out) {
    if (weight.empty()) {
        for (std::size_t row = 0; row < first.size(); ++row) out[first[row]][second[row]] += 1.0;
        return;
    }
    for (std::size_t row = 0; row < first.size(); ++row) out[first[row]][second[row]] += weight[row];
}

void add_moments(Matrix<const double> values, std::span<const int64_t> first, std::span<const int64_t> second,
                 std::span<const double> weight, Matrix<double> sums) {
    for (int64_t group = 0; group < values.n_rows; ++group) {
        double total = 0, square = 0, joint_total = 0, joint_square = 0;
        const double* own = values[group];
        if (first[group] < 0) {
            for (int64_t row = 0; row < values.n_columns; ++row) {
                total += weight[row] * own[row];
                square += weight[row] * own[row] * own[row];
            }
        } else {
            const double *a = values[first[group]], *b = values[second[group]];
            for (int64_t row = 0; row < values.n_columns; ++row) {
                const double joint = own[row] + a[row] + b[row];
                total += weight[row] * own[row];
                square += weight[row] * own[row] * own[row];
                joint_total += weight[row] * joint;
                joint_square += weight[row] * joint * joint;
            }
        }
        sums[0][group] += total;
        sums[1][group] += square;
        sums[2][group] += joint_total;
        sums[3][group] += joint_square;
    }
}

}  // namespace glasswood
