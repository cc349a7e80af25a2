#include "walks.h"

#include <algorithm>
#include <bit>

namespace glasswood {
namespace {

constexpr int PAIR_BITS = 14;
constexpr int LANES = 8;  // players that are added to at a time
static_assert(int64_t(1) << PAIR_BITS == MAX_WALK_PAIRS && PAIR_BITS + 2 * MAX_NARROW_PLAYERS == 64);

// A pair of rows and its two sets, in one word: for paths of up to 25 players.
struct NarrowItem {
    Word word;

    static NarrowItem of(std::uint32_t pair) { return {pair}; }
    std::uint32_t pair() const { return std::uint32_t(word & (MAX_WALK_PAIRS - 1)); }
    Word plus() const { return word >> PAIR_BITS & ((Word(1) << MAX_NARROW_PLAYERS) - 1); }
    Word minus() const { return word >> (PAIR_BITS + MAX_NARROW_PLAYERS); }

    // What is added to both sets' words, for a player.
    class Player {
      public:
        explicit Player(int slot) : plus_(Word(1) << (PAIR_BITS + slot)), minus_(plus_ << MAX_NARROW_PLAYERS) {}
        bool in_plus(NarrowItem item) const { return item.word & plus_; }
        bool in_minus(NarrowItem item) const { return item.word & minus_; }
        // The item of the left child, and of the right one, if the rows part (or not).
        NarrowItem left(NarrowItem item, bool parts, bool here_left) const {
            return {item.word | ((minus_ ^ ((plus_ ^ minus_) & -Word(here_left))) & -Word(parts))};
        }
        NarrowItem right(NarrowItem item, bool parts, bool here_left) const { return left(item, parts, !here_left); }

      private:
        Word plus_, minus_;
    };
};

// The same for up to 63 players.
struct WideItem {
    Word plus_, minus_;
    std::uint32_t pair_;

    static WideItem of(std::uint32_t pair) { return {0, 0, pair}; }
    std::uint32_t pair() const { return pair_; }
    Word plus() const { return plus_; }
    Word minus() const { return minus_; }

    class Player {
      public:
        explicit Player(int slot) : bit_(Word(1) << slot) {}
        bool in_plus(const WideItem& item) const { return item.plus_ & bit_; }
        bool in_minus(const WideItem& item) const { return item.minus_ & bit_; }
        WideItem left(const WideItem& item, bool parts, bool here_left) const {
            const Word to_plus = bit_ & -Word(parts & here_left), to_minus = bit_ & -Word(parts & !here_left);
            return {item.plus_ | to_plus, item.minus_ | to_minus, item.pair_};
        }
        WideItem right(const WideItem& item, bool parts, bool here_left) const { return left(item, parts, !here_left); }

      private:
        Word bit_;
    };
};

// Whether a value goes left, given by its rank.
class CutTest {
  public:
    // Adding one turns the largest int32, which stands for missing, into the smallest.
    explicit CutTest(const WalkNode& node) : turn_(node.missing_left()), bound_(std::uint32_t(node.rank) + turn_) {}
    bool operator()(int32_t rank) const { return int32_t(std::uint32_t(rank) + turn_) <= int32_t(bound_); }

  private:
    std::uint32_t turn_, bound_;
};

class SetTest {
  public:
    SetTest(const WalkNode& node, const Word* words)
        : set_(words + node.rank), missing_left_(node.missing_left()), unseen_left_(node.unseen_left()) {}
    bool operator()(int32_t code) const {
        return code == RANK_MISSING ? missing_left_ : code < 0 ? unseen_left_ : has_category(set_, code);
    }

  private:
    const Word* set_;
    bool missing_left_, unseen_left_;
};

// Adds one number to the players in a set, and another to those in a second one, of the first 8 * n_blocks players.
inline void add_to_players(double* out, int64_t n_blocks, Word first, Word second, double to_first, double to_second) {
    for (int64_t block = 0; block < n_blocks; ++block, out += LANES, first >>= LANES, second >>= LANES)
        for (int s = 0; s < LANES; ++s) {
            const double one = first & (Word(1) << s) ? to_first : 0.0, other = second & (Word(1) << s) ? to_second : 0.0;
            out[s] += one + other;
        }
}

// What a cube with so many players on both sides is worth to each of them, and to pairs of them.
struct PlayerWeights {
    double plus = 0, minus = 0, both_plus = 0, both_minus = 0, mixed = 0;

