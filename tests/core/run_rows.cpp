#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include "interactions.h"
#include "kernels.h"
#include "leaf_tables.h"
#include "long_paths.h"
#include "losses.h"
#include "responses.h"
#include "walks.h"

namespace glasswood {
namespace {

constexpr int64_t N_ROWS = 90, WIDTH = 96;  // kernels take a multiple of 32 rows
constexpr int64_t N_BACKGROUND = 300;

// Calls work(first, last) for parts of `n`, in threads that write to the same arrays, as Python does.
template <class Work>
void in_parts(int64_t n, Work work) {
    constexpr int N_PARTS = 4;
    std::vector<std::thread> threads;
    for (int part = 0; part < N_PARTS; ++part) threads.emplace_back(work, n * part / N_PARTS, n * (part + 1) / N_PARTS);
    for (std::thread& thread : threads) thread.join();
}

// The integral of t^a (1 - t)^b: Shapley's moment of sets of any size.
double moment(int a, int b) {
    double product = 1;
    for (int k = 1; k <= b; ++k) product = product * k / (a + k);
    return product / (a + b + 1);
}

// The values of sets of up to two players on cubes of up to n_counts - 1, under Shapley's index.
std::vector<double> shapley_values(int64_t n_counts) {
    std::vector<double> values;
    for (int size = 0; size <= 2; ++size)
        for (int outside = 0; outside <= size; ++outside)
            for (int64_t a = 0; a < n_counts; ++a)
                for (int64_t b = 0; b < n_counts; ++b) values.push_back(outside % 2 == 0 ? moment(int(a), int(b)) : -moment(int(a), int(b)));
    return values;
}

// Sets of one and two players of each path, under Shapley's index.
struct ShapleySets {
    ShapleySets(const Model& model, const ChunksOfModel& chunks) : model(model) {
        for (int used = 0; used <= N_PLAYERS; ++used) {
            for (int size = 1; size <= 2; ++size)
                for (Word mask = 0; mask < Word(1) << used; ++mask)
                    if (std::popcount(mask) == size) masks.push_back(mask);
            first.push_back(int64_t(masks.size()));
            n_sets.push_back(first[used + 1] - first[used]);
        }
        for (int64_t leaf = 0; leaf < model.n_leaves(); ++leaf) {
            const int32_t* players = model.slot_player.data() + model.slot_first[leaf];
            for (int slot = 0; slot < model.n_players[leaf]; ++slot) {
                int64_t place = chunks.made.seat_first[chunks.leaf_chunk[leaf]];
                while (chunks.made.seat_player[place] != players[slot]) ++place;
                seat.push_back(place);
            }
            for (int64_t i = first[model.n_players[leaf]]; i < first[model.n_players[leaf] + 1]; ++i) {
                const int a = players[std::countr_zero(masks[i])], b = players[std::bit_width(masks[i]) - 1];
                set.push_back(a == b ? a : N_PLAYERS * (1 + std::min(a, b)) + std::max(a, b));
            }
            set_first.push_back(int64_t(set.size()));
        }
    }

    const Model& model;
    std::vector<Word> masks;
    std::vector<int64_t> first{0}, n_sets, seat, set_first{0}, set, output = std::vector<int64_t>(model.n_leaves(), 0), output_place{0, 1};

    static constexpr int64_t N_NUMBERS = N_PLAYERS * (1 + N_PLAYERS);

