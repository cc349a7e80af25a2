#include "long_paths.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace glasswood {
namespace {

// The players of a leaf that each of some rows meets, and the distinct ones of these masks.
class Met {
  public:
    explicit Met(Matrix<const std::uint16_t> states)
        : states_(states), mask_(states.n_columns), number_(states.n_columns), distinct_(states.n_columns),
          spots_(std::bit_ceil(std::max<std::size_t>(64, 2 * mask_.size())), -1) {}

    // Looks at the leaf at a place of the chunk.
    void find(int64_t place, int64_t chunk, const ChunkedLeaves& chunks, const MetricLeaves& leaves) {
        const int32_t leaf = chunks.leaf_order[place];
        const int bit = int(place - chunks.chunk_first[chunk]);
        std::fill(mask_.begin(), mask_.end(), Word(0));
        for (int slot = 0; slot < leaves.n_players[leaf]; ++slot) {
            const int64_t seat = leaves.seat[leaves.slot_first[leaf] + slot];
            const Word* suits = chunks.words.data() + chunks.state_first[seat];
            const std::uint16_t* state = states_[seat - chunks.seat_first[chunk]];
            for (std::size_t r = 0; r < mask_.size(); ++r) mask_[r] |= (suits[state[r]] >> bit & 1) << slot;
        }
        number_all();
    }

    int64_t n_distinct() const { return n_distinct_; }
    Word distinct(int64_t i) const { return distinct_[i]; }
    std::span<const int64_t> number() const { return number_; }  // of each row's mask among the distinct ones

  private:
    void number_all() {
        n_distinct_ = 0;
        for (std::size_t r = 0; r < mask_.size(); ++r) {
            std::size_t spot = home(mask_[r]);
            while (spots_[spot] >= 0 && distinct_[spots_[spot]] != mask_[r]) spot = next(spot);
            if (spots_[spot] < 0) {
                spots_[spot] = n_distinct_;
                distinct_[n_distinct_++] = mask_[r];
            }
            number_[r] = spots_[spot];
        }
        for (int64_t i = 0; i < n_distinct_; ++i)  // all are -1 again
            for (std::size_t spot = home(distinct_[i]); spots_[spot] >= 0; spot = next(spot)) spots_[spot] = -1;
    }

    std::size_t home(Word mask) const { return (mask * Word(0x9E3779B97F4A7C15)) >> 20 & (spots_.size() - 1); }
    std::size_t next(std::size_t spot) const { return (spot + 1) & (spots_.size() - 1); }

    Matrix<const std::uint16_t> states_;
    std::vector<Word> mask_;
    std::vector<int64_t> number_;
    std::vector<Word> distinct_;
    std::vector<int64_t> spots_;  // a table with open addressing: numbers of distinct masks, or -1
    int64_t n_distinct_ = 0;
};

// Adds what a leaf is worth, to each row's players and each set, to the values of rows.
void add_worth(int32_t leaf, const MetricLeaves& leaves, Matrix<const double> value, std::span<const int64_t> number, const double* worth,
               Cube<double> out) {
    const int64_t n_masks = leaves.n_sets[leaves.n_players[leaf]];
    for (int64_t k = 0; k < value.n_columns; ++k) {
        const int64_t column = leaves.output_place[leaves.output[leaf] + k];
        if (column < 0) continue;
        const double factor = value[leaf][k];
        for (int64_t x = 0; x < n_masks; ++x) {
            double* line = out.line(leaves.set[leaves.set_first[leaf] + x], column);
            for (std::size_t r = 0; r < number.size(); ++r) line[r] += factor * worth[number[r] * n_masks + x];
        }
    }
}

// The distinct players that background rows meet, each with its weight, and as bits: which of them break a player.
class Patterns {
  public:
    Patterns(const Met& there, std::size_t n_rows)
        : there_(there), count_(n_rows), breaks_(MAX_PATH_PLAYERS * (n_rows / 64 + 1)), n_columns_(int64_t(n_rows / 64 + 1)) {}

