"""Many rows at a time: lookups with an index made of several states, and sums of absolute values and squares."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import config, types
from numba.core import cgutils

from glasswood.kernels._compile import instruction

__all__ = [
    "LANES",
    "add_difference",
    "add_entries",
    "collect_bits",
    "exponentiate",
    "pick",
    "scale",
    "squash",
    "sum_moments",
    "weigh",
]

LANES = 32  # rows at a time

_I16, _I32, _I64, _DOUBLE = ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.DoubleType()
_PIECE = 8  # doubles that are added at once
_INDEX, _DOUBLES, _PLACES = ir.VectorType(_I16, LANES), ir.VectorType(_DOUBLE, _PIECE), ir.VectorType(_I64, _PIECE)

# What Numba compiles for: this machine, or what its variables NUMBA_CPU_NAME and NUMBA_CPU_FEATURES say.
_FEATURES = get_host_cpu_features().flatten() if config.CPU_FEATURES is None else config.CPU_FEATURES
PERMUTES = bool(config.ENABLE_AVX) and "+avx512f" in _FEATURES  # tables of up to 64 entries are held in registers


def _at(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


def _index(builder: Any, sources: tuple[Any, ...], skip: Any) -> Any:
    """Return the sum of the states of all lines, each times its factor, for `LANES` rows."""
    lines, factors, n_lines = sources
    nothing = ir.Constant(_INDEX, ir.Undefined)
    everywhere = ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES)
    total = cgutils.alloca_once(builder, _INDEX)
    builder.store(ir.Constant(_INDEX, [0] * LANES), total)
    with cgutils.for_range(builder, n_lines) as loop:
        place = builder.mul(loop.index, _I64(8))
        line = builder.load(_at(builder, builder.add(lines, place), _I64))
        factor = builder.trunc(builder.load(_at(builder, builder.add(factors, place), _I64)), _I16)
        states = builder.load(_at(builder, builder.add(line, skip), _INDEX), align=2)
        scale = builder.shuffle_vector(builder.insert_element(nothing, factor, _I32(0)), nothing, everywhere)
        builder.store(builder.add(builder.load(total), builder.mul(states, scale)), total)
    return builder.load(total)


def _add(builder: Any, total: Any, start: int, entries: Any) -> None:
    """Add eight entries to the sums of the rows from `start` on."""
    place = _at(builder, builder.add(total, _I64(8 * start)), _DOUBLES)
    builder.store(builder.fadd(builder.load(place, align=8), entries), place, align=8)


def _load_each(builder: Any, table: Any, index: Any, total: Any) -> None:
    """Add the entries of a table of any size, loaded one by one."""
    stored = cgutils.alloca_once(builder, _INDEX)
    builder.store(index, stored)
    numbers = builder.ptrtoint(stored, _I64)
    for start in range(0, LANES, _PIECE):
        entries = ir.Constant(_DOUBLES, ir.Undefined)
        for k in range(_PIECE):
            lane = _at(builder, builder.add(numbers, _I64(2 * (start + k))), _I16)
            number = builder.zext(builder.load_atomic(lane, "monotonic", 2), _I64)
            entry = builder.load(_at(builder, builder.add(table, builder.shl(number, _I64(3))), _DOUBLE))
            entries = builder.insert_element(entries, entry, _I32(k))
        _add(builder, total, start, entries)


def _permute(builder: Any, parts: list[Any], index: Any, total: Any) -> None:
    """Add the entries of a table that is held in registers, eight entries each: 16, 32 or 64."""
    for start in range(0, LANES, _PIECE):
        lanes = ir.Constant(ir.VectorType(_I32, _PIECE), list(range(start, start + _PIECE)))
        places = builder.zext(builder.shuffle_vector(index, ir.Constant(_INDEX, ir.Undefined), lanes), _PLACES)
        _add(builder, total, start, _picked(builder, parts, places))


def _picked(builder: Any, parts: list[Any], places: Any) -> Any:
    """Return eight entries of a table that is held in registers, eight entries each."""
    kind = ir.FunctionType(_DOUBLES, [_DOUBLES, _PLACES, _DOUBLES])
    pick = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.avx512.vpermi2var.pd.512")
    zero = ir.Constant(_PLACES, [0] * _PIECE)
    # Of each 16 entries, the one that the last four bits name; then the further bits choose among those.
    found = [builder.call(pick, [parts[k], places, parts[k + 1]]) for k in range(0, len(parts), 2)]
    bit = 2 * _PIECE
    while len(found) > 1:
        chosen = builder.icmp_unsigned("!=", builder.and_(places, ir.Constant(_PLACES, [bit] * _PIECE)), zero)
        found = [builder.select(chosen, found[k + 1], found[k]) for k in range(0, len(found), 2)]
        bit *= 2
    return found[0]


@instruction
def add_entries(
    typing: Any,  # noqa: ARG001 (Numba passes types that need no look)
    total: Any,  # noqa: ARG001
    n_rows: Any,  # noqa: ARG001
    table: Any,  # noqa: ARG001
    n_entries: Any,  # noqa: ARG001
    lines: Any,  # noqa: ARG001
    factors: Any,  # noqa: ARG001
    n_lines: Any,  # noqa: ARG001
) -> Any:
    """Add ``table[sum of line[row] * factor over the lines]`` to ``total[row]``.

    All but numbers are addresses: `total` and `table` of doubles, `lines` of the int64 addresses of the lines,
    `factors` of as many int64. A line is uint16, and so is the index. The number of rows is a multiple of `LANES`, and
    behind a table there must be memory for 64 more entries.

    Small tables are held in registers, where the machine can permute them: three times as fast. Otherwise entries are
    loaded one by one: gather instructions took up to twice as long. The index then goes through memory (which an
    atomic load makes sure of), because taking a vector apart is slower.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        total, n_rows, table, n_entries, lines, factors, n_lines = args

        def each_row(add: Callable[[Any, Any], None]) -> None:
            with cgutils.for_range(builder, builder.udiv(n_rows, _I64(LANES))) as loop:
                row = builder.mul(loop.index, _I64(LANES))
                index = _index(builder, (lines, factors, n_lines), builder.mul(row, _I64(2)))
                add(index, builder.add(total, builder.mul(row, _I64(8))))

        def by_size(sizes: tuple[int, ...]) -> None:
            if not sizes:
                each_row(lambda index, place: _load_each(builder, table, index, place))
                return
            with builder.if_else(builder.icmp_unsigned("<=", n_entries, _I64(sizes[0]))) as (fits, larger):
                with fits:
                    at = [builder.add(table, _I64(8 * k)) for k in range(0, sizes[0], _PIECE)]
                    parts = [builder.load(_at(builder, place, _DOUBLES), align=8) for place in at]
                    each_row(lambda index, place: _permute(builder, parts, index, place))
                with larger:
                    by_size(sizes[1:])

        by_size((16, 32, 64) if PERMUTES else ())
        return context.get_dummy_value()

    return types.void(*[types.int64] * 7), codegen


