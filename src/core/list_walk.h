// Lists of rows walked through trees: what the kernels that count with them share, see lists.h.
#pragma once

#include <limits>
#include <vector>

#include "lists.h"
#include "vectors.h"

namespace glasswood {

constexpr int ROW_BITS = 13;  // of an item; the others hold its set
constexpr std::uint32_t ROW_MASK = LIST_ROWS - 1;
constexpr int32_t MISSING = std::numeric_limits<int32_t>::max(), UNSEEN = -1;
static_assert(1 << ROW_BITS == LIST_ROWS && LIST_SETS << ROW_BITS == int64_t(1) << 32);

struct Branch {
    int32_t node;
    std::size_t first, last;  // of its items
};

// Whether a value goes left, given by its rank.
class Test {
  public:
    Test(const ListTrees& trees, int32_t node)
        : set_(trees.category_set[node] < 0 ? nullptr : trees.words.data() + trees.category_set[node]),
          missing_left_(trees.missing_left[node]), unseen_left_(trees.unseen_left[node]),
          // Adding one turns the largest int32, which stands for missing, into the smallest.
          turn_(missing_left_), bound_(std::uint32_t(trees.rank[node]) + turn_) {}

    bool by_set() const { return set_ != nullptr; }
    std::uint32_t turn() const { return turn_; }
    int32_t bound() const { return int32_t(bound_); }
    bool cut(int32_t rank) const { return int32_t(std::uint32_t(rank) + turn_) <= bound(); }
    bool category(int32_t code) const {
        return code == MISSING ? missing_left_ : code < 0 ? unseen_left_ : has_category(set_, code);
    }

  private:
    const Word* set_;
    bool missing_left_, unseen_left_;
    std::uint32_t turn_, bound_;
};

// Sends the items from first to last to the children. Those of the right child take the place of those that have been
// read; the left ones follow behind. Returns where the right and the left ones end.
template <class GoesLeft>
std::pair<std::size_t, std::size_t> deal_each(std::uint32_t* items, std::size_t first, std::size_t last, std::size_t to_right, std::size_t to_left,
                                              const int32_t* ranks, const int32_t* following, GoesLeft goes_left) {
    for (std::size_t at = first; at < last; ++at) {
        const std::uint32_t item = items[at], row = item & ROW_MASK;
        const int32_t other = following[item >> ROW_BITS];
        const bool left = goes_left(ranks[row]), may_break = other >= 0;
        const std::uint32_t broken = row | std::uint32_t(other) << ROW_BITS;
        // Without a branch, which would be mispredicted every other time.
        const std::uint32_t swapped = (item ^ broken) & -std::uint32_t(left);
        items[to_left] = broken ^ swapped;
        to_left += std::size_t(left) | std::size_t(may_break);
        items[to_right] = item ^ swapped;
        to_right += std::size_t(!left) | std::size_t(may_break);
    }
    return {to_right, to_left};
}

// Sends the rows of a block through trees. `at_leaf` gets the items that reach a leaf: its number, and where they begin and end.
template <class AtLeaf>
class ListWalk {
  public:
    ListWalk(const ListTrees& trees, Matrix<const int32_t> ranks, Matrix<const int32_t> following, AtLeaf at_leaf)
        : trees_(trees), ranks_(ranks), following_(following), at_leaf_(at_leaf), items_(4 * LIST_ROWS) {
        waiting_.reserve(trees.depth + 2);
    }

    // Sends all rows of a block through one tree.
    void tree(int32_t root, int64_t n_rows) {
        for (int64_t row = 0; row < n_rows; ++row) items_[row] = std::uint32_t(row);
        waiting_.push_back({root, 0, std::size_t(n_rows)});
        while (!waiting_.empty()) {
            const Branch here = waiting_.back();
            waiting_.pop_back();
            if (here.node < 0) at_leaf_(~here.node, items_.data() + here.first, items_.data() + here.last);
            else split(here);
        }
    }

  private:
    void split(const Branch& here) {
        const auto [node, first, last] = here;
        if (2 * last - first + DEALT > items_.size()) items_.resize(2 * (items_.size() + last));
        const Test test(trees_, node);
        const int32_t* ranks = ranks_[trees_.column[node]];
        const int32_t* following = following_[trees_.slot[node]];
        const auto [to_right, to_left] = test.by_set() ? deal_each(items_.data(), first, last, first, last, ranks, following, [&](int32_t code) { return test.category(code); })
                                                       : deal_by_cut(first, last, ranks, following, test);
        if (to_right > first) waiting_.push_back({trees_.right[node], first, to_right});
        if (to_left > last) waiting_.push_back({trees_.left[node], last, to_left});
    }

    std::pair<std::size_t, std::size_t> deal_by_cut(std::size_t first, std::size_t last, const int32_t* ranks, const int32_t* following, const Test& test) {
        std::uint32_t* items = items_.data();
        TwoLists to{items + last, items + first};
        const Dealing by{ROW_BITS, ranks, following, following_.n_columns, test.turn(), test.bound()};
        const std::size_t done = std::size_t(deal(items + first, int64_t(last - first), by, to));
        return deal_each(items, first + done, last, std::size_t(to.right - items), std::size_t(to.left - items), ranks, following,
                         [&](int32_t rank) { return test.cut(rank); });
    }

    const ListTrees& trees_;
    Matrix<const int32_t> ranks_, following_;
    AtLeaf at_leaf_;
    std::vector<std::uint32_t> items_;
    std::vector<Branch> waiting_;
};

}  // namespace glasswood
