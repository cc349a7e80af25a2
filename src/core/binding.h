// What the bindings share: arrays with a type, a rank and an order, and the checks of what kernels rely on.
//
// Arrays are never converted: an array of another type or layout is refused, so that what is written to is the caller's.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"

namespace glasswood {

namespace nb = nanobind;

template <class T>
using Array = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array3 = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array4 = nb::ndarray<T, nb::ndim<4>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<T> span_of(const Array<T>& array) { return {array.data(), array.size()}; }
template <class T>
Matrix<T> matrix_of(const Array2<T>& array) { return {array.data(), int64_t(array.shape(0)), int64_t(array.shape(1))}; }
template <class T>
Cube<T> cube_of(const Array3<T>& array) {
    return {array.data(), int64_t(array.shape(0)), int64_t(array.shape(1)), int64_t(array.shape(2))};
}

inline auto arg(const char* name) { return nb::arg(name).noconvert(); }

// Release the GIL while a kernel runs.
using without_gil = nb::call_guard<nb::gil_scoped_release>;

[[noreturn]] inline void refuse(const std::string& message) { throw std::invalid_argument(message); }

inline void check(bool holds, const char* message) {
    if (!holds) refuse(message);
}

inline void check_size(std::size_t size, std::size_t expected, const char* name) {
    if (size != expected) refuse(std::string(name) + " has " + std::to_string(size) + " entries, not " + std::to_string(expected));
}

// All entries are from `least` to before `end`.
template <class T>
void check_range(std::span<const T> values, int64_t least, int64_t end, const char* name) {
    if (values.empty()) return;
    T low = values.front(), high = values.front();
    for (const T value : values) {  // a loop that compilers turn into vector instructions
        low = std::min(low, value);
        high = std::max(high, value);
    }
    if (int64_t(low) < least || int64_t(high) >= end)
        refuse(std::string(name) + " has entries from " + std::to_string(low) + " to " + std::to_string(high) +
               ", but they must be from " + std::to_string(least) + " to before " + std::to_string(end));
}

// Entries tell where parts start in something of `end` entries: not decreasing, from at least 0 to at most `end`.
inline void check_starts(std::span<const int64_t> first, int64_t end, const char* name) {
    check_range(first, 0, end + 1, name);
    if (!std::is_sorted(first.begin(), first.end())) refuse(std::string(name) + " decreases");
}

// Entries tell where parts start, one after the other, that make up something of `end` entries: from 0 to `end`.
inline void check_parts(std::span<const int64_t> first, std::size_t end, const char* name) {
    check_starts(first, int64_t(end), name);
    if (first.empty() || first.front() != 0 || first.back() != int64_t(end))
        refuse(std::string(name) + " does not begin with 0 or end with " + std::to_string(end));
}

// Children of nodes: nodes, or ~leaf.
inline void check_children(std::span<const int32_t> children, std::size_t n_nodes, std::size_t n_leaves, const char* name) {
    check_range(children, -int64_t(n_leaves), int64_t(n_nodes), name);
}

// Sets of categories of n_codes categories: where they start in `n_words` words; negative for none.
inline void check_category_set(int64_t start, int64_t n_codes, std::size_t n_words, const char* name) {
    if (start >= 0 && start + (n_codes + 63) / 64 > int64_t(n_words)) refuse(std::string(name) + " ends behind the words");
}

// A struct of spans, and the arrays that they look into.
template <class View>
struct Held {
    View view;
    std::vector<nb::ndarray<>> arrays;

    template <class... Arrays>
    Held(View view, const Arrays&... arrays) : view(view), arrays{nb::ndarray<>(arrays)...} {}
};

// A NumPy array that owns the entries of a vector.
template <class T>
using Owned = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;

template <class T>
Owned<T> numpy_of(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* given) noexcept { delete static_cast<std::vector<T>*>(given); });
    return Owned<T>(kept->data(), {kept->size()}, owner);
}

// The columns of a table.
struct Columns {
    std::vector<Column> columns;
    std::vector<nb::ndarray<>> arrays;
    int64_t n_rows;

    Columns(const nb::list& given, int64_t n_rows);
    std::vector<Column> pick(std::span<const int64_t> numbers) const;

  private:
    template <class Given>
    void add(const Given& array, bool is_single);
};

// Counts of leaves and tables of player sets fit each other.
void check_leaves_of_subsets(std::span<const int64_t> leaf_offset, std::span<const int32_t> n_players, std::span<const int64_t> size,
                             Matrix<const int32_t> minus, std::size_t n_counts);

// The states of all seats are states of theirs.
void check_states(Matrix<const std::uint16_t> states, std::span<const int64_t> state_first);

void bind_counting(nb::module_& m);
void bind_ensemble(nb::module_& m);
void bind_plan(nb::module_& m);
void bind_interactions(nb::module_& m);
void bind_responses(nb::module_& m);
void bind_chunks(nb::module_& m);
void bind_leaves(nb::module_& m);
void bind_walks(nb::module_& m);
void bind_closed_forms(nb::module_& m);
void bind_pairs(nb::module_& m);
void bind_targets(nb::module_& m);
void bind_bins(nb::module_& m);
void bind_derived(nb::module_& m);

}  // namespace glasswood