@instruction
def sum_moments(typing: Any, values: Any, n_values: Any, out: Any) -> Any:  # noqa: ARG001
    """Write the sums of absolute values and of squares, in eight parts each, to the 16 doubles at `out`.

    `n_values` is a multiple of 8. The parts are always the same, so that sums are the same, too.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        values, n_values, out = args
        zero = ir.Constant(_DOUBLES, [0.0] * _PIECE)
        sums = [cgutils.alloca_once(builder, _DOUBLES) for _ in range(2)]
        for total in sums:
            builder.store(zero, total)
        kind = ir.FunctionType(_DOUBLES, [_DOUBLES])
        absolute = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fabs.v{_PIECE}f64")
        with cgutils.for_range(builder, builder.udiv(n_values, _I64(_PIECE))) as loop:
            place = builder.add(values, builder.mul(loop.index, _I64(8 * _PIECE)))
            x = builder.load(_at(builder, place, _DOUBLES), align=8)
            for total, term in zip(sums, (builder.call(absolute, [x]), builder.fmul(x, x)), strict=True):
                builder.store(builder.fadd(builder.load(total), term), total)
        for number, total in enumerate(sums):
            place = _at(builder, builder.add(out, _I64(8 * _PIECE * number)), _DOUBLES)
            builder.store(builder.load(total), place, align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@instruction
def collect_bits(typing: Any, lines: Any, n_lines: Any, bit: Any, skip: Any, out: Any) -> Any:  # noqa: ARG001
    """Write, for `LANES` rows, a uint16 to `out` whose bit k is the bit `bit` of the row's word in line k.

    `lines` is the address of the int64 addresses of lines of uint64; `skip` are the rows before the first.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        lines, n_lines, bit, skip, out = args
        words, pieces = ir.VectorType(_I64, LANES), ir.VectorType(_I16, LANES)
        everywhere = ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES)

        def spread(value: Any, kind: Any) -> Any:
            nothing = ir.Constant(kind, ir.Undefined)
            return builder.shuffle_vector(builder.insert_element(nothing, value, _I32(0)), nothing, everywhere)

        found = cgutils.alloca_once(builder, pieces)
        builder.store(ir.Constant(pieces, [0] * LANES), found)
        shift, one = spread(bit, words), ir.Constant(words, [1] * LANES)
        with cgutils.for_range(builder, n_lines) as loop:
            line = builder.load(_at(builder, builder.add(lines, builder.mul(loop.index, _I64(8))), _I64))
            place = builder.add(line, builder.mul(skip, _I64(8)))
            word = builder.load(_at(builder, place, words), align=8)
            kept = builder.trunc(builder.and_(builder.lshr(word, shift), one), pieces)
            moved = builder.shl(kept, spread(builder.trunc(loop.index, _I16), pieces))
            builder.store(builder.or_(builder.load(found), moved), found)
        place = builder.add(out, builder.mul(skip, _I64(2)))
        builder.store(builder.load(found), _at(builder, place, pieces), align=2)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), codegen


