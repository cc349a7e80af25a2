#include "chunks.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace glasswood {
namespace {

constexpr Word ALL = ~Word(0);

// The leaves from left to right, and where in this order the leaves below each node begin and end.
struct LeafOrder {
    std::vector<int32_t> leaves;
    std::vector<std::pair<int64_t, int64_t>> below;
};

LeafOrder order_leaves(const Forest& trees, int64_t n_leaves) {
    const int64_t n_nodes = int64_t(trees.left.size());
    LeafOrder out{{}, std::vector<std::pair<int64_t, int64_t>>(n_nodes)};
    out.leaves.reserve(n_leaves);
    std::vector<int64_t> waiting;
    for (const int32_t root : trees.root) {
        waiting.push_back(root);
        while (!waiting.empty()) {
            const int64_t node = waiting.back();
            waiting.pop_back();
            if (node < 0) {
                out.leaves.push_back(int32_t(~node));
            } else if (node >= n_nodes) {  // all leaves below it have been found
                out.below[node - n_nodes].second = int64_t(out.leaves.size());
            } else {
                out.below[node].first = int64_t(out.leaves.size());
                waiting.insert(waiting.end(), {node + n_nodes, trees.right[node], trees.left[node]});
            }
        }
    }
    return out;
}

// The boxes of a chunk of leaves, feature by feature, in the order of players.
class BoxesOfChunk {
  public:
    BoxesOfChunk(const Boxes& boxes, std::span<const int32_t> player) : boxes_(boxes), player_(player), place_(player.size(), NONE) {}

    struct Box {
        int64_t number;
        Word bit;  // of its leaf
    };

    void sort(std::span<const int32_t> leaves) {
        features_.clear();
        std::size_t n_boxes = 0;
        for (const int32_t leaf : leaves)
            for (int64_t box = boxes_.first[leaf]; box < boxes_.first[leaf + 1]; ++box, ++n_boxes) {
                const int32_t feature = boxes_.feature[box];
                if (place_[feature] != NONE) continue;
                place_[feature] = FOUND;
                features_.push_back(feature);
            }
        const auto key = [&](int32_t feature) { return std::pair(player_[feature], feature); };
        std::sort(features_.begin(), features_.end(), [&](int32_t a, int32_t b) { return key(a) < key(b); });
        for (std::size_t i = 0; i < features_.size(); ++i) place_[features_[i]] = int32_t(i);
        start_.assign(features_.size() + 2, 0);  // start_[i + 2] is first the number of boxes of feature i, then where it starts
        for (const int32_t leaf : leaves)
            for (int64_t box = boxes_.first[leaf]; box < boxes_.first[leaf + 1]; ++box) ++start_[place_[boxes_.feature[box]] + 2];
        for (std::size_t i = 0; i < features_.size(); ++i) start_[i + 2] += start_[i + 1];
        sorted_.resize(n_boxes);
        for (std::size_t i = 0; i < leaves.size(); ++i)
            for (int64_t box = boxes_.first[leaves[i]]; box < boxes_.first[leaves[i] + 1]; ++box)
                sorted_[start_[place_[boxes_.feature[box]] + 1]++] = {box, Word(1) << i};
        for (const int32_t feature : features_) place_[feature] = NONE;
    }

    std::span<const int32_t> features() const { return features_; }
    std::span<const Box> of(std::size_t i) const { return {sorted_.data() + start_[i], sorted_.data() + start_[i + 1]}; }

  private:
    static constexpr int32_t NONE = -1, FOUND = -2;
    const Boxes& boxes_;
    std::span<const int32_t> player_;
    std::vector<int32_t> place_;     // of a feature among those of the chunk
    std::vector<int32_t> features_;
    std::vector<int64_t> start_;
    std::vector<Box> sorted_;
};

class ChunkMaker {
  public:
    ChunkMaker(const Boxes& boxes, std::span<const int32_t> player, int64_t max_states, int64_t order, ChunkLists& out)
        : boxes_(boxes), player_(player), max_states_(max_states), order_(order), out_(out), of_chunk_(boxes, player),
          seat_of_(player.size()) {}

    // Makes a chunk of some leaves, the next ones of leaf_order from `first` on, if their rows have few enough states.
    bool add(int64_t first, int64_t last) {
        if (last - first > MAX_LEAVES) return false;
        const std::span<const int32_t> leaves(out_.leaf_order.data() + first, out_.leaf_order.data() + last);
        const Sizes before = sizes();
        const bool single = last - first == 1;
        max_here_ = single ? std::numeric_limits<int64_t>::max() : max_states_;
        if (!trace(leaves) || (!single && !few_states(leaves))) {
            shrink(before);
            return false;
        }
        out_.chunk_first.push_back(first);
        out_.seat_first.push_back(int64_t(out_.seat_player.size()));
        return true;
    }

  private:
    using Box = BoxesOfChunk::Box;

    struct Sizes {
        std::size_t seats, axes, table, words;
    };