    MetricLeaves leaves() const {
        return {model.n_players, model.slot_first, seat, output, output_place, n_sets, set_first, set, N_OUTPUTS, N_OUTPUTS, N_NUMBERS};
    }
};

// Whether the values of single players, times `unit`, add up to the score of each row less the mean of the first n rows.
bool add_up(const Inputs& in, const std::vector<double>& values, double unit, int64_t n) {
    const std::vector<double> scores = scores_of(in);
    bool holds = true;
    for (int output = 0; output < N_OUTPUTS; ++output) {
        double mean = 0;
        for (int64_t row = 0; row < n; ++row) mean += scores[row * N_OUTPUTS + output] / double(n);
        for (int64_t row = 0; row < N_ROWS; ++row) {
            double total = mean;
            for (int player = 0; player < N_PLAYERS; ++player) total += values[(player * N_OUTPUTS + output) * WIDTH + row] * unit;
            holds = holds && std::fabs(total - scores[row * N_OUTPUTS + output]) < 1e-9;
        }
    }
    return holds;
}

// See glasswood.questions.rows._arithmetic_cubes.Template.
struct ShapleyTemplates {
    explicit ShapleyTemplates(const ShapleySets& sets) {
        for (int used = 0; used <= N_PLAYERS; ++used) {
            const Word end = Word(1) << used;
            for (int64_t i = sets.first[used]; i < sets.first[used + 1]; ++i)
                for (Word met = 0; met < end; ++met)
                    for (Word lost = 0; lost <= met; ++lost) {
                        const Word mask = sets.masks[i], absent = (end - 1) & ~met;
                        if ((lost & absent) || (mask & met & ~lost)) continue;
                        const int out = std::popcount(mask & absent);
                        const int n_plus = std::popcount(lost) - (std::popcount(mask) - out), n_minus = std::popcount(absent) - out;
                        target.push_back(int32_t(Word(i - sets.first[used]) << used | met));
                        broken.push_back(int32_t(lost));
                        value.push_back(out % 2 == 0 ? moment(n_plus, n_minus) : -moment(n_plus, n_minus));
                    }
            first.push_back(int64_t(value.size()));
        }
    }

