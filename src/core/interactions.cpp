#include "interactions.h"

#include <algorithm>
#include <bit>

#include "vectors.h"

namespace glasswood {
namespace {

struct PathPlayer {
    int32_t player, slot;
};

// Writes the wanted players of a leaf in increasing order, each with its slot.
void sort_players(int64_t leaf, const PlayersOfLeaves& players, std::vector<PathPlayer>& out) {
    out.clear();
    for (int64_t box = players.first[leaf]; box < players.first[leaf + 1]; ++box) {
        const int32_t player = players.player[players.feature[box]];
        if (!players.wanted[player]) continue;
        const auto before = [](const PathPlayer& one, int32_t other) { return one.player < other; };
        const auto at = std::lower_bound(out.begin(), out.end(), player, before);
        if (at == out.end() || at->player != player) out.insert(at, {player, players.slot[box]});
    }
}

int64_t most_boxes(const PlayersOfLeaves& players) {
    int64_t most = 0;
    for (std::size_t leaf = 0; leaf + 1 < players.first.size(); ++leaf)
        most = std::max(most, players.first[leaf + 1] - players.first[leaf]);
    return most;
}

// The position of the last player of each set.
std::vector<int32_t> last_positions(const WantedSets& sets) {
    std::vector<int32_t> last(sets.rest.size());
    for (std::size_t position = 0; position + 1 < sets.size.size(); ++position)
        std::fill(last.begin() + sets.size[position], last.begin() + sets.size[position + 1], int32_t(position));
    return last;
}

// The distinct sets: a hash table with open addressing, from (set without its last player, player) to the set.
class Sets {
  public:
    explicit Sets(Terms& out) : out_(out), place_(4096, -1) {
        out.set_rest = out.set_last = out.set_size = {0};
    }

    int32_t n() const { return int32_t(out_.set_rest.size()); }

    int32_t with(int32_t rest, int32_t player) {
        std::size_t at = first_place(rest, player);
        while (place_[at] >= 0 && (out_.set_rest[place_[at]] != rest || out_.set_last[place_[at]] != player))
            at = (at + 1) & (place_.size() - 1);
        if (place_[at] < 0) {
            place_[at] = n();
            out_.set_rest.push_back(rest);
            out_.set_last.push_back(player);
            out_.set_size.push_back(out_.set_size[rest] + 1);
            const int32_t found = place_[at];
            if (2 * out_.set_rest.size() > place_.size()) grow();
            return found;
        }
        return place_[at];
    }

  private:
    std::size_t first_place(int32_t rest, int32_t player) const {
        const std::uint64_t mixed = (std::uint64_t(rest) * 0x9E3779B1u + std::uint64_t(player)) * 0x85EBCA6Bu;
        return std::size_t(mixed >> 15) & (place_.size() - 1);
    }

    void grow() {
        place_.assign(2 * place_.size(), -1);
        for (int32_t set = 1; set < n(); ++set) {
            std::size_t at = first_place(out_.set_rest[set], out_.set_last[set]);
            while (place_[at] >= 0) at = (at + 1) & (place_.size() - 1);
            place_[at] = set;
        }
    }

    Terms& out_;
    std::vector<int32_t> place_;
};

int32_t add_term(Terms& out, int32_t set, int32_t rest, int32_t seat, int64_t size) {
    out.set.push_back(set);
    out.rest.push_back(rest);
    out.seat.push_back(seat);
    out.size.push_back(size);
    return int32_t(out.set.size()) - 1;
}

// What a leaf adds to the table of a set, for every combination of states of the set's players.
class LeafTable {
  public:
    LeafTable(const ChunkedLeaves& chunks, Matrix<const int32_t> plus, const LeafCounts& leaves)
        : chunks_(chunks), plus_(plus), leaves_(leaves) {}

