#include "binding.h"
#include "losses.h"
#include "responses.h"

namespace glasswood {
namespace {

using HeldChunks = Held<ChunkedLeaves>;
using HeldQuestions = Held<Questions>;

HeldQuestions* make_questions(const Array<const int64_t>& seat_first, const Array<const int64_t>& seat, const Array<const int64_t>& state,
                              const Array<const int64_t>& question_first, const Array<const int64_t>& change_first,
                              const Array<const int64_t>& new_state, const Array<const int64_t>& old_state,
                              const Array<const int64_t>& change_seat) {
    check_parts(span_of(seat_first), seat.size(), "seat_first");
    check_size(state.size(), seat.size(), "state");
    check_size(question_first.size(), seat_first.size(), "question_first");
    check(change_first.size() >= 1, "change_first has an entry more than there are questions");
    check_parts(span_of(question_first), change_first.size() - 1, "question_first");
    check_parts(span_of(change_first), new_state.size(), "change_first");
    check_size(old_state.size(), new_state.size(), "old_state");
    check_size(change_seat.size(), new_state.size(), "change_seat");
    const Questions view{span_of(seat_first),   span_of(seat),      span_of(state),     span_of(question_first),
                         span_of(change_first), span_of(new_state), span_of(old_state), span_of(change_seat)};
    return new HeldQuestions(view, seat_first, seat, state, question_first, change_first, new_state, old_state, change_seat);
}

void bound_write_others(const Array2<const std::uint16_t>& states, int64_t row, const HeldChunks& chunks, const Array2<const double>& value,
                        const Array<const int64_t>& line, const Array2<Word>& others, const Array3<double>& own) {
    const std::size_t n_rows = own.shape(2), n_seats = chunks.view.seat_player.size();
    check_size(states.shape(0), n_seats, "states");
    check(row >= 0 && row + int64_t(n_rows) <= int64_t(states.shape(1)) && n_rows % PARTS == 0, "rows that are not in states");
    check_size(value.shape(0), chunks.view.leaf_order.size(), "value");
    check_size(line.size(), n_seats, "line");
    check_range(span_of(line), -1, int64_t(others.shape(0)), "line");
    check(others.shape(0) == 0 || others.shape(1) == n_rows, "lines of others have other rows");
    check_size(own.shape(0), std::size_t(chunks.view.n_chunks()), "own");
    check_size(own.shape(1), value.shape(1), "own, for a chunk,");
    for (std::size_t seat = 0; seat < n_seats; ++seat) {
        const std::span<const std::uint16_t> states_of(states.data() + seat * states.shape(1) + row, n_rows);
        check_range(states_of, 0, chunks.view.n_states(int64_t(seat)), "states");
    }
    write_others(matrix_of(states), row, chunks.view, matrix_of(value), span_of(line), matrix_of(others), cube_of(own));
}

void bound_write_replies(const Array2<const Word>& others, const Array<const int64_t>& line, const HeldChunks& chunks,
                         const Array2<const double>& value, const Array<const int64_t>& seat, const Array3<double>& reply) {
    const int64_t n_seats = int64_t(chunks.view.seat_player.size());
    check_size(line.size(), std::size_t(n_seats), "line");
    check_size(value.shape(0), chunks.view.leaf_order.size(), "value");
    check_range(span_of(seat), 0, n_seats, "seat");
    std::size_t n_states = 0;
    for (const int64_t s : span_of(seat)) {
        check(line(s) >= 0 && line(s) < int64_t(others.shape(0)), "a seat that has no line of others");
        n_states += chunks.view.n_states(s);
    }
    check_size(reply.shape(0), n_states, "reply");
    check_size(reply.shape(1), value.shape(1), "reply, for a state,");
    check(n_states == 0 || (others.shape(1) == reply.shape(2) && reply.shape(2) % PARTS == 0), "lines of others have other rows");
    write_replies(matrix_of(others), span_of(line), chunks.view, matrix_of(value), span_of(seat), cube_of(reply));
}

// Checks what kernels that ask questions take.
void check_asked(const Array3<const double>& reply, const Array3<const double>& own, const Array<const int64_t>& seat_chunk,
                 const Array<const int64_t>& output, const HeldQuestions& questions, int link, const Array<const double>& constant,
                 const Array2<const double>& offset) {
    const Questions& q = questions.view;
    const std::size_t n_rows = reply.shape(2);
    const int64_t n_states = int64_t(reply.shape(0)), n_values = int64_t(reply.shape(1)), n_seats = int64_t(seat_chunk.size());
    check(n_rows % PARTS == 0, "the number of rows is no multiple of 8");
    if (offset.size() > 0) {
        check_size(offset.shape(0), constant.size(), "offset");
        check_size(offset.shape(1), n_rows, "a line of offset");
    }
    check_size(own.shape(1), reply.shape(1), "own, for a chunk,");
    check_size(own.shape(2), n_rows, "a line of own");
    check_size(output.size(), own.shape(0), "output");
    check_range(span_of(output), 0, std::max<int64_t>(1, int64_t(constant.size()) - n_values + 1), "output");
    check(constant.size() >= reply.shape(1), "there are fewer outputs than values of a leaf");
    check_range(span_of(seat_chunk), 0, int64_t(own.shape(0)), "seat_chunk");
    check_range(q.seat, 0, n_seats, "seat");
    check_range(q.change_seat, 0, n_seats, "change_seat");
    check_range(q.state, 0, n_states, "state");
    check_range(q.new_state, 0, n_states, "new_state");
    check_range(q.old_state, 0, n_states, "old_state");
    check(link >= 0 && link <= 3, "there is no such link");
}

bool bound_ask(const Array3<const double>& reply, const Array3<const double>& own, const Array<const int64_t>& seat_chunk,
               const Array<const int64_t>& output, const HeldQuestions& questions, int link, double factor,
               const Array<const double>& constant, const Array2<const double>& offset, const Array<const double>& weight, const Array4<double>& sums,
               const Array2<const int64_t>& digits, bool weighted, bool large, double whole_factor, const Array4<int64_t>& whole,
               const Array3<double>& out) {
    const std::size_t n_rows = reply.shape(2), n_questions = questions.view.change_first.size() - 1;
    check_asked(reply, own, seat_chunk, output, questions, link, constant, offset);
    check_size(weight.size(), n_rows, "weight");
    if (sums.size() > 0) {
        check_size(sums.shape(0), n_questions, "sums");
        check_size(sums.shape(1), constant.size(), "sums, for a question,");
        check(sums.shape(2) == 2 && sums.shape(3) == PARTS, "sums have two lines of eight parts");
    }
    if (whole.size() > 0) {
        check_size(digits.shape(1), n_rows, "a line of digits");
        check(digits.shape(0) <= 3, "weights have at most three digits");
        check_size(whole.shape(0), n_questions, "whole sums");
        check_size(whole.shape(1), constant.size(), "whole sums, for a question,");
        check(whole.shape(2) == 2 && whole.shape(3) == LIMBS, "whole sums have two lines of five limbs");
        check(n_rows <= 256, "whole sums are of at most 256 rows at a time");
    }
    if (out.size() > 0) {
        check_size(out.shape(0), n_questions, "out");
        check_size(out.shape(1), constant.size(), "out, for a question,");
        check_size(out.shape(2), n_rows, "a line of out");
    }
    return ask(cube_of(reply), cube_of(own), PlacesOfChunks{span_of(seat_chunk), span_of(output)}, questions.view,
               Response{Link(link), factor, span_of(constant)}, {offset.data(), offset.size()}, span_of(weight), {sums.data(), sums.size()},
               WholeSums{{whole.data(), whole.size()}, matrix_of(digits), weighted, large, whole_factor}, {out.data(), out.size()});
}

bool bound_add_losses(const Array3<const double>& reply, const Array3<const double>& own, const Array<const int64_t>& seat_chunk,
                      const Array<const int64_t>& output, const HeldQuestions& questions, int link, double factor,
                      const Array<const double>& constant, const Array2<const double>& offset, int loss, double level, double scale,
                      const Array2<const double>& target, const Array2<const int64_t>& digits, bool weighted, bool large,
                      const Array3<int64_t>& sums) {
    const std::size_t n_rows = reply.shape(2), n_questions = questions.view.change_first.size() - 1;
    check_asked(reply, own, seat_chunk, output, questions, link, constant, offset);
    check(loss >= 0 && loss < N_LOSSES, "there is no such loss");
    check(n_rows <= 256, "whole sums are of at most 256 rows at a time");
    const bool change = Loss(loss) == Loss::CHANGE;
    if (!change) {
        check_size(target.shape(0), constant.size(), "target");
        check_size(target.shape(1), n_rows, "a line of target");
    }
    check(Loss(loss) != Loss::LOGIT || constant.size() == 1, "log-odds are those of one output");
    check_size(digits.shape(1), n_rows, "a line of digits");
    check(digits.shape(0) <= 3, "weights have at most three digits");
    check_size(sums.shape(0), n_questions, "sums");
    check_size(sums.shape(1), change ? constant.size() : 1, "sums, for a question,");
    check_size(sums.shape(2), LIMBS, "a sum");
    return add_losses(cube_of(reply), cube_of(own), PlacesOfChunks{span_of(seat_chunk), span_of(output)}, questions.view,
                      Response{Link(link), factor, span_of(constant)}, {offset.data(), offset.size()},
                      LossSums{Loss(loss), level, scale, matrix_of(target), matrix_of(digits), weighted, large, {sums.data(), sums.size()}});
}

}  // namespace

void bind_responses(nb::module_& m) {
    nb::class_<HeldQuestions>(m, "Questions")
        .def(nb::new_(&make_questions), arg("seat_first"), arg("seat"), arg("state"), arg("question_first"), arg("change_first"),
             arg("new_state"), arg("old_state"), arg("change_seat"));
    m.def("write_others", &bound_write_others, arg("states"), nb::arg("row"), nb::arg("chunks"), arg("value"), arg("line"), arg("others"),
          arg("own"), without_gil());
    m.def("write_replies", &bound_write_replies, arg("others"), arg("line"), nb::arg("chunks"), arg("value"), arg("seat"), arg("reply"),
          without_gil());
    m.def("ask", &bound_ask, arg("reply"), arg("own"), arg("seat_chunk"), arg("output"), nb::arg("questions"), nb::arg("link"),
          nb::arg("factor"), arg("constant"), arg("offset"), arg("weight"), arg("sums"), arg("digits"), nb::arg("weighted"), nb::arg("large"),
          nb::arg("whole_factor"), arg("whole"), arg("out"), without_gil());
    m.def("add_losses", &bound_add_losses, arg("reply"), arg("own"), arg("seat_chunk"), arg("output"), nb::arg("questions"), nb::arg("link"),
          nb::arg("factor"), arg("constant"), arg("offset"), nb::arg("loss"), nb::arg("level"), nb::arg("scale"), arg("target"),
          arg("digits"), nb::arg("weighted"), nb::arg("large"), arg("sums"), without_gil());
}

}  // namespace glasswood