    Sizes sizes() const { return {out_.seat_player.size(), out_.axis_kind.size(), out_.table.size(), out_.words.size()}; }

    void shrink(const Sizes& to) {
        out_.seat_player.resize(to.seats);
        out_.axis_first.resize(to.seats + 1);
        out_.state_first.resize(to.seats + 1);
        out_.axis_feature.resize(to.axes);
        out_.axis_table.resize(to.axes);
        out_.axis_kind.resize(to.axes);
        out_.table.resize(to.table);
        out_.words.resize(to.words);
    }

    // Writes the seats, axes and states of a chunk; whether there are few enough states, so far.
    bool trace(std::span<const int32_t> leaves) {
        of_chunk_.sort(leaves);
        int32_t player = -1;
        for (std::size_t i = 0; i < of_chunk_.features().size(); ++i) {
            const int32_t feature = of_chunk_.features()[i];
            if (player_[feature] != player) {
                player = player_[feature];
                out_.seat_player.push_back(player);
                out_.axis_first.push_back(out_.axis_first.back());
                out_.state_first.push_back(out_.state_first.back());
            }
            seat_of_[feature] = int64_t(out_.seat_player.size()) - 1;
            if (!add_axis(feature, of_chunk_.of(i))) return false;
        }
        return true;
    }

    // Adds an axis to the last seat.
    bool add_axis(int32_t feature, std::span<const Box> members) {
        const std::size_t seat_start = out_.state_first[out_.state_first.size() - 2], classes_start = out_.words.size();
        out_.axis_feature.push_back(feature);
        out_.axis_table.push_back(int64_t(out_.table.size()));
        // The words of classes are written behind those of the seat's states.
        if (boxes_.n_codes[feature] > 0) {
            if (!add_categories(feature, members)) return false;
        } else {
            add_cuts(feature, members);
        }
        if (classes_start > seat_start && !combine(seat_start, classes_start)) return false;
        out_.axis_first.back() = int64_t(out_.axis_kind.size());
        out_.state_first.back() = int64_t(out_.words.size());
        return true;
    }

    // The classes of the cells of a feature of categories.
    bool add_categories(int32_t feature, std::span<const Box> members) {
        const int64_t n_cells = boxes_.n_cells[feature];
        const std::size_t start = out_.words.size(), at = out_.table.size();
        out_.axis_kind.push_back(-1);
        out_.table.push_back(0);
        for (int64_t cell = 0; cell < n_cells; ++cell) {
            const int64_t number = number_of(leaves_with(cell, members), start);
            if (int64_t(out_.words.size() - start) > max_here_) return false;
            out_.table.push_back(int32_t(number));
        }
        out_.table[at] = int32_t(out_.words.size() - start);
        return true;
    }

    // The leaves whose boxes have a cell.
    Word leaves_with(int64_t cell, std::span<const Box> members) const {
        Word word = ALL;
        for (const Box& box : members)
            if (!boxes_.has(box.number, cell)) word &= ~box.bit;
        return word;
    }

    // The number of a word among those from `start` on, where it is added if it is not there yet.
    int64_t number_of(Word word, std::size_t start) {
        const auto first = out_.words.begin() + start;
        const int64_t number = std::find(first, out_.words.end(), word) - first;
        if (start + number == out_.words.size()) out_.words.push_back(word);
        return number;
    }

    // The classes of the cells of a feature of numbers: those between cuts, which may have the same leaves, and missing.
    void add_cuts(int32_t feature, std::span<const Box> members) {
        const int64_t n_cells = boxes_.n_cells[feature];
        const std::size_t start = out_.words.size();
        cuts_.clear();
        for (const Box& box : members)
            for (const int64_t cut : {int64_t(boxes_.low[box.number]) - 1, int64_t(boxes_.high[box.number])})
                if (cut >= 0 && cut < n_cells - 2) cuts_.push_back(int32_t(cut));
        std::sort(cuts_.begin(), cuts_.end());
        cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
        out_.words.push_back(leaves_with(0, members));
        for (const int32_t cut : cuts_) out_.words.push_back(leaves_with(cut + 1, members));
        const int64_t gap = number_of(leaves_with(n_cells - 1, members), start);
        out_.table.push_back(int32_t(gap));
        out_.table.push_back(int32_t(out_.words.size() - start));
        out_.table.insert(out_.table.end(), cuts_.begin(), cuts_.end());
        out_.axis_kind.push_back(int32_t(cuts_.size()));
    }

    // From a state so far (words from seat_start on) and a class (from classes_start on) to a new state: their words,
    // one and the other.
    bool combine(std::size_t seat_start, std::size_t classes_start) {
        const std::size_t n_before = classes_start - seat_start, n_classes = out_.words.size() - classes_start;
        if (int64_t(n_before * n_classes) > max_here_) return false;
        const std::size_t new_start = out_.words.size();
        for (std::size_t s = 0; s < n_before; ++s)
            for (std::size_t c = 0; c < n_classes; ++c)
                out_.table.push_back(int32_t(number_of(out_.words[seat_start + s] & out_.words[classes_start + c], new_start)));
        out_.words.erase(out_.words.begin() + seat_start, out_.words.begin() + new_start);
        return true;
    }

