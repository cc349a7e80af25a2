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

int64_t max_boxes(const PlayersOfLeaves& players) {
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

// The players of one path after the other, as a block of sets needs them.
class PathOfBlock {
  public:
    PathOfBlock(const PlayersOfLeaves& players, const WantedSets& sets, const SetBlock& block)
        : players_(players), sets_(sets), block_(block), last_(last_positions(sets)), first_(sets.rest.size()) {
        for (std::size_t i = 1; i < first_.size(); ++i) first_[i] = sets.rest[i] == 0 ? last_[i] : first_[sets.rest[i]];
        path_.reserve(max_boxes(players));
    }

    // Finds the players of a leaf's path; returns whether it has sets of the block.
    bool find(int64_t leaf) {
        sort_players(leaf, players_, path_);
        prefix.clear();
        tail.clear();
        std::size_t at = 0;
        for (const int32_t player : block_.prefix) {
            while (at < path_.size() && path_[at].player < player) ++at;
            if (at == path_.size() || path_[at].player != player) return false;
            prefix.push_back(path_[at++]);
        }
        while (at < path_.size() && path_[at].player < block_.first) ++at;
        tail.assign(path_.begin() + at, path_.end());
        n_first_ = 0;
        while (n_first_ < tail.size() && tail[n_first_].player < block_.last) ++n_first_;
        return block_.own || n_first_ > 0;
    }

    // Whether there are tables for so many players.
    bool fits() const { return tail.size() < sets_.size.size(); }

    // Behind the last of the sets of the tail.
    int64_t n_sets() const { return n_first_ > 0 ? sets_.size[tail.size()] : 1; }

    // Whether a set of the tail belongs to the block.
    bool has(int64_t set) const { return set == 0 ? block_.own : std::size_t(first_[set]) < n_first_; }

    const PathPlayer& last_of(int64_t set) const { return tail[last_[set]]; }

    std::vector<PathPlayer> prefix, tail;

  private:
    const PlayersOfLeaves& players_;
    const WantedSets& sets_;
    const SetBlock& block_;
    std::vector<int32_t> last_, first_;  // of each set of the tail: the positions of its last and its first player
    std::vector<PathPlayer> path_;
    std::size_t n_first_ = 0;            // how many of the tail can be the first ones
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

constexpr int64_t MAX_SHORT_ENTRIES = 65536;  // that 16 bits can number

// The same as `add_entries` of tables with more entries.
void add_many_entries(double* total, int64_t n_rows, const double* table, const std::uint16_t* const* lines,
                      std::span<const int32_t> seats, std::span<const int64_t> state_first) {
    for (int64_t row = 0; row < n_rows; ++row) {
        int64_t place = 0, factor = 1;
        for (std::size_t k = 0; k < seats.size(); ++k) {
            place += lines[k][row] * factor;
            factor *= state_first[seats[k] + 1] - state_first[seats[k]];
        }
        total[row] += table[place];
    }
}

}  // namespace

Found find_terms(int64_t first, int64_t last, const ChunkedLeaves& chunks, const PlayersOfLeaves& players, const WantedSets& sets,
                 const SetBlock& block, int64_t max_entries, Terms& out) {
    PathOfBlock path(players, sets, block);
    std::vector<int32_t> number(sets.rest.size(), 0);  // of the set of this path with some number, among the distinct ones
    std::vector<int32_t> seen_in(1, 0), term_of(1, 0); // of each distinct set: the last chunk that had it, and its term there
    std::vector<int32_t> seat_of(players.wanted.size(), 0);
    Sets distinct(out);
    for (int64_t chunk = first; chunk < last; ++chunk) {
        out.first.push_back(int64_t(out.set.size()));
        for (int64_t seat = chunks.seat_first[chunk]; seat < chunks.seat_first[chunk + 1]; ++seat)
            seat_of[chunks.seat_player[seat]] = int32_t(seat);
        for (int64_t place = chunks.chunk_first[chunk]; place < chunks.chunk_first[chunk + 1]; ++place) {
            out.pair_first.push_back(int64_t(out.pair_term.size()));
            if (!path.find(chunks.leaf_order[place])) continue;
            if (!path.fits()) return Found::TOO_MANY_PLAYERS;
            if (seen_in[0] != chunk + 1) {
                seen_in[0] = int32_t(chunk) + 1;
                term_of[0] = add_term(out, path.prefix.empty() ? 0 : -1, -1, -1, 1);
                for (std::size_t i = 0; i < path.prefix.size(); ++i) {
                    const int32_t rest = term_of[0], seat = seat_of[path.prefix[i].player];
                    term_of[0] = add_term(out, i + 1 < path.prefix.size() ? -1 : 0, rest, seat, out.size[rest] * chunks.n_states(seat));
                }
                if (block.own && !path.prefix.empty()) out.n_entries += out.size[term_of[0]];
            }
            if (path.has(0)) out.pair_term.push_back(term_of[0]);
            for (int64_t i = 1; i < path.n_sets(); ++i) {
                if (!path.has(i)) continue;
                const int32_t before = number[sets.rest[i]], player = path.last_of(i).player;
                const int32_t found = number[i] = distinct.with(before, player);
                if (std::size_t(found) >= seen_in.size()) {
                    seen_in.push_back(0);
                    term_of.push_back(0);
                }
                if (seen_in[found] != chunk + 1) {
                    const int32_t rest = term_of[before], seat = seat_of[player];
                    seen_in[found] = int32_t(chunk) + 1;
                    term_of[found] = add_term(out, found, rest, seat, out.size[rest] * chunks.n_states(seat));
                    out.n_entries += out.size.back();
                }
                out.pair_term.push_back(term_of[found]);
            }
            if (out.n_entries > max_entries) return Found::TOO_MANY_ENTRIES;
        }
    }
    out.first.push_back(int64_t(out.set.size()));
    out.pair_first.push_back(int64_t(out.pair_term.size()));
    return Found::ALL;
}

bool fill_tables(int64_t first, int64_t last, const ChunkedLeaves& chunks, const PlayersOfLeaves& players, const WantedSets& sets,
                 const SetBlock& block, Matrix<const int32_t> plus, const TermTables& terms, const LeafCounts& leaves,
                 std::span<double> table) {
    LeafTable of_leaf(chunks, plus, leaves);
    PathOfBlock path(players, sets, block);
    std::vector<int32_t> slots, seats;
    for (int64_t chunk = first; chunk < last; ++chunk)
        for (int64_t place = chunks.chunk_first[chunk]; place < chunks.chunk_first[chunk + 1]; ++place) {
            const int32_t leaf = chunks.leaf_order[place];
            const int bit = int(place - chunks.chunk_first[chunk]);
            if (!path.find(leaf)) continue;
            if (!path.fits()) return false;
            int64_t pair = terms.pair_first[place];
            for (int64_t i = 0; i < path.n_sets(); ++i) {
                if (!path.has(i)) continue;
                if (pair == terms.pair_first[place + 1]) return false;
                const int32_t term = terms.pair_term[pair++];
                slots.clear();
                seats.clear();
                for (int64_t j = i; j > 0; j = sets.rest[j]) slots.push_back(path.last_of(j).slot);
                for (std::size_t j = path.prefix.size(); j > 0; --j) slots.push_back(path.prefix[j - 1].slot);
                for (int32_t at = term; terms.seat[at] >= 0; at = terms.rest[at]) seats.push_back(terms.seat[at]);
                if (slots.size() != seats.size()) return false;
                if (slots.empty()) continue;  // the value of the empty set is the mean
                std::reverse(slots.begin(), slots.end());  // from the first player to the last
                std::reverse(seats.begin(), seats.end());
                of_leaf.add(leaf, bit, slots, seats, table.data() + terms.table_first[term]);
            }
            if (pair != terms.pair_first[place + 1]) return false;
        }
    return true;
}

SeatsOfEntries seats_of_entries(std::span<const int32_t> entry_term, std::span<const int32_t> rest, std::span<const int32_t> seat,
                                std::span<const int64_t> state_first) {
    SeatsOfEntries found;
    for (int32_t term : entry_term) {
        int64_t size = 1;
        for (; seat[term] >= 0; term = rest[term]) {
            found.seat.push_back(seat[term]);
            found.factor.push_back(std::uint16_t(size));
            size *= state_first[seat[term] + 1] - state_first[seat[term]];
        }
        found.first.push_back(int64_t(found.seat.size()));
        found.table_size.push_back(size);
    }
    return found;
}

void look_up(Matrix<const std::uint16_t> states, int64_t n_rows, int64_t sum_width, const Lookups& lookups, int64_t first,
             Matrix<double> out, Matrix<double> sums) {
    const int64_t width = states.n_columns;
    const SeatsOfEntries& entries = *lookups.seats;
    std::vector<double> total(width);
    const std::uint16_t* lines[MAX_SEATS];
    double parts[3 * PARTS];
    for (const int64_t group : lookups.group_order) {
        std::fill(total.begin(), total.end(), 0.0);
        for (int64_t entry = lookups.group_first[group]; entry < lookups.group_first[group + 1]; ++entry) {
            const int64_t begin = entries.first[entry], n_seats = entries.first[entry + 1] - begin, size = entries.table_size[entry];
            for (int64_t k = 0; k < n_seats; ++k) lines[k] = states[entries.seat[begin + k]];
            const double* table = lookups.table.data() + lookups.entry_table[entry];
            if (size > MAX_SHORT_ENTRIES)
                add_many_entries(total.data(), width, table, lines, std::span(entries.seat).subspan(begin, n_seats), lookups.state_first);
            else
                add_entries(total.data(), width, table, size, lines, entries.factor.data() + begin, n_seats);
        }
        if (out.n_rows > 0) std::copy(total.begin(), total.begin() + n_rows, out[group] + first);
        if (sums.n_columns > 0) {
            std::fill(total.begin() + n_rows, total.end(), 0.0);
            for (int64_t row = 0; row < width; row += sum_width) {
                sum_moments(total.data() + row, std::min(sum_width, width - row), parts);
                for (int m = 0; m < 3; ++m)
                    for (int k = 0; k < PARTS; ++k) sums[m][group] += parts[PARTS * m + k];
            }
        }
    }
}

}  // namespace glasswood
