#include "ends.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace glasswood {
namespace {

constexpr int MANY = 32;              // lanes, which compilers turn into vectors
constexpr int64_t BLOCK_ROWS = 2048;  // of all columns: rows that are beside each other stay in the cache

// Ends of values in lanes, and the largest distance of any value from the next whole number. Comparisons with NaN are
// false, so that it changes nothing; the distance of an infinity is NaN.
template <class T, int LANES>
struct Lanes {
    T least[LANES], greatest[LANES], gap[LANES];

    Lanes() {
        std::fill_n(least, LANES, std::numeric_limits<T>::infinity());
        std::fill_n(greatest, LANES, -std::numeric_limits<T>::infinity());
        std::fill_n(gap, LANES, T(0));
    }

    template <bool test_whole>
    void add(const T* x, int n) {
        for (int i = 0; i < n; ++i) {
            least[i] = x[i] < least[i] ? x[i] : least[i];
            greatest[i] = x[i] > greatest[i] ? x[i] : greatest[i];
            if constexpr (test_whole) {
                const T away = std::fabs(x[i] - std::rint(x[i]));
                gap[i] = away > gap[i] ? away : gap[i];
            }
        }
    }
};

// Adds values from first to last, which are one after the other or are brought there.
template <bool test_whole, class T, int LANES>
void add_values(Lanes<T, LANES>& lanes, const Column& column, int64_t first, int64_t last) {
    const bool beside = column.stride == sizeof(T);
    T brought[LANES];
    for (int64_t row = first; row < last; row += LANES) {
        const int n = int(std::min<int64_t>(LANES, last - row));
        const std::byte* at = column.start + row * column.stride;
        const T* x = reinterpret_cast<const T*>(at);
        if (!beside) {
            for (int i = 0; i < n; ++i) brought[i] = *reinterpret_cast<const T*>(at + i * column.stride);
            x = brought;
        }
        if (n == LANES) lanes.template add<test_whole>(x, LANES);
        else lanes.template add<test_whole>(x, n);
    }
}

// Lowers and raises the entries of a column in one group. Whether numbers are whole is asked until one is not.
template <class T, int LANES>
void add_column(const Column& column, int64_t first, int64_t last, int64_t& least, int64_t& greatest, int64_t& whole) {
    Lanes<T, LANES> lanes;
    if (whole == 0) add_values<false>(lanes, column, first, last);
    else add_values<true>(lanes, column, first, last);
    const double low = *std::min_element(lanes.least, lanes.least + LANES);
    const double high = *std::max_element(lanes.greatest, lanes.greatest + LANES);
    if (low > high) return;  // no number
    least = std::min(least, whole_in_order(low));
    greatest = std::max(greatest, whole_in_order(high));
    const bool fractions = *std::max_element(lanes.gap, lanes.gap + LANES) > 0;
    whole = std::min<int64_t>(whole, !fractions && std::isfinite(low) && std::isfinite(high));
}

template <class T>
void add_rows(const Column& column, int64_t first, int64_t last, int64_t& least, int64_t& greatest, int64_t& whole) {
    const auto add = last - first < MANY ? add_column<T, 1> : add_column<T, MANY>;
    add(column, first, last, least, greatest, whole);
}

}  // namespace

int64_t whole_in_order(double x) {
    const int64_t bits = std::bit_cast<int64_t>(x == 0 ? 0.0 : x);
    return bits ^ (bits >> 63 & std::numeric_limits<int64_t>::max());
}

void add_ends(std::span<const Column> columns, std::span<const int64_t> bounds, const EndsOfGroups& groups) {
    for (std::size_t group = 0; group + 1 < bounds.size(); ++group)
        for (int64_t first = bounds[group]; first < bounds[group + 1]; first += BLOCK_ROWS) {
            const int64_t last = std::min(first + BLOCK_ROWS, bounds[group + 1]);
            for (std::size_t at = 0; at < columns.size(); ++at) {
                const auto add = columns[at].is_single ? add_rows<float> : add_rows<double>;
                add(columns[at], first, last, groups.least[group][at], groups.greatest[group][at], groups.whole[group][at]);
            }
        }
}

}  // namespace glasswood