    // Of a set with the players `slots` of the leaf's path, at `seats` of the chunk; both in the order of players.
    void add(int64_t leaf, int bit, std::span<const int32_t> slots, std::span<const int32_t> seats, double* table) {
        sign_counts(leaf, slots);
        const int64_t n_prefixes = meet(bit, seats.first(seats.size() - 1));
        const int32_t seat = seats.back();
        const int64_t n_states = chunks_.n_states(seat);
        const Word* words = chunks_.words.data() + chunks_.state_first[seat];
        const std::size_t top = std::size_t(1) << (seats.size() - 1);
        for (int64_t v = 0; v < leaves_.value.n_columns; ++v) {
            const double w = leaves_.value[leaf][v];
            for (int64_t e = 0; e < n_prefixes; ++e, table += n_states) {
                const double broken = w * signed_[met_[e]], kept = w * signed_[met_[e] | top];
                for (int64_t s = 0; s < n_states; ++s) table[s] += words[s] >> bit & 1 ? kept : broken;
            }
        }
    }

  private:
    // For each subset Q of the players, (-1)^|X - Q| N(X and Q).
    void sign_counts(int64_t leaf, std::span<const int32_t> slots) {
        const std::size_t n = std::size_t(1) << slots.size();
        if (n > index_.size()) {
            index_.assign(n, 0);
            signed_.assign(n, 0.0);
        }
        const double* exact = leaves_.exact.data() + leaves_.offset[leaf];
        const double sign = slots.size() % 2 == 0 ? 1.0 : -1.0;
        for (std::size_t m = 0; m < slots.size(); ++m)
            for (std::size_t b = 0; b < std::size_t(1) << m; ++b) index_[b | std::size_t(1) << m] = plus_[slots[m]][index_[b]];
        for (std::size_t b = 0; b < n; ++b) signed_[b] = (std::popcount(b) % 2 == 0 ? sign : -sign) * exact[index_[b]];
    }

    // The players that each combination of states of some seats meets, one bit each; returns the number of combinations.
    int64_t meet(int bit, std::span<const int32_t> seats) {
        met_.assign(1, 0);
        for (std::size_t m = 0; m < seats.size(); ++m) {
            const int64_t n_states = chunks_.n_states(seats[m]);
            const Word* words = chunks_.words.data() + chunks_.state_first[seats[m]];
            more_.resize(met_.size() * n_states);
            for (std::size_t e = 0; e < met_.size(); ++e)
                for (int64_t s = 0; s < n_states; ++s) more_[e * n_states + s] = met_[e] | std::size_t(words[s] >> bit & 1) << m;
            std::swap(met_, more_);
        }
        return int64_t(met_.size());
    }