    void find(int used, std::span<const double> weight) {
        const int64_t n = there_.n_distinct();
        std::fill(count_.begin(), count_.begin() + n, 0.0);
        for (std::size_t r = 0; r < weight.size(); ++r) count_[there_.number()[r]] += weight[r];
        n_words_ = (n + 63) / 64;
        for (int slot = 0; slot < used; ++slot)
            for (int64_t word = 0; word < n_words_; ++word) {
                Word bits = 0;
                for (int64_t j = 64 * word; j < std::min(64 * word + 64, n); ++j)
                    bits |= (~there_.distinct(j) >> slot & 1) << (j - 64 * word);
                breaks_[slot * n_columns_ + word] = bits;
            }
    }

    // Calls `visit` for each pattern that makes a cube with a row that breaks the players `absent`: where row and
    // background both break a player, no mixture of them meets the leaf.
    template <class Visit>
    void each_cube(Word absent, Visit visit) const {
        for (int64_t word = 0; word < n_words_; ++word) {
            Word cubes = ~Word(0);
            for (Word left = absent; left; left &= left - 1) cubes &= ~breaks_[std::countr_zero(left) * n_columns_ + word];
            for (; cubes; cubes &= cubes - 1) {
                const int64_t j = 64 * word + std::countr_zero(cubes);
                if (j >= there_.n_distinct()) break;
                visit(there_.distinct(j), count_[j]);
            }
        }
    }

  private:
    const Met& there_;
    std::vector<double> count_;
    std::vector<Word> breaks_;
    int64_t n_columns_, n_words_ = 0;
};

}  // namespace

void add_long_paths(int64_t chunk, Matrix<const std::uint16_t> here, Matrix<const std::uint16_t> there, std::span<const double> weight,
                    const ChunkedLeaves& chunks, const MetricLeaves& leaves, Matrix<const double> value, const SetMasks& sets,
                    Cube<const double> values, Cube<double> out) {
    Met met(here), met_there(there);
    Patterns patterns(met_there, weight.size());
    std::vector<double> worth;
    const auto value_of = [&](int size, int outside, int n_plus, int n_minus) {
        return values.line(kind_of_set(size, outside), n_plus)[n_minus];
    };
    for (int64_t place = chunks.chunk_first[chunk]; place < chunks.chunk_first[chunk + 1]; ++place) {
        const int32_t leaf = chunks.leaf_order[place];
        const int used = leaves.n_players[leaf];
        const Word everyone = (Word(1) << used) - 1;
        met.find(place, chunk, chunks, leaves);
        met_there.find(place, chunk, chunks, leaves);
        patterns.find(used, weight);
        const Word* masks = sets.mask.data() + sets.first[used];
        const int64_t n_masks = sets.first[used + 1] - sets.first[used];
        const int64_t n_single = n_masks > 0 && std::popcount(masks[0]) == 1 ? used : 0;
        worth.assign(met.n_distinct() * n_masks, 0.0);
        for (int64_t i = 0; i < met.n_distinct(); ++i) {
            const Word q = met.distinct(i), absent = everyone & ~q;
            const int n_minus = std::popcount(absent);
            double* worth_here = worth.data() + i * n_masks;
            double below = 0.0;  // what all players that the row breaks have
            patterns.each_cube(absent, [&](Word pattern, double count) {
                const int n_plus = used - std::popcount(pattern);
                if (n_single > 0) {
                    if (n_minus > 0) below += count * value_of(1, 1, n_plus, n_minus - 1);
                    Word plus = everyone & ~pattern;
                    const double gain = plus ? count * value_of(1, 0, n_plus - 1, n_minus) : 0.0;
                    for (; plus; plus &= plus - 1) worth_here[std::countr_zero(plus)] += gain;
                }
                const Word free = q & pattern;  // not in the cube
                for (int64_t x = n_single; x < n_masks; ++x) {
                    if (masks[x] & free) continue;
                    const int size = std::popcount(masks[x]), outside = std::popcount(masks[x] & absent), inside = size - outside;
                    worth_here[x] += count * value_of(size, outside, n_plus - inside, n_minus - outside);
                }
            });
            for (int64_t x = 0; x < n_single; ++x)
                if (absent >> x & 1) worth_here[x] += below;
        }
        add_worth(leaf, leaves, value, met.number(), worth.data(), out);
    }
}