    std::vector<int64_t> first{0};
    std::vector<int32_t> target, broken;
    std::vector<double> value;
};

void run_leaf_tables(const Inputs& in, const ChunksOfModel& chunks, const ShapleySets& sets, const std::vector<int32_t>& cells,
                     Digests& out) {
    const Model& m = in.model;
    const ShapleyTemplates made(sets);
    const Templates templates{sets.n_sets, made.first, made.target, made.broken, made.value};
    std::vector<int64_t> table_first(m.n_leaves()), partner(m.n_leaves(), -1), partner_bit(m.n_leaves(), 0);
    for (int64_t node = 0; node < m.n_nodes(); ++node) {
        const int32_t left = m.left[node], right = m.right[node];
        if (left >= 0 || right >= 0 || !m.is_new[node] || chunks.leaf_chunk[~left] != chunks.leaf_chunk[~right]) continue;
        partner[~left] = ~right;
        partner_bit[~left] = int64_t(1) << m.slot[node];
        table_first[~right] = -1;
    }
    int64_t size = 0;
    for (int64_t leaf = 0; leaf < m.n_leaves(); ++leaf)
        if (table_first[leaf] >= 0) {
            table_first[leaf] = size;
            size += (sets.n_sets[m.n_players[leaf]] << m.n_players[leaf]) * N_OUTPUTS;
        }
    std::vector<double> table(size + BEHIND);
    const std::vector<double> exact = exact_counts_of(in);
    const std::vector<int64_t> offset = m.leaf_offset(in.all);
    const TabledLeaves tabled{m.n_players, m.value_of(), table_first, partner, partner_bit};
    in_parts(m.n_leaves(), [&](int64_t from, int64_t to) { fill_leaf_tables(from, to, tabled, templates, offset, exact, table); });
    out.add("leaf tables", table);
    const std::vector<std::uint16_t> states = chunks.states(matrix(cells, WIDTH));
    std::vector<double> values(ShapleySets::N_NUMBERS * N_OUTPUTS * WIDTH);
    add_leaf_tables(matrix(states, WIDTH), chunks.leaves(), sets.leaves(), table_first, table, matrix(values, WIDTH));
    out.add("Shapley values", values);
    out.check(add_up(in, values, 1.0 / double(in.rows.n_rows), in.rows.n_rows), "Shapley values add up to scores");
}

void run_long_paths(const Inputs& in, const ChunksOfModel& chunks, const ShapleySets& sets, const std::vector<int32_t>& cells,
                    Digests& out) {
    const Model& m = in.model;
    const SetMasks masks{sets.first, sets.masks};
    constexpr int N_KINDS = 6, N_COUNTS = N_PLAYERS + 1;
    const std::vector<double> on_cubes = shapley_values(N_COUNTS);
    const Cube<const double> values{on_cubes.data(), N_KINDS, N_COUNTS, N_COUNTS};
    std::vector<double> shares(m.slot_first.back()), products(m.leaf_offset(in.all).back());
    player_shares(m.parents(), m.cover, m.leaf_cover, m.slot, m.slot_first, shares);
    out.add("shares of players", shares);
    cover_shares(m.slot_first, shares, in.all.size, in.all.subsets().has, m.leaf_offset(in.all), products);
    out.add("shares of sets", products);
    // Gauss and Legendre's four points, exact up to the seventh power: eight players, one of them in the set.
    std::vector<double> points, weights;
    std::vector<int64_t> point_first{0};
    for (int used = 0; used <= N_PLAYERS; ++used) {
        for (const double x : {0.06943184420297371, 0.33000947820757187, 0.6699905217924281, 0.9305681557970262}) points.push_back(x);
        for (const double w : {0.17392742256872692, 0.32607257743127305, 0.32607257743127305, 0.17392742256872692}) weights.push_back(w);
        point_first.push_back(int64_t(points.size()));
    }
    const std::vector<int32_t> there_cells = cells_of(in, N_BACKGROUND);
    const std::vector<double> weight(N_BACKGROUND, 1.0 / N_BACKGROUND);
    std::vector<double> with_rows(ShapleySets::N_NUMBERS * N_OUTPUTS * WIDTH), with_shares(with_rows.size()), weighed(with_rows.size());
    const auto cube = [](std::vector<double>& values) { return Cube<double>{values.data(), ShapleySets::N_NUMBERS, N_OUTPUTS, WIDTH}; };
    for (int64_t chunk = 0; chunk < chunks.n_chunks(); ++chunk) {
        const std::vector<int64_t> seats = chunks.seats_of_chunk(chunk);
        const std::vector<std::uint16_t> here = chunks.states(matrix(cells, WIDTH), seats);
        const std::vector<std::uint16_t> there = chunks.states(matrix(there_cells, N_BACKGROUND), seats);
        add_long_paths(chunk, matrix(here, WIDTH), matrix(there, N_BACKGROUND), weight, chunks.leaves(), sets.leaves(), m.value_of(), masks,
                       values, cube(with_rows));
        add_shared_paths(chunk, matrix(here, WIDTH), shares, chunks.leaves(), sets.leaves(), m.value_of(), masks,
                         Quadrature{point_first, points, weights}, cube(with_shares));
        add_weighed_paths(chunk, matrix(here, WIDTH), shares, chunks.leaves(), sets.leaves(), m.value_of(), masks, values, cube(weighed));
    }
    out.add("long paths with background rows", with_rows);
    out.check(add_up(in, with_rows, 1.0, N_BACKGROUND), "Shapley values of long paths add up to scores");
    out.add("long paths with shares", with_shares);
    double apart = 0.0;
    for (std::size_t i = 0; i < weighed.size(); ++i) apart = std::max(apart, std::abs(weighed[i] - with_shares[i]));
    out.check(apart < 1e-9, "both ways to take shares agree");
    out.add("long paths weighed by shares", weighed);
}

// Rows as ranks, as glasswood.questions.rows._arithmetic_walks.Ground has them.
std::vector<int32_t> ranks_of(const Model& m, std::vector<int32_t> cells) {
    const int64_t n_rows = int64_t(cells.size()) / N_FEATURES;
    for (int f = 0; f < N_FEATURES; ++f)
        for (int64_t row = 0; row < n_rows; ++row) {
            int32_t& cell = cells[f * n_rows + row];
            if (cell == m.n_cells[f] - 1) cell = RANK_MISSING;
            else if (m.n_codes[f] > 0 && cell == m.n_codes[f]) cell = RANK_UNSEEN;
        }
    return cells;
}

// Walks with masks of players, and with masks of the slots of a path.
void run_walks(const Inputs& in, bool by_player, bool wide, Digests& out) {
    const Model& m = in.model;
    std::vector<WalkNode> nodes;
    for (int64_t node = 0; node < m.n_nodes(); ++node) {
        const int32_t set = m.category_set[node], f = m.feature[node];
        nodes.emplace_back(m.left[node], m.right[node], set < 0 ? m.rank[node] : set, f, by_player ? m.player[f] : m.slot[node], set >= 0,
                           m.missing_left[node], m.unseen_left[node]);
    }
    const int64_t n_slots = wide ? MAX_NARROW_PLAYERS + 1 : N_PLAYERS, n_counts = n_slots + 1;
    const std::vector<double> values_on_cubes = shapley_values(n_counts);
    const std::vector<int64_t> output(m.root.size(), 0), output_place{0, 1};
    const WalkTrees trees{m.root, nodes, m.words, m.n_codes, m.player, output, m.value_of(), n_slots, by_player};
    const std::vector<int32_t> here = ranks_of(m, cells_of(in, WIDTH)), there = ranks_of(m, cells_of(in, N_BACKGROUND));
    const std::vector<double> weight(N_BACKGROUND, 1.0 / N_BACKGROUND);
    const int64_t n_lines = by_player ? N_OUTPUTS : N_PLAYERS, n_columns = 8;
    std::vector<double> single(WIDTH * n_lines * n_columns), pairs(WIDTH * N_OUTPUTS * N_PLAYERS * N_PLAYERS);
    int64_t n_visits = 0;
    for (int64_t row = 0; row < WIDTH; row += 32)
        for (int64_t first = 0; first < N_BACKGROUND; first += 256) {
            const WalkRows rows{matrix(here, WIDTH), matrix(there, N_BACKGROUND), weight, row, row + 32, first,
                                std::min(N_BACKGROUND, first + 256)};
            n_visits += add_walks(0, int64_t(m.root.size()), trees, rows, Cube<const double>{values_on_cubes.data(), 6, n_counts, n_counts}, output_place,
                                  Cube<double>{single.data() + row * n_lines * n_columns, 32, n_lines, n_columns},
                                  Cube<double>{pairs.data() + row * N_OUTPUTS * N_PLAYERS * N_PLAYERS, 32 * N_OUTPUTS, N_PLAYERS, N_PLAYERS});
        }
    const std::string kind = by_player ? "by player" : wide ? "by slot, wide" : "by slot";
    out.add("walks of pairs " + kind, pairs);
    out.add("visits " + kind, std::vector<int64_t>{n_visits});
    std::vector<double> values(N_PLAYERS * N_OUTPUTS * WIDTH);
    for (int64_t row = 0; row < WIDTH; ++row)
        for (int64_t output = 0; output < N_OUTPUTS; ++output)
            for (int64_t player = 0; player < N_PLAYERS; ++player)
                values[(player * N_OUTPUTS + output) * WIDTH + row] =
                    by_player ? single[(row * n_lines + output) * n_columns + player] : single[(row * n_lines + player) * n_columns + output];
    out.add("walks " + kind, values);
    out.check(add_up(in, values, 1.0, N_BACKGROUND), "Shapley values found by walking add up to scores");
}

// What is asked of each player: some cells of its features, one after the other, the last of them missing.
struct QuestionsOfPlayers {
    QuestionsOfPlayers(const Model& m, const ChunksOfModel& chunks) {
        constexpr int64_t N_ASKED = 4;
        for (int player = 0; player < N_PLAYERS; ++player) {
            std::vector<int32_t> cells(N_FEATURES * N_ASKED);
            for (int f = 0; f < N_FEATURES; ++f)
                for (int64_t i = 0; i < N_ASKED; ++i) cells[f * N_ASKED + i] = int32_t((i + 1) * m.n_cells[f] / N_ASKED - 1);
            std::vector<int64_t> seats;
            for (int64_t s = 0; s < chunks.n_seats(); ++s)
                if (chunks.made.seat_player[s] == player) seats.push_back(s);
            const std::vector<std::uint16_t> states = chunks.states(matrix(std::as_const(cells), N_ASKED), seats);
            const auto state_at = [&](std::size_t i, int64_t question) { return chunks.made.state_first[seats[i]] + states[i * N_ASKED + question]; };
            for (std::size_t i = 0; i < seats.size(); ++i) {
                seat.push_back(seats[i]);
                state.push_back(state_at(i, 0));
            }
            for (int64_t question = 0; question < N_ASKED; ++question) {
                for (std::size_t i = 0; i < seats.size(); ++i) {
                    if (question == 0 || state_at(i, question) == state_at(i, question - 1)) continue;
                    change_seat.push_back(seats[i]);
                    old_state.push_back(state_at(i, question - 1));
                    new_state.push_back(state_at(i, question));
                }
                change_first.push_back(int64_t(new_state.size()));
            }
            seat_first.push_back(int64_t(seat.size()));
            question_first.push_back(question_first.back() + N_ASKED);
        }
    }