def _exp(builder: Any, x: Any) -> Any:
    """Return e to the power of eight doubles, right to about one unit in the last place."""

    def all_of(number: float) -> Any:
        return ir.Constant(_DOUBLES, [number] * _PIECE)

    def between(name: str, value: Any, limit: float) -> Any:
        kind = ir.FunctionType(_DOUBLES, [_DOUBLES, _DOUBLES])
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{_PIECE}f64")
        return builder.call(function, [value, all_of(limit)])

    x = between("minnum", between("maxnum", x, -708.0), 709.0)
    # x = n ln 2 + r. Adding and taking away 1.5 * 2**52 rounds to a whole number, which is then in the last bits.
    magic = all_of(6755399441055744.0)
    shifted = builder.fadd(builder.fmul(x, all_of(1.4426950408889634)), magic)
    n = builder.fsub(shifted, magic)
    r = builder.fsub(x, builder.fmul(n, all_of(6.93147180369123816490e-01)))  # ln 2 in two parts, the first one short
    r = builder.fsub(r, builder.fmul(n, all_of(1.90821492927058770002e-10)))
    power = all_of(1 / math.factorial(13))
    for k in range(12, -1, -1):
        power = builder.fadd(builder.fmul(power, r), all_of(1 / math.factorial(k)))
    # 2**n is n added to the exponent.
    exponent = builder.shl(builder.bitcast(shifted, _PLACES), ir.Constant(_PLACES, [52] * _PIECE))
    return builder.bitcast(builder.add(builder.bitcast(power, _PLACES), exponent), _DOUBLES)


def _each_piece(builder: Any, n_values: Any, work: Callable[[Callable[[Any], Any]], None]) -> None:
    """Do something to eight doubles after the other; `work` gets a function from addresses to the piece there."""
    with cgutils.for_range(builder, builder.udiv(n_values, _I64(_PIECE))) as loop:
        skip = builder.mul(loop.index, _I64(8 * _PIECE))
        work(lambda address: _at(builder, builder.add(address, skip), _DOUBLES))


def _spread(builder: Any, value: Any) -> Any:
    nothing = ir.Constant(_DOUBLES, ir.Undefined)
    everywhere = ir.Constant(ir.VectorType(_I32, _PIECE), [0] * _PIECE)
    return builder.shuffle_vector(builder.insert_element(nothing, value, _I32(0)), nothing, everywhere)


@instruction
def add_difference(typing: Any, total: Any, plus: Any, minus: Any, n_values: Any) -> Any:  # noqa: ARG001
    """Add the doubles at `plus`, less those at `minus`, to those at `total`; a multiple of 8 of them."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        total, plus, minus, n_values = args

        def work(piece: Callable[[Any], Any]) -> None:
            one, two, whole = (builder.load(piece(address), align=8) for address in (plus, minus, total))
            builder.store(builder.fadd(whole, builder.fsub(one, two)), piece(total), align=8)

        _each_piece(builder, n_values, work)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), codegen


def _respond_codegen(link: str) -> Any:
    """Return the code of a link of ``factor * x + constant``."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        values, n_values, factor, constant, out = args
        scale, shift, one = _spread(builder, factor), _spread(builder, constant), ir.Constant(_DOUBLES, [1.0] * _PIECE)

        def work(piece: Callable[[Any], Any]) -> None:
            z = builder.fadd(builder.fmul(builder.load(piece(values), align=8), scale), shift)
            if link == "exp":
                z = _exp(builder, z)
            elif link == "logistic":
                z = builder.fdiv(
                    one, builder.fadd(one, _exp(builder, builder.fsub(ir.Constant(_DOUBLES, [0.0] * 8), z)))
                )
            builder.store(z, piece(out), align=8)

        _each_piece(builder, n_values, work)
        return context.get_dummy_value()

    return codegen


