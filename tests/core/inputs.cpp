#include "inputs.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace glasswood {
namespace {

constexpr double INFINITE = std::numeric_limits<double>::infinity(), MISSING = std::numeric_limits<double>::quiet_NaN();
constexpr double CUTS[] = {-2, -1, -0.5, -0.125, 0, 0.1, 0.25, 0.5, 1, 2, INFINITE};

Flags random_flags(Random& random, std::size_t n) {
    Flags flags(n);
    for (bool& flag : flags) flag = random.below(2);
    return flags;
}

}  // namespace

PlayerSets::PlayerSets(int order, int n_players) : size{1} {
    std::vector<int32_t> number(std::size_t(1) << n_players, -1);  // of the set with a mask
    std::vector<unsigned> masks;
    for (unsigned mask = 0; mask < number.size(); ++mask)
        if (std::popcount(mask) <= order) {
            number[mask] = int32_t(masks.size());
            masks.push_back(mask);
        }
    for (int player = 0; player < n_players; ++player)
        size.push_back(std::lower_bound(masks.begin(), masks.end(), 2u << player) - masks.begin());
    has.resize(n_players * masks.size());
    for (const unsigned mask : masks) rest.push_back(number[mask ? mask ^ std::bit_floor(mask) : 0]);
    for (int player = 0; player < n_players; ++player)
        for (std::size_t i = 0; i < masks.size(); ++i) {
            const unsigned bit = 1u << player;
            has[player * masks.size() + i] = masks[i] & bit;
            plus.push_back(masks[i] & bit ? -1 : number[masks[i] | bit]);
            minus.push_back(masks[i] & bit ? number[masks[i] ^ bit] : -1);
        }
}

Model::Model(Random& random) {
    root.push_back(grow(random, 0));  // a tree without nodes
    for (const int most : {1, 4, 4, 5, 5, 6, 6, 9}) root.push_back(grow(random, most));
    missing_left = random_flags(random, left.size());
    unseen_left = random_flags(random, left.size());
    find_cells();
    find_paths();
    find_boxes();
}

int32_t Model::grow(Random& random, int most) {
    if (most == 0 || random.below(9) == 0) {
        for (int k = 0; k < N_OUTPUTS; ++k) value.push_back(random.value());
        leaf_cover.push_back(double(std::max<int64_t>(0, random.below(40) - 8)));
        return ~int32_t(n_leaves() - 1);
    }
    const std::size_t node = left.size();
    const int f = int(random.below(N_FEATURES));
    feature.push_back(f);
    cut.push_back(f == CATEGORIES ? 0 : CUTS[random.below(std::size(CUTS))]);
    category_set.push_back(f == CATEGORIES ? int32_t(words.size()) : -1);
    if (f == CATEGORIES) words.insert(words.end(), {random.next(), random.next() & 63});
    left.push_back(0);
    right.push_back(0);
    cover.push_back(0);
    const int32_t to_left = grow(random, most - 1), to_right = grow(random, most - 1);
    left[node] = to_left;
    right[node] = to_right;
    for (const int32_t child : {to_left, to_right}) cover[node] += child < 0 ? leaf_cover[~child] : cover[child];
    return int32_t(node);
}

void Model::find_cells() {
    rank.assign(left.size(), 0);
    for (int f = 0; f < N_FEATURES; ++f) {
        std::vector<double> found;
        for (std::size_t node = 0; node < left.size(); ++node)
            if (feature[node] == f && f != CATEGORIES) found.push_back(cut[node]);
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        for (std::size_t node = 0; node < left.size(); ++node)
            if (feature[node] == f && f != CATEGORIES)
                rank[node] = int32_t(std::lower_bound(found.begin(), found.end(), cut[node]) - found.begin());
        cuts.insert(cuts.end(), found.begin(), found.end());
        cut_first.push_back(int64_t(cuts.size()));
        n_cells.push_back((f == CATEGORIES ? n_codes[f] : int64_t(found.size())) + 2);
        cell_first.push_back(cell_first.back() + n_cells.back());
    }
}

void Model::find_paths() {
    const std::size_t n_inner = left.size(), n_outer = leaf_cover.size();
    for (auto* of_nodes : {&slot, &node_tree, &node_parent}) of_nodes->assign(n_inner, -1);
    for (auto* of_leaves : {&n_players, &leaf_tree, &leaf_parent}) of_leaves->assign(n_outer, -1);
    is_new.resize(n_inner);
    node_side.resize(n_inner);
    leaf_side.resize(n_outer);
    std::vector<int32_t> player_of_node;
    for (const int32_t f : feature) player_of_node.push_back(player[f]);
    depth = number_players(trees(), player_of_node, PathsOfTrees{slot, {&is_new[0], n_inner}, n_players, node_tree, leaf_tree});
    for (std::size_t node = 0; node < n_inner; ++node)
        for (const int32_t child : {left[node], right[node]}) {
            (child < 0 ? leaf_parent[~child] : node_parent[child]) = int32_t(node);
            (child < 0 ? leaf_side[~child] : node_side[child]) = child == left[node];
        }
}