    // Whether the `order` players with the most states, of every leaf, have at most so many combinations.
    bool few_states(std::span<const int32_t> leaves) const {
        struct Seat {
            int64_t number, n_states;
        };
        std::array<Seat, 64> seats;  // of a leaf, in decreasing order of their numbers of states
        for (const int32_t leaf : leaves) {
            std::size_t n = 0;
            for (int64_t box = boxes_.first[leaf]; box < boxes_.first[leaf + 1]; ++box) {
                const int64_t seat = seat_of_[boxes_.feature[box]];
                if (std::any_of(seats.begin(), seats.begin() + n, [&](const Seat& known) { return known.number == seat; })) continue;
                if (n == seats.size()) return false;
                const int64_t n_states = out_.state_first[seat + 1] - out_.state_first[seat];
                std::size_t i = n++;
                for (; i > 0 && seats[i - 1].n_states < n_states; --i) seats[i] = seats[i - 1];
                seats[i] = {seat, n_states};
            }
            int64_t product = 1;
            for (std::size_t i = 0; i < std::min<std::size_t>(order_, n); ++i) {
                product *= seats[i].n_states;
                if (product > max_states_) return false;
            }
        }
        return true;
    }

    const Boxes& boxes_;
    std::span<const int32_t> player_;
    const int64_t max_states_, order_;
    int64_t max_here_ = 0;  // states that a seat of the chunk may have
    ChunkLists& out_;
    BoxesOfChunk of_chunk_;
    std::vector<int64_t> seat_of_;  // of a feature
    std::vector<int32_t> cuts_;
};

}  // namespace

ChunkLists make_chunks(const Forest& trees, const Boxes& boxes, std::span<const int32_t> player, int64_t max_states, int64_t order) {
    LeafOrder found = order_leaves(trees, boxes.n_leaves());
    ChunkLists out;
    out.leaf_order = std::move(found.leaves);
    ChunkMaker maker(boxes, player, max_states, order, out);
    std::vector<int32_t> waiting;
    int64_t n_done = 0;
    for (const int32_t root : trees.root) {
        waiting.push_back(root);
        while (!waiting.empty()) {
            const int32_t node = waiting.back();
            waiting.pop_back();
            const auto [first, last] = node < 0 ? std::pair(n_done, n_done + 1) : found.below[node];
            if (maker.add(first, last)) {
                n_done = last;
            } else {
                waiting.push_back(trees.right[node]);
                waiting.push_back(trees.left[node]);
            }
        }
    }
    out.chunk_first.push_back(boxes.n_leaves());
    return out;
}

namespace {

// Writes the class of each cell on an axis; returns the number of classes, and what follows in the table.
std::pair<int32_t, const int32_t*> write_classes(const Axes& axes, int64_t axis, const int32_t* cells, std::span<std::uint16_t> out) {
    const int32_t* table = axes.table.data() + axes.start[axis];
    const int32_t n_cuts = axes.kind[axis], missing = int32_t(axes.missing[axis]);
    if (n_cuts < 0) {
        for (std::size_t r = 0; r < out.size(); ++r) out[r] = std::uint16_t(table[1 + cells[r]]);
        return {table[0], table + 1 + missing + 1};
    }
    const std::uint16_t gap = std::uint16_t(table[0]);
    const int32_t* cuts = table + 2;
    std::fill(out.begin(), out.end(), std::uint16_t(0));
    for (int32_t k = 0; k < n_cuts; ++k)
        for (std::size_t r = 0; r < out.size(); ++r) out[r] = std::uint16_t(out[r] + (cells[r] > cuts[k]));
    for (std::size_t r = 0; r < out.size(); ++r) out[r] = cells[r] == missing ? gap : out[r];
    return {table[1], cuts + n_cuts};
}

}  // namespace

void write_states(Matrix<const int32_t> cells, int64_t first, int64_t last, const Axes& axes, std::span<const int64_t> seats,
                  Matrix<std::uint16_t> states) {
    const int64_t n_rows = last - first;
    std::vector<std::uint16_t> classes(n_rows);
    for (std::size_t i = 0; i < seats.size(); ++i) {
        std::uint16_t* out = states[i];
        const int64_t seat = seats[i], start = axes.first[seat];
        for (int64_t axis = start; axis < axes.first[seat + 1]; ++axis) {
            const int32_t* here = cells[axes.line[axis]] + first;
            if (axis == start) {
                write_classes(axes, axis, here, {out, std::size_t(n_rows)});
                continue;
            }
            const auto [n_classes, following] = write_classes(axes, axis, here, classes);
            for (int64_t r = 0; r < n_rows; ++r) out[r] = std::uint16_t(following[int64_t(out[r]) * n_classes + classes[r]]);
        }
    }
}

}  // namespace glasswood