_RESPOND = types.void(types.int64, types.int64, types.float64, types.float64, types.int64)


@instruction
def scale(typing: Any, values: Any, n_values: Any, factor: Any, constant: Any, out: Any) -> Any:  # noqa: ARG001
    """Write ``factor * x + constant`` of the doubles at an address, a multiple of 8 of them, to `out`."""
    return _RESPOND, _respond_codegen("identity")


@instruction
def exponentiate(typing: Any, values: Any, n_values: Any, factor: Any, constant: Any, out: Any) -> Any:  # noqa: ARG001
    """Write e to the power of ``factor * x + constant``, see `scale`."""
    return _RESPOND, _respond_codegen("exp")


@instruction
def squash(typing: Any, values: Any, n_values: Any, factor: Any, constant: Any, out: Any) -> Any:  # noqa: ARG001
    """Write ``1 / (1 + exp(-(factor * x + constant)))``, see `scale`."""
    return _RESPOND, _respond_codegen("logistic")


@instruction
def weigh(typing: Any, values: Any, weights: Any, n_values: Any, out: Any) -> Any:  # noqa: ARG001
    """Add the weighted sums of doubles and of their squares, in eight parts each, to the 16 doubles at `out`.

    The number of values is a multiple of 8.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        values, weights, n_values, out = args
        sums = [cgutils.alloca_once(builder, _DOUBLES) for _ in range(2)]
        places = [_at(builder, builder.add(out, _I64(8 * _PIECE * number)), _DOUBLES) for number in range(2)]
        for total, place in zip(sums, places, strict=True):
            builder.store(builder.load(place, align=8), total)
        with cgutils.for_range(builder, builder.udiv(n_values, _I64(_PIECE))) as loop:
            skip = builder.mul(loop.index, _I64(8 * _PIECE))
            x = builder.load(_at(builder, builder.add(values, skip), _DOUBLES), align=8)
            term = builder.fmul(x, builder.load(_at(builder, builder.add(weights, skip), _DOUBLES), align=8))
            for total, part in zip(sums, (term, builder.fmul(term, x)), strict=True):
                builder.store(builder.fadd(builder.load(total), part), total)
        for total, place in zip(sums, places, strict=True):
            builder.store(builder.load(total), place, align=8)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), codegen


@instruction
def pick(typing: Any, bits: Any, word: Any, table: Any, n_rows: Any, out: Any) -> Any:  # noqa: ARG001
    """Write, for each row, the entry of a table that the lowest common bit of `word` and the row's bits names, or 0.

    `bits` is the address of a uint64 per row, `table` that of 64 doubles; the number of rows is a multiple of 8.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        bits, word, table, n_rows, out = args
        zero, last = ir.Constant(_PLACES, [0] * _PIECE), ir.Constant(_PLACES, [63] * _PIECE)
        everywhere = ir.Constant(ir.VectorType(_I32, _PIECE), [0] * _PIECE)
        nothing = ir.Constant(_PLACES, ir.Undefined)
        words = builder.shuffle_vector(builder.insert_element(nothing, word, _I32(0)), nothing, everywhere)
        kind = ir.FunctionType(_PLACES, [_PLACES, ir.IntType(1)])
        leading = cgutils.get_or_insert_function(builder.module, kind, f"llvm.ctlz.v{_PIECE}i64")
        starts = [builder.add(table, _I64(8 * k)) for k in range(0, 64, _PIECE)]
        parts = [builder.load(_at(builder, place, _DOUBLES), align=8) for place in starts] if PERMUTES else []

        def work(piece: Callable[[Any], Any]) -> None:
            rows = builder.load(builder.bitcast(piece(bits), _PLACES.as_pointer()), align=8)
            common = builder.and_(rows, words)
            lowest = builder.and_(common, builder.sub(zero, common))
            places = builder.and_(builder.sub(last, builder.call(leading, [lowest, ir.IntType(1)(0)])), last)
            if PERMUTES:
                found = _picked(builder, parts, places)
            else:
                found = ir.Constant(_DOUBLES, ir.Undefined)
                for k in range(_PIECE):
                    place = builder.shl(builder.extract_element(places, _I32(k)), _I64(3))
                    entry = builder.load(_at(builder, builder.add(table, place), _DOUBLES.element))
                    found = builder.insert_element(found, entry, _I32(k))
            some = builder.icmp_unsigned("!=", common, zero)
            builder.store(builder.select(some, found, ir.Constant(_DOUBLES, [0.0] * _PIECE)), piece(out), align=8)

        _each_piece(builder, n_rows, work)
        return context.get_dummy_value()

    return types.void(types.int64, types.uint64, types.int64, types.int64, types.int64), codegen