    PlayerWeights(Cube<const double> values, bool of_pairs, int a, int b) {
        const auto value = [&](int size, int outside, int n_plus, int n_minus) {
            return values.line(kind_of_set(size, outside), n_plus)[n_minus];
        };
        if (a > 0) plus = value(1, 0, a - 1, b);
        if (b > 0) minus = value(1, 1, a, b - 1);
        if (!of_pairs) return;
        if (a > 1) both_plus = value(2, 0, a - 2, b);
        if (a > 0 && b > 0) mixed = value(2, 1, a - 1, b - 1);
        if (b > 1) both_minus = value(2, 2, a, b - 2);
    }
};

template <class Item>
class Walk {
  public:
    Walk(const WalkTrees& trees, const WalkRows& rows, Cube<const double> values, std::span<const int64_t> output_place,
         Cube<double> single, Cube<double> pairs)
        : trees_(trees), rows_(rows), output_place_(output_place), single_(single), pairs_(pairs), there_bits_(std::bit_width(Word(n_there() - 1))),
          there_mask_((std::uint32_t(1) << there_bits_) - 1), n_outputs_(n_here() > 0 ? pairs.n_layers / n_here() : 0), n_counts_(values.n_rows),
          to_plus_(output_place.size() + LANES), to_minus_(to_plus_.size()) {
        for (int64_t a = 0; a < n_counts_; ++a)
            for (int64_t b = 0; b < n_counts_; ++b)
                worth_.push_back(a + b < n_counts_ ? PlayerWeights(values, pairs.n_layers > 0, int(a), int(b)) : PlayerWeights(values, false, 0, 0));
        for (int64_t row = rows.first_there; row < rows.last_there; ++row) weight_.push_back(rows.weight[row]);
    }

    void tree(int64_t number) {
        find_outputs(number);
        int64_t n = 0;
        grow(n_here() * n_there());
        for (int64_t x = 0; x < n_here(); ++x)
            for (int64_t z = 0; z < n_there(); ++z)
                if (weight_[z] > 0) items_[n++] = Item::of(std::uint32_t(x << there_bits_ | z));
        waiting_.push_back({trees_.root[number], 0, n});
        while (!waiting_.empty()) {
            Branch here = waiting_.back();
            waiting_.pop_back();
            while (here.node >= 0 && here.last > here.first) here = split(here);
            if (here.last > here.first) add_leaf(here);
        }
    }

    int64_t n_visits() const { return n_visits_; }

  private:
    struct Branch {
        int32_t node;
        int64_t first, last;  // of its items
    };

    int64_t n_here() const { return rows_.last_here - rows_.first_here; }
    int64_t n_there() const { return rows_.last_there - rows_.first_there; }

    void grow(int64_t size) {
        if (size > int64_t(items_.size())) items_.resize(2 * size);
    }

    // The values of the tree's leaves that are wanted, and where they belong.
    void find_outputs(int64_t tree) {
        columns_.clear();
        for (int64_t k = 0; k < trees_.value.n_columns; ++k)
            if (const int64_t place = output_place_[trees_.output[tree] + k]; place >= 0) columns_.emplace_back(k, place);
        std::fill(to_plus_.begin(), to_plus_.end(), 0.0);
        std::fill(to_minus_.begin(), to_minus_.end(), 0.0);
    }

    // Sends the items of a node to its children; the right ones wait, those of the left child are returned.
    Branch split(const Branch& here) {
        const WalkNode& node = trees_.nodes[here.node];
        player_at_[node.slot()] = trees_.player[node.column()];
        grow(2 * here.last - here.first);
        n_visits_ += here.last - here.first;
        const auto [to_right, to_left] = node.by_set() ? deal(here, node, SetTest(node, trees_.words.data())) : deal(here, node, CutTest(node));
        if (to_right == here.first) return {node.left, here.last, to_left};
        if (to_left == here.last) return {node.right, here.first, to_right};
        waiting_.push_back({node.right, here.first, to_right});
        return {node.left, here.last, to_left};
    }

    // Items of the right child take the place of those that have been read; the left ones follow behind. Returns where the
    // right and the left ones end. Without a branch, which would be mispredicted every other time.
    template <class GoesLeft>
    std::pair<int64_t, int64_t> deal(const Branch& branch, const WalkNode& node, GoesLeft goes_left) {
        const int32_t* here = rows_.here[node.column()] + rows_.first_here;
        const int32_t* there = rows_.there[node.column()] + rows_.first_there;
        const typename Item::Player player(node.slot());
        Item* items = items_.data();
        int64_t to_right = branch.first, to_left = branch.last;
        for (int64_t at = branch.first; at < branch.last; ++at) {
            const Item item = items[at];
            const bool here_left = goes_left(here[item.pair() >> there_bits_]), there_left = goes_left(there[item.pair() & there_mask_]);
            const bool by_here = !player.in_minus(item), by_there = !player.in_plus(item), parts = here_left != there_left;
            items[to_left] = player.left(item, parts, here_left);
            to_left += (by_here & here_left) | (by_there & there_left);
            items[to_right] = player.right(item, parts, here_left);
            to_right += (by_here & !here_left) | (by_there & !there_left);
        }
        return {to_right, to_left};
    }