void add_shared_paths(int64_t chunk, Matrix<const std::uint16_t> states, std::span<const double> share, const ChunkedLeaves& chunks,
                      const MetricLeaves& leaves, Matrix<const double> value, const SetMasks& sets, const Quadrature& nodes,
                      Cube<double> out) {
    Met met(states);
    std::vector<double> worth, factor, product;
    for (int64_t place = chunks.chunk_first[chunk]; place < chunks.chunk_first[chunk + 1]; ++place) {
        const int32_t leaf = chunks.leaf_order[place];
        const int used = leaves.n_players[leaf];
        met.find(place, chunk, chunks, leaves);
        const double* shares = share.data() + leaves.slot_first[leaf];
        const Word* masks = sets.mask.data() + sets.first[used];
        const int64_t n_masks = sets.first[used + 1] - sets.first[used];
        const double* points = nodes.point.data() + nodes.first[used];
        const double* weights = nodes.weight.data() + nodes.first[used];
        const int64_t n_nodes = nodes.first[used + 1] - nodes.first[used];
        worth.assign(met.n_distinct() * n_masks, 0.0);
        factor.resize(used * n_nodes);
        for (int64_t i = 0; i < met.n_distinct(); ++i) {
            const Word q = met.distinct(i);
            bool hopeless = false;
            product.assign(weights, weights + n_nodes);
            for (int slot = 0; slot < used; ++slot) {
                const bool meets = q >> slot & 1;
                hopeless = hopeless || (!meets && shares[slot] == 0);
                for (int64_t node = 0; node < n_nodes; ++node) {
                    double& here = factor[slot * n_nodes + node];
                    here = (meets ? points[node] : 0.0) + shares[slot] * (1.0 - points[node]);
                    product[node] *= here;
                }
            }
            if (hopeless) continue;  // neither the row nor the training rows get past this player, with or without the others
            for (int64_t x = 0; x < n_masks; ++x) {
                double total = 0.0;
                for (int64_t node = 0; node < n_nodes; ++node) {
                    double others = product[node];
                    for (Word left = masks[x]; left; left &= left - 1) others /= factor[std::countr_zero(left) * n_nodes + node];
                    total += others;
                }
                for (Word left = masks[x]; left; left &= left - 1) {
                    const int slot = std::countr_zero(left);
                    total *= (q >> slot & 1 ? 1.0 : 0.0) - shares[slot];
                }
                worth[i * n_masks + x] = total;
            }
        }
        add_worth(leaf, leaves, value, met.number(), worth.data(), out);
    }
}

namespace {

// The probabilities of how many of some players must take part.
class Counts {
  public:
    explicit Counts(int most) : whole_(most + 1), rest_(most + 1), without_last_(most + 1) {}

    void clear() {
        n_ = 0;
        last_ = -1;
        whole_[0] = 1.0;
    }

    // Adds a player that must take part unless the training rows meet it, which a share of them does.
    void add(double share) {
        whole_[n_ + 1] = 0.0;
        for (int c = n_++; c >= 0; --c) {
            whole_[c + 1] += whole_[c] * (1.0 - share);
            whole_[c] *= share;
        }
    }

    // Takes some of the players away from all that were added; the last one of a set first, which sets in a row share.
    void leave_out(Word players, const double* shares) {
        n_rest_ = n_;
        if (players == 0) {
            std::copy(whole_.begin(), whole_.begin() + n_ + 1, rest_.begin());
            return;
        }
        const int last = 63 - std::countl_zero(players);
        if (last != last_) {
            std::copy(whole_.begin(), whole_.begin() + n_ + 1, rest_.begin());
            take_away(shares[last]);
            std::copy(rest_.begin(), rest_.begin() + n_, without_last_.begin());
            last_ = last;
        } else {
            std::copy(without_last_.begin(), without_last_.begin() + n_, rest_.begin());
            --n_rest_;
        }
        for (Word left = players & ~(Word(1) << last); left; left &= left - 1) take_away(shares[std::countr_zero(left)]);
    }