void Model::find_boxes() {
    for (std::size_t leaf = 0; leaf < n_players.size(); ++leaf) {
        std::vector<bool> met(N_FEATURES);
        for (int32_t node = leaf_parent[leaf]; node >= 0; node = node_parent[node]) met[feature[node]] = true;
        box_first.push_back(box_first.back() + std::count(met.begin(), met.end(), true));
        slot_first.push_back(slot_first.back() + n_players[leaf]);
    }
    const std::size_t n = box_first.back();
    for (auto* of_boxes : {&box_feature, &box_slot, &low, &high}) of_boxes->resize(n);
    box_missing.resize(n);
    box_unseen.resize(n);
    sets.resize(2 * n);
    std::vector<int64_t> last_cell, n_words;
    for (int f = 0; f < N_FEATURES; ++f) {
        last_cell.push_back(cut_first[f + 1] - cut_first[f]);
        n_words.push_back((n_codes[f] + 63) / 64);
    }
    const NodesOfPaths nodes{feature, slot, rank, category_set, view(missing_left), view(unseen_left), words, last_cell, n_words};
    trace_boxes(parents(), nodes, BoxesOut{box_first, box_feature, box_slot, low, high, {&box_missing[0], n}, {&box_unseen[0], n}, sets});
    slot_player.resize(slot_first.back());
    for (std::size_t leaf = 0; leaf < n_players.size(); ++leaf)
        for (int64_t box = box_first[leaf]; box < box_first[leaf + 1]; ++box)
            slot_player[slot_first[leaf] + box_slot[box]] = player[box_feature[box]];
}

std::vector<int64_t> Model::leaf_offset(const PlayerSets& counted) const {
    std::vector<int64_t> offset{0};
    for (const int32_t used : n_players) offset.push_back(offset.back() + counted.size[used]);
    return offset;
}

Rows::Rows(Random& random, int64_t n_rows) : n_rows(n_rows), by_column(N_FEATURES * n_rows), by_row(N_FEATURES * n_rows) {
    for (int64_t row = 0; row < n_rows; ++row)
        for (int f = 0; f < N_FEATURES; ++f) {
            double x = double(random.below(49) - 24) / 8;
            if (f == CATEGORIES) x = double(random.below(75) - 2);
            constexpr double UNUSUAL[] = {MISSING, INFINITE, -INFINITE, -0.0, double(0.1f)};
            if (random.below(8) == 0) x = UNUSUAL[random.below(std::size(UNUSUAL))];
            by_row[row * N_FEATURES + f] = by_column[f * n_rows + row] = x;
        }
    single.assign(by_column.begin(), by_column.end());
    for (int64_t row = 0; row < n_rows; ++row) {
        small_weight.push_back(random.below(4));
        large_weight.push_back(random.below(int64_t(1) << 43));
    }
}

std::vector<Column> Rows::columns() const {
    std::vector<Column> columns;
    for (int f = 0; f < N_FEATURES; ++f)
        columns.push_back({reinterpret_cast<const std::byte*>(by_column.data() + f * n_rows), sizeof(double), false});
    return columns;
}

std::vector<Column> Rows::single_columns() const {
    std::vector<Column> columns;
    for (int f = 0; f < N_FEATURES; ++f)
        columns.push_back({reinterpret_cast<const std::byte*>(single.data() + f * n_rows), sizeof(float), true});
    return columns;
}

std::vector<Column> Rows::strided_columns() const {
    std::vector<Column> columns;
    for (int f = 0; f < N_FEATURES; ++f)
        columns.push_back({reinterpret_cast<const std::byte*>(by_row.data() + f), N_FEATURES * sizeof(double), false});
    return columns;
}

ChunksOfModel::ChunksOfModel(const Model& model, int64_t max_states, int64_t order)
    : made(make_chunks(Forest{model.root, model.left, model.right}, model.boxes(), model.player, max_states, order)),
      leaf_chunk(model.n_leaves()) {
    for (const int32_t f : made.axis_feature) missing.push_back(model.n_cells[f] - 1);
    for (int64_t chunk = 0; chunk < n_chunks(); ++chunk) {
        seat_chunk.resize(made.seat_first[chunk + 1], chunk);
        for (int64_t place = made.chunk_first[chunk]; place < made.chunk_first[chunk + 1]; ++place) leaf_chunk[made.leaf_order[place]] = chunk;
    }
}

std::vector<std::uint16_t> ChunksOfModel::states(Matrix<const int32_t> cells, std::span<const int64_t> seats) const {
    std::vector<std::uint16_t> states(seats.size() * cells.n_columns);
    write_states(cells, 0, cells.n_columns, axes(), seats, {states.data(), int64_t(seats.size()), cells.n_columns});
    return states;
}

std::vector<std::uint16_t> ChunksOfModel::states(Matrix<const int32_t> cells) const {
    std::vector<int64_t> all(n_seats());
    std::iota(all.begin(), all.end(), 0);
    return states(cells, all);
}

std::vector<int64_t> ChunksOfModel::seats_of_chunk(int64_t chunk) const {
    std::vector<int64_t> seats(made.seat_first[chunk + 1] - made.seat_first[chunk]);
    std::iota(seats.begin(), seats.end(), made.seat_first[chunk]);
    return seats;
}

}  // namespace glasswood