    const ChunkedLeaves& chunks_;
    Matrix<const int32_t> plus_;
    const LeafCounts& leaves_;
    std::vector<int32_t> index_;
    std::vector<double> signed_;
    std::vector<std::size_t> met_, more_;
};

}  // namespace

bool find_terms(const ChunkedLeaves& chunks, const PlayersOfLeaves& players, const WantedSets& sets, Terms& out) {
    const std::vector<int32_t> last = last_positions(sets);
    std::vector<int32_t> number(sets.rest.size(), 0);  // of the set of this path with some number, among the distinct ones
    std::vector<int32_t> seen_in(1, 0), term_of(1, 0); // of each distinct set: the last chunk that had it, and its term there
    std::vector<int32_t> seat_of(players.wanted.size(), 0);
    std::vector<PathPlayer> path;
    path.reserve(most_boxes(players));
    Sets distinct(out);
    for (int64_t chunk = 0; chunk < chunks.n_chunks(); ++chunk) {
        out.first.push_back(int64_t(out.set.size()));
        for (int64_t seat = chunks.seat_first[chunk]; seat < chunks.seat_first[chunk + 1]; ++seat)
            seat_of[chunks.seat_player[seat]] = int32_t(seat);
        seen_in[0] = int32_t(chunk) + 1;
        term_of[0] = add_term(out, 0, -1, -1, 1);
        for (int64_t place = chunks.chunk_first[chunk]; place < chunks.chunk_first[chunk + 1]; ++place) {
            sort_players(chunks.leaf_order[place], players, path);
            if (path.size() >= sets.size.size()) return false;
            out.pair_first.push_back(int64_t(out.pair_term.size()));
            out.pair_term.push_back(term_of[0]);
            for (int64_t i = 1; i < sets.size[path.size()]; ++i) {
                const int32_t before = number[sets.rest[i]], player = path[last[i]].player;
                const int32_t found = number[i] = distinct.with(before, player);
                if (std::size_t(found) >= seen_in.size()) {
                    seen_in.push_back(0);
                    term_of.push_back(0);
                }
                if (seen_in[found] != chunk + 1) {
                    const int32_t rest = term_of[before], seat = seat_of[player];
                    seen_in[found] = int32_t(chunk) + 1;
                    term_of[found] = add_term(out, found, rest, seat, out.size[rest] * chunks.n_states(seat));
                }
                out.pair_term.push_back(term_of[found]);
            }
        }
    }
    out.first.push_back(int64_t(out.set.size()));
    out.pair_first.push_back(int64_t(out.pair_term.size()));
    return true;
}

bool fill_tables(int64_t first, int64_t last, const ChunkedLeaves& chunks, const PlayersOfLeaves& players, const WantedSets& sets,
                 Matrix<const int32_t> plus, const TermTables& terms, const LeafCounts& leaves, std::span<double> table) {
    const std::vector<int32_t> last_of = last_positions(sets);
    LeafTable of_leaf(chunks, plus, leaves);
    std::vector<PathPlayer> path;
    std::vector<int32_t> slots, seats;
    for (int64_t chunk = first; chunk < last; ++chunk)
        for (int64_t place = chunks.chunk_first[chunk]; place < chunks.chunk_first[chunk + 1]; ++place) {
            const int32_t leaf = chunks.leaf_order[place];
            const int bit = int(place - chunks.chunk_first[chunk]);
            sort_players(leaf, players, path);
            if (path.size() >= sets.size.size()) return false;
            if (terms.pair_first[place + 1] - terms.pair_first[place] != sets.size[path.size()]) return false;
            for (int64_t i = 1; i < sets.size[path.size()]; ++i) {
                const int32_t term = terms.pair_term[terms.pair_first[place] + i];
                slots.clear();
                seats.clear();
                for (int64_t j = i; j > 0; j = sets.rest[j]) slots.push_back(path[last_of[j]].slot);
                for (int32_t at = term; terms.seat[at] >= 0; at = terms.rest[at]) seats.push_back(terms.seat[at]);
                if (slots.size() != seats.size()) return false;
                std::reverse(slots.begin(), slots.end());  // from the first player to the last
                std::reverse(seats.begin(), seats.end());
                of_leaf.add(leaf, bit, slots, seats, table.data() + terms.table_first[term]);
            }
        }
    return true;
}

void look_up(Matrix<const std::uint16_t> states, int64_t n_rows, const Lookups& lookups, int64_t first, Matrix<double> out,
             Matrix<double> sums) {
    const int64_t width = states.n_columns;
    std::vector<double> total(width);
    std::vector<const std::uint16_t*> lines;
    std::vector<std::uint16_t> factors;
    double parts[2 * PARTS];
    for (const int64_t group : lookups.group_order) {
        std::fill(total.begin(), total.end(), 0.0);
        for (int64_t entry = lookups.group_first[group]; entry < lookups.group_first[group + 1]; ++entry) {
            lines.clear();
            factors.clear();
            int64_t n_entries = 1;
            for (int32_t term = lookups.entry_term[entry]; lookups.seat[term] >= 0; term = lookups.rest[term]) {
                const int32_t seat = lookups.seat[term];
                lines.push_back(states[seat]);
                factors.push_back(std::uint16_t(n_entries));
                n_entries *= lookups.state_first[seat + 1] - lookups.state_first[seat];
            }
            add_entries(total.data(), width, lookups.table.data() + lookups.entry_table[entry], n_entries, lines.data(), factors.data(),
                        int64_t(lines.size()));
        }
        if (out.n_rows > 0) std::copy(total.begin(), total.begin() + n_rows, out[group] + first);
        if (sums.n_columns > 0) {
            std::fill(total.begin() + n_rows, total.end(), 0.0);
            sum_moments(total.data(), width, parts);
            for (int m = 0; m < 2; ++m)
                for (int k = 0; k < PARTS; ++k) sums[m][group] += parts[PARTS * m + k];
        }
    }
}

}  // namespace glasswood
