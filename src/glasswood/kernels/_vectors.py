"""Many rows at a time: lookups with an index made of several states, and sums of absolute values and squares."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["LANES", "add_entries", "collect_bits", "sum_moments"]

LANES = 32  # rows at a time

_I16, _I32, _I64, _DOUBLE = ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.DoubleType()
_INDEX = ir.VectorType(_I32, LANES)
_PIECE = 8  # doubles that are added at once
_DOUBLES = ir.VectorType(_DOUBLE, _PIECE)


def _at(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


def _index(builder: Any, lines: Any, factors: Any, n_lines: Any, skip: Any) -> Any:
    """Return the sum of the states of all lines, each times its factor."""
    nothing = ir.Constant(_INDEX, ir.Undefined)
    everywhere = ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES)
    total = cgutils.alloca_once(builder, _INDEX)
    builder.store(ir.Constant(_INDEX, [0] * LANES), total)
    with cgutils.for_range(builder, n_lines) as loop:
        place = builder.mul(loop.index, _I64(8))
        line = builder.load(_at(builder, builder.add(lines, place), _I64))
        factor = builder.trunc(builder.load(_at(builder, builder.add(factors, place), _I64)), _I32)
        states = builder.load(_at(builder, builder.add(line, skip), ir.VectorType(_I16, LANES)), align=2)
        scale = builder.shuffle_vector(builder.insert_element(nothing, factor, _I32(0)), nothing, everywhere)
        term = builder.mul(builder.zext(states, _INDEX), scale)
        builder.store(builder.add(builder.load(total), term), total)
    return builder.load(total)


@intrinsic  # type: ignore[untyped-decorator]
def add_entries(
    typing: Any,  # noqa: ARG001 (Numba passes types that need no look)
    total: Any,  # noqa: ARG001
    table: Any,  # noqa: ARG001
    lines: Any,  # noqa: ARG001
    factors: Any,  # noqa: ARG001
    n_lines: Any,  # noqa: ARG001
    skip: Any,  # noqa: ARG001
) -> Any:
    """Add ``table[sum of line[row] * factor over the lines]`` to ``total[row]``, for `LANES` rows.

    All are addresses: `total` and `table` of doubles, `lines` of the int64 addresses of the lines, `factors` of as many
    int64. A line is uint16; `skip` are the bytes from its beginning to the first row. The entries are loaded one by
    one: gather instructions took up to twice as long.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        total, table, *rest = args
        index = _index(builder, *rest)
        for start in range(0, LANES, _PIECE):
            entries = ir.Constant(_DOUBLES, ir.Undefined)
            for k in range(_PIECE):
                number = builder.zext(builder.extract_element(index, _I32(start + k)), _I64)
                entry = builder.load(_at(builder, builder.add(table, builder.shl(number, _I64(3))), _DOUBLE))
                entries = builder.insert_element(entries, entry, _I32(k))
            place = _at(builder, builder.add(total, _I64(8 * start)), _DOUBLES)
            builder.store(builder.fadd(builder.load(place, align=8), entries), place, align=8)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 6), codegen


@intrinsic  # type: ignore[untyped-decorator]
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


@intrinsic  # type: ignore[untyped-decorator]
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
