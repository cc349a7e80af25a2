"""Lookups for many rows at a time: an index made of several states, and the table's entry added to a sum."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["LANES", "add_entries"]

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