    void add_leaf(const Branch& here) {
        n_visits_ += here.last - here.first;
        const double* value = trees_.value[~here.node];
        for (int64_t at = here.first; at < here.last; ++at) {
            const Item& item = items_[at];
            const Word plus = item.plus(), minus = item.minus();
            if ((plus | minus) == 0) continue;
            const PlayerWeights& worth = worth_[std::popcount(plus) * n_counts_ + std::popcount(minus)];
            const int64_t row = item.pair() >> there_bits_;
            const double weight = weight_[item.pair() & there_mask_];
            for (const auto& [k, place] : columns_) {
                const double factor = weight * value[k];
                to_plus_[place] = factor * worth.plus;
                to_minus_[place] = factor * worth.minus;
                if (trees_.slots_are_players)
                    add_to_players(single_.line(row, place), single_.n_columns / LANES, plus, minus, to_plus_[place], to_minus_[place]);
                if (pairs_.n_layers > 0) add_pairs(row * n_outputs_ + place, plus, minus, worth, factor);
            }
            if (trees_.slots_are_players) continue;
            add_by_slot(row, plus, to_plus_.data());
            add_by_slot(row, minus, to_minus_.data());
        }
    }

    // Adds to all outputs of the players in a set of slots.
    void add_by_slot(int64_t row, Word slots, const double* more) {
        const int64_t n = single_.n_columns;
        for (; slots; slots &= slots - 1) {
            double* out = single_.line(row, player_at_[std::countr_zero(slots)]);
            if (n == 1) *out += *more;
            else
                for (int64_t block = 0; block < n; block += LANES)
                    for (int k = 0; k < LANES; ++k) out[block + k] += more[block + k];
        }
    }

    void add_pairs(int64_t layer, Word plus, Word minus, const PlayerWeights& worth, double factor) {
        const double both_plus = factor * worth.both_plus, both_minus = factor * worth.both_minus, mixed = factor * worth.mixed;
        for (Word left = plus | minus; left; left &= left - 1) {
            const int slot = std::countr_zero(left);
            const bool in_plus = plus >> slot & 1;
            const double to_plus = in_plus ? both_plus : mixed, to_minus = in_plus ? mixed : both_minus;
            const Word behind = left & (left - 1);
            const int32_t player = player_at_[slot];
            if (trees_.slots_are_players) {
                add_to_players(pairs_.line(layer, player), pairs_.n_columns / LANES, plus & behind, minus & behind, to_plus, to_minus);
                continue;
            }
            for (Word others = behind; others; others &= others - 1) {
                const int other = std::countr_zero(others);
                const int32_t a = std::min(player, player_at_[other]), b = std::max(player, player_at_[other]);
                pairs_.line(layer, a)[b] += plus >> other & 1 ? to_plus : to_minus;
            }
        }
    }

    const WalkTrees& trees_;
    const WalkRows& rows_;
    std::span<const int64_t> output_place_;
    Cube<double> single_, pairs_;
    int there_bits_;
    std::uint32_t there_mask_;
    int64_t n_outputs_, n_counts_, n_visits_ = 0;
    std::vector<PlayerWeights> worth_;    // of cubes by the numbers of players on both sides
    std::vector<double> weight_;
    std::vector<double> to_plus_, to_minus_;  // what an item adds to the players of its sets, for each output
    std::vector<Item> items_;
    std::vector<Branch> waiting_;
    std::vector<std::pair<int64_t, int64_t>> columns_;
    int32_t player_at_[MAX_WALK_PLAYERS + 1] = {};  // of each slot, on the path to the node at hand
};

template <class Item>
int64_t walk(int64_t first_tree, int64_t last_tree, const WalkTrees& trees, const WalkRows& rows, Cube<const double> values,
             std::span<const int64_t> output_place, Cube<double> single, Cube<double> pairs) {
    Walk<Item> walk(trees, rows, values, output_place, single, pairs);
    for (int64_t tree = first_tree; tree < last_tree; ++tree) walk.tree(tree);
    return walk.n_visits();
}

}  // namespace

int64_t add_walks(int64_t first_tree, int64_t last_tree, const WalkTrees& trees, const WalkRows& rows, Cube<const double> values,
                  std::span<const int64_t> output_place, Cube<double> single, Cube<double> pairs) {
    if (rows.first_here == rows.last_here || rows.first_there == rows.last_there) return 0;
    return (trees.n_slots <= MAX_NARROW_PLAYERS ? walk<NarrowItem> : walk<WideItem>)(first_tree, last_tree, trees, rows, values, output_place, single, pairs);
}

}  // namespace glasswood