    // The mean over the players that are left of values[c][b].
    double mean(Cube<const double> values, int kind, int b) const {
        double total = 0.0;
        for (int c = 0; c <= n_rest_; ++c) total += rest_[c] * values.line(kind, c)[b];
        return total;
    }

  private:
    void take_away(double share) {
        const double missed = 1.0 - share;
        double carried = 0.0;
        if (share >= 0.5) {  // from the lowest coefficient up: rest[c] = (whole[c] - missed * rest[c - 1]) / share
            for (int c = 0; c < n_rest_; ++c) rest_[c] = carried = (rest_[c] - missed * carried) / share;
        } else {  // from the highest one down: rest[c - 1] = (whole[c] - share * rest[c]) / missed
            for (int c = n_rest_; c > 0; --c) {
                const double here = rest_[c];
                rest_[c] = carried;
                carried = (here - share * carried) / missed;
            }
            rest_[0] = carried;
        }
        --n_rest_;
    }

    std::vector<double> whole_, rest_, without_last_;
    int n_ = 0, n_rest_ = 0, last_ = -1;
};

// What a set is worth that consists of some players that a row meets, and of some number of others.
struct Known {
    Word players = ~Word(0);
    int outside = 0;
    double worth = 0.0;
};
constexpr std::size_t N_KNOWN = 512;  // of them are remembered

}  // namespace

void add_weighed_paths(int64_t chunk, Matrix<const std::uint16_t> states, std::span<const double> share, const ChunkedLeaves& chunks,
                       const MetricLeaves& leaves, Matrix<const double> value, const SetMasks& sets, Cube<const double> values,
                       Cube<double> out) {
    Met met(states);
    Counts counts(MAX_PATH_PLAYERS);
    std::array<Known, N_KNOWN> known;
    std::vector<double> worth;
    for (int64_t place = chunks.chunk_first[chunk]; place < chunks.chunk_first[chunk + 1]; ++place) {
        const int32_t leaf = chunks.leaf_order[place];
        const int used = leaves.n_players[leaf];
        met.find(place, chunk, chunks, leaves);
        const double* shares = share.data() + leaves.slot_first[leaf];
        const Word* masks = sets.mask.data() + sets.first[used];
        const int64_t n_masks = sets.first[used + 1] - sets.first[used];
        worth.assign(met.n_distinct() * n_masks, 0.0);
        for (int64_t i = 0; i < met.n_distinct(); ++i) {
            const Word q = met.distinct(i);
            const int n_minus = used - std::popcount(q);
            double weight = 1.0;  // of the training rows that meet all players that the row breaks
            counts.clear();
            for (int slot = 0; slot < used; ++slot)
                if (q >> slot & 1)
                    counts.add(shares[slot]);
                else
                    weight *= shares[slot];
            if (weight == 0.0) continue;
            known.fill(Known{});
            for (int64_t x = 0; x < n_masks; ++x) {
                const Word inside = masks[x] & q;
                const int size = std::popcount(masks[x]), outside = std::popcount(masks[x] & ~q);
                Known& spot = known[(inside * Word(0x9E3779B97F4A7C15) >> 40) % N_KNOWN ^ std::size_t(outside)];
                if (spot.players != inside || spot.outside != outside) {
                    spot = Known{inside, outside, weight};
                    for (Word left = inside; left; left &= left - 1) spot.worth *= 1.0 - shares[std::countr_zero(left)];
                    if (spot.worth != 0.0) {
                        counts.leave_out(inside, shares);
                        spot.worth *= counts.mean(values, kind_of_set(size, outside), n_minus - outside);
                    }
                }
                worth[i * n_masks + x] = spot.worth;
            }
        }
        add_worth(leaf, leaves, value, met.number(), worth.data(), out);
    }
}

}  // namespace glasswood