    std::vector<int64_t> seat_first{0}, seat, state, question_first{0}, change_first{0}, new_state, old_state, change_seat;
};

// The entries of each set and output, see glasswood.effects._interactions.Lookups.
struct Entries {
    Entries(const Terms& terms, const std::vector<int64_t>& table_first) {
        for (std::size_t set = 0; set < terms.set_rest.size(); ++set)
            for (int output = 0; output < N_OUTPUTS; ++output) {
                for (std::size_t i = 0; set > 0 && i < terms.set.size(); ++i) {
                    if (terms.set[i] != int32_t(set)) continue;
                    term.push_back(int32_t(i));
                    table.push_back(table_first[i] + output * terms.size[i]);
                }
                group_order.push_back(int64_t(group_order.size()));
                group_first.push_back(int64_t(term.size()));
            }
    }

    std::vector<int64_t> group_order, group_first{0}, table;
    std::vector<int32_t> term;
};

}  // namespace

void run_interactions(const Inputs& in, Digests& out) {
    const Model& m = in.model;
    const PlayerSets wanted_sets(3, N_PLAYERS);
    const WantedSets sets{wanted_sets.size, wanted_sets.rest};
    const ChunksOfModel chunks(m, 1024, 3);
    out.add("words of chunks", chunks.made.words);
    Flags wanted(true, N_PLAYERS);
    wanted[5] = false;
    const PlayersOfLeaves players{m.box_first, m.box_feature, m.box_slot, m.player, view(wanted)};
    Terms terms;
    const SetBlock all{{}, 0, N_PLAYERS, true};
    find_terms(0, chunks.n_chunks(), chunks.leaves(), players, sets, all, std::numeric_limits<int64_t>::max(), terms);
    std::vector<int64_t> table_first{0};
    for (std::size_t i = 0; i < terms.set.size(); ++i)
        table_first.push_back(table_first.back() + (terms.set[i] > 0 ? terms.size[i] * N_OUTPUTS : 0));
    std::vector<double> table(table_first.back() + BEHIND);
    const std::vector<double> exact = exact_counts_of(in);
    const std::vector<int64_t> offset = m.leaf_offset(in.all);
    const TermTables tables{terms.rest, terms.seat, terms.pair_term, terms.pair_first, table_first, N_OUTPUTS};
    const LeafCounts counts{m.value_of(), offset, exact};
    in_parts(chunks.n_chunks(), [&](int64_t first, int64_t last) {
        fill_tables(first, last, chunks.leaves(), players, sets, all, in.all.plus_of(), tables, counts, table);
    });
    out.add("tables of chunks", table);
    const std::vector<int32_t> cells = cells_of(in, WIDTH);
    const std::vector<std::uint16_t> states = chunks.states(matrix(cells, WIDTH));
    out.add("states", states);
    const Entries entries(terms, table_first);
    const SeatsOfEntries seats = seats_of_entries(entries.term, terms.rest, terms.seat, chunks.made.state_first);
    const Lookups lookups{entries.group_order, entries.group_first, &seats, entries.table, chunks.made.state_first, table};
    const int64_t n_groups = int64_t(entries.group_order.size());
    std::vector<double> values(n_groups * N_ROWS), sums(3 * n_groups);
    look_up(matrix(states, WIDTH), N_ROWS, WIDTH, lookups, 0, matrix(values, N_ROWS), matrix(sums, n_groups));
    out.add("interactions", values);
    out.add("sums of interactions", sums);
}

void run_metrics(const Inputs& in, Digests& out) {
    const ChunksOfModel chunks(in.model, 1 << 15, 1);
    const ShapleySets sets(in.model, chunks);
    const std::vector<int32_t> cells = cells_of(in, WIDTH);
    run_leaf_tables(in, chunks, sets, cells, out);
    run_long_paths(in, chunks, sets, cells, out);
    run_walks(in, true, false, out);
    run_walks(in, false, false, out);
    run_walks(in, false, true, out);
    std::vector<std::uint8_t> shared(N_PLAYERS * N_PLAYERS);
    std::vector<int32_t> player;
    for (const int32_t f : in.model.feature) player.push_back(in.model.player[f]);
    Flags found(false, N_PLAYERS * N_PLAYERS);
    pairs_of_players(in.model.trees(), player, {&found[0], N_PLAYERS, N_PLAYERS});
    for (std::size_t i = 0; i < shared.size(); ++i) shared[i] = found[i];
    out.add("pairs of players", shared);
}

// Whether wide numbers are what `add_whole` is to add, number by number.
bool are_whole_sums(const std::vector<int64_t>& limbs, const std::vector<double>& answers, const std::vector<int64_t>& digits, bool weighted,
                    double factor) {
    const int64_t* limb = limbs.data();
    for (std::size_t first = 0; first < answers.size(); first += digits.size())
        for (const bool square : {false, true}) {
            __int128 expected = 0, found = 0;
            for (std::size_t row = 0; row < digits.size(); ++row) {
                const double x = answers[first + row] * factor, power = square ? x * x : x, ones = std::nearbyint(power);
                const __int128 units = (__int128(ones) << 52) + __int128(std::nearbyint((power - ones) * 0x1p52));
                expected += units * (weighted ? digits[row] : -digits[row]);
            }
            for (int k = 0; k < LIMBS; ++k) found += __int128(*limb++) << (k * LIMB_BITS);
            if (found != expected) return false;
        }
    return true;
}

void run_responses(const Inputs& in, Digests& out) {
    const Model& m = in.model;
    const ChunksOfModel chunks(m, 1 << 15, 1);
    const std::vector<int32_t> cells = cells_of(in, WIDTH);
    const std::vector<std::uint16_t> states = chunks.states(matrix(cells, WIDTH));
    const int64_t n_states = int64_t(chunks.made.words.size());
    std::vector<double> reply(n_states * N_OUTPUTS * WIDTH), own(chunks.n_chunks() * N_OUTPUTS * WIDTH);
    std::vector<int64_t> every_seat(chunks.n_seats()), no_line(chunks.n_seats(), -1);
    std::iota(every_seat.begin(), every_seat.end(), 0);
    std::vector<Word> others(chunks.n_seats() * WIDTH);
    const Cube<double> own_of_chunks{own.data(), chunks.n_chunks(), N_OUTPUTS, WIDTH};
    write_others(matrix(states, WIDTH), 0, chunks.leaves(), m.value_of(), no_line, {nullptr, 0, WIDTH}, own_of_chunks);
    const std::vector<double> without_others = own;
    write_others(matrix(states, WIDTH), 0, chunks.leaves(), m.value_of(), every_seat, {others.data(), chunks.n_seats(), WIDTH}, own_of_chunks);
    out.check(own == without_others, "what chunks add to a row is the same if nothing is asked");
    write_replies({others.data(), chunks.n_seats(), WIDTH}, every_seat, chunks.leaves(), m.value_of(), every_seat,
                  {reply.data(), n_states, N_OUTPUTS, WIDTH});
    out.add("replies", reply);
    out.add("own replies", own);
    const std::vector<double> scores = scores_of(in);
    for (int64_t row = 0; row < N_ROWS; ++row) {
        double total = 0;
        for (int64_t chunk = 0; chunk < chunks.n_chunks(); ++chunk) total += own[chunk * N_OUTPUTS * WIDTH + row];
        out.check(std::fabs(total - scores[row * N_OUTPUTS]) < 1e-9, "what chunks add to a row is its score");
    }
    const QuestionsOfPlayers q(m, chunks);
    const Questions questions{q.seat_first, q.seat, q.state, q.question_first, q.change_first, q.new_state, q.old_state, q.change_seat};
    const int64_t n_questions = q.question_first.back();
    const std::vector<int64_t> output(chunks.n_chunks(), 0);
    const std::vector<double> constant{0.25, -1.5};
    std::vector<double> weight(WIDTH);
    for (int64_t row = 0; row < N_ROWS; ++row) weight[row] = double(in.rows.small_weight[row]) / 7;
    const std::pair<const char*, Link> links[] = {
        {"identity", Link::IDENTITY}, {"logistic", Link::LOGISTIC}, {"softmax", Link::SOFTMAX}, {"exp", Link::EXP}};
    for (const auto& [name, link] : links) {
        std::vector<double> sums(n_questions * N_OUTPUTS * 2 * PARTS), answers(n_questions * N_OUTPUTS * WIDTH);
        const auto ask_for = [&](const WholeSums& whole) {
            return ask({reply.data(), n_states, N_OUTPUTS, WIDTH}, {own.data(), chunks.n_chunks(), N_OUTPUTS, WIDTH},
                       {chunks.seat_chunk, output}, questions, {link, 1.0 / 256, constant}, {}, weight, sums, whole, answers);
        };
        ask_for({});
        out.add(std::string("responses ") + name, answers);
        out.add(std::string("sums of responses ") + name, sums);
        if (link == Link::IDENTITY) continue;
        for (const bool weighted : {false, true}) {
            const bool large = link == Link::EXP;
            const double factor = large ? 4.0 : 0.5;
            std::vector<int64_t> digits(WIDTH), whole(n_questions * N_OUTPUTS * 2 * LIMBS);
            for (int64_t row = 0; row < N_ROWS; ++row) digits[row] = weighted ? in.rows.small_weight[row] << 20 : -1;
            out.check(ask_for({whole, matrix(std::as_const(digits), WIDTH), weighted, large, factor}), "responses fit in whole sums");
            out.check(are_whole_sums(whole, answers, digits, weighted, factor), "whole sums are those of each row's whole numbers");
            out.add(std::string(weighted ? "weighted whole sums " : "whole sums ") + name, whole);
        }
    }
    for (int code = 0; code < N_LOSSES; ++code) {
        const Loss loss = Loss(code);
        const int64_t n_outputs = loss == Loss::LOGIT ? 1 : N_OUTPUTS, n_sums = loss == Loss::CHANGE ? n_outputs : 1;
        const Link link = loss == Loss::LOG ? Link::SOFTMAX : loss == Loss::POISSON || loss == Loss::GAMMA ? Link::EXP : Link::IDENTITY;
        std::vector<double> target(n_outputs * WIDTH), of_one(n_states * WIDTH), own_of_one(chunks.n_chunks() * WIDTH);
        for (int64_t row = 0; row < WIDTH; ++row)
            for (int64_t o = 0; o < n_outputs; ++o)
                target[o * WIDTH + row] = loss == Loss::LOGIT || loss == Loss::LOG ? double(row % n_outputs == o) : (row % 7 + 1) / 4.0;
        for (int64_t state = 0; state < n_states; ++state)
            std::copy_n(reply.data() + state * N_OUTPUTS * WIDTH, WIDTH, of_one.data() + state * WIDTH);
        for (int64_t chunk = 0; chunk < chunks.n_chunks(); ++chunk)
            std::copy_n(own.data() + chunk * N_OUTPUTS * WIDTH, WIDTH, own_of_one.data() + chunk * WIDTH);
        const bool one = n_outputs == 1;
        for (const bool weighted : {false, true}) {
            std::vector<int64_t> digits(WIDTH), whole(n_questions * n_sums * LIMBS);
            for (int64_t row = 0; row < N_ROWS; ++row) digits[row] = weighted ? in.rows.small_weight[row] << 20 : -1;
            const LossSums sums{loss, loss == Loss::QUANTILE ? 0.9 : 0.0, 0.25, matrix(std::as_const(target), WIDTH),
                                matrix(std::as_const(digits), WIDTH), weighted, true, whole};
            const std::vector<double> constants(constant.begin(), constant.begin() + n_outputs);
            const bool fits = add_losses({one ? of_one.data() : reply.data(), n_states, n_outputs, WIDTH},
                                         {one ? own_of_one.data() : own.data(), chunks.n_chunks(), n_outputs, WIDTH},
                                         {chunks.seat_chunk, output}, questions, {link, 1.0 / 256, constants}, {}, sums);
            out.check(fits, "losses fit in whole sums");
            out.add((weighted ? "weighted loss " : "loss ") + std::to_string(code), whole);
        }
    }
}

}  // namespace glasswood
