"""Blocks of rows as bits, and the machine instructions on them that Numba has no Python for.

A block is `WORDS` words of 64 rows, in the order of `PLACE`. Blocks and columns are given by their address in memory: a
kernel handles columns of different types and layouts, and bitsets that are sometimes one array and sometimes another.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from glasswood.kernels._compile import instruction

__all__ = [
    "BYTES",
    "PLACE",
    "ROWS",
    "WORDS",
    "add_to",
    "bits_of",
    "compare",
    "compare_or_missing",
    "compare_or_missing_single",
    "compare_single",
    "count",
    "count_drop",
    "count_keep",
    "drop",
    "keep",
    "load_double",
    "load_integer",
    "load_short",
    "load_single",
    "load_word",
    "need_soon",
    "running_counts",
]

WORDS = 64
ROWS = 64 * WORDS
BYTES = 8 * WORDS

_I64, _DOUBLE, _SINGLE = ir.IntType(64), ir.DoubleType(), ir.FloatType()
_BLOCK = ir.VectorType(_I64, WORDS)
_ONES = ir.Constant(_BLOCK, [-1] * WORDS)


_LANES = 8
_PIECE = ir.VectorType(_I64, _LANES)

PLACE = np.arange(WORDS).reshape(_LANES, -1).T.reshape(-1).copy()
"""Where the word of the rows from ``64 * word`` on is in its block.

Words are dealt out to lanes: those of the first 512 rows are the first lanes of the eight vectors of a block, and so
on. Numbers of bits that are added up vector by vector are then those of successive rows, see `running_counts`.
"""


def _load(builder: Any, address: Any, kind: Any = _BLOCK, align: int = 8) -> Any:
    return builder.load(builder.inttoptr(address, kind.as_pointer()), align=align)


def _reduce(builder: Any, operation: str, block: Any) -> Any:
    name = f"llvm.vector.reduce.{operation}.v{WORDS}i64"
    return builder.call(cgutils.get_or_insert_function(builder.module, ir.FunctionType(_I64, [_BLOCK]), name), [block])


def _sum_of_bits(builder: Any, block: Any) -> Any:
    kind = ir.FunctionType(_BLOCK, [_BLOCK])
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.ctpop.v{WORDS}i64")
    return _reduce(builder, "add", builder.call(function, [block]))


def _both(builder: Any, rows: Any, mask: Any) -> Any:
    return builder.and_(_load(builder, rows), _load(builder, mask))


def _only_first(builder: Any, rows: Any, mask: Any) -> Any:
    return builder.and_(_load(builder, rows), builder.xor(_load(builder, mask), _ONES))


def _store_block(builder: Any, out: Any, block: Any) -> Any:
    builder.store(block, builder.inttoptr(out, _BLOCK.as_pointer()), align=8)
    return _reduce(builder, "or", block)


@instruction
def keep(typing: Any, out: Any, rows: Any, mask: Any) -> Any:  # noqa: ARG001 (Numba passes types that need no look)
    """Write ``rows & mask`` to `out`, and return 0 iff no bit is left."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return _store_block(builder, args[0], _both(builder, args[1], args[2]))

    return types.int64(types.int64, types.int64, types.int64), codegen


@instruction
def drop(typing: Any, out: Any, rows: Any, mask: Any) -> Any:  # noqa: ARG001
    """Write ``rows & ~mask`` to `out`, and return 0 iff no bit is left."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return _store_block(builder, args[0], _only_first(builder, args[1], args[2]))

    return types.int64(types.int64, types.int64, types.int64), codegen


@instruction
def count(typing: Any, rows: Any) -> Any:  # noqa: ARG001
    """Return the number of bits in a block."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return _sum_of_bits(builder, _load(builder, args[0]))

    return types.int64(types.int64), codegen


@instruction
def bits_of(typing: Any, word: Any) -> Any:  # noqa: ARG001
    """Return the number of bits in a word."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_I64, [_I64]), "llvm.ctpop.i64")
        return builder.call(function, [args[0]])

    return types.int64(types.uint64), codegen


@instruction
def count_keep(typing: Any, rows: Any, mask: Any) -> Any:  # noqa: ARG001
    """Return the number of bits in ``rows & mask``."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return _sum_of_bits(builder, _both(builder, args[0], args[1]))

    return types.int64(types.int64, types.int64), codegen


@instruction
def count_drop(typing: Any, rows: Any, mask: Any) -> Any:  # noqa: ARG001
    """Return the number of bits in ``rows & ~mask``."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return _sum_of_bits(builder, _only_first(builder, args[0], args[1]))

    return types.int64(types.int64, types.int64), codegen


@instruction
def running_counts(typing: Any, out: Any, rows: Any, mask: Any, flip: Any) -> Any:  # noqa: ARG001
    """Write ``rows & (mask ^ flip)`` to `out`, and behind it, for each word, the number of bits in earlier rows.

    `flip` is 0, or all ones.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        out, rows, mask, flip = args
        popcount = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_PIECE, [_PIECE]), f"llvm.ctpop.v{_LANES}i64"
        )
        nothing, zeros = ir.Constant(_PIECE, ir.Undefined), ir.Constant(_PIECE, [0] * _LANES)
        numbers = ir.VectorType(ir.IntType(32), _LANES)
        flips = builder.insert_element(nothing, flip, ir.IntType(32)(0))
        flips = builder.shuffle_vector(flips, nothing, ir.Constant(numbers, [0] * _LANES))
        total, before = zeros, []
        for start in range(0, BYTES, 8 * _LANES):
            kept, tested = (_load(builder, builder.add(at, _I64(start)), _PIECE) for at in (rows, mask))
            bits = builder.and_(kept, builder.xor(tested, flips))
            builder.store(bits, builder.inttoptr(builder.add(out, _I64(start)), _PIECE.as_pointer()), align=8)
            before.append(total)
            total = builder.add(total, builder.call(popcount, [bits]))
        lanes = total  # of which each gets the sum of those before it
        for shift in (1, 1, 2, 4):
            chosen = ir.Constant(numbers, [_LANES + k - shift if k >= shift else k for k in range(_LANES)])
            moved = builder.shuffle_vector(zeros, lanes, chosen)
            lanes = moved if lanes is total else builder.add(lanes, moved)
        for number, sums in enumerate(before):
            at = builder.add(out, _I64(BYTES + 8 * _LANES * number))
            builder.store(builder.add(sums, lanes), builder.inttoptr(at, _PIECE.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.uint64), codegen


def _compare_codegen(number: Any, *, lanes: int, missing: bool) -> Any:
    """Return the code of 64 comparisons ``x <= cut``, `lanes` at a time, with NaN counted as true if `missing`."""
    size = 8 if number is _DOUBLE else 4
    vector, piece = ir.VectorType(number, lanes), ir.IntType(lanes)
    nothing, zeros = ir.Constant(vector, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        column, cut, out = args
        cuts = builder.shuffle_vector(builder.insert_element(nothing, cut, ir.IntType(32)(0)), nothing, zeros)
        compare = builder.fcmp_unordered if missing else builder.fcmp_ordered
        for start in range(0, 64, lanes):
            values = _load(builder, builder.add(column, _I64(start * size)), vector, size)
            place = builder.inttoptr(builder.add(out, _I64(start // 8)), piece.as_pointer())
            builder.store(builder.bitcast(compare("<=", values, cuts), piece), place, align=1)
        return context.get_dummy_value()

    return codegen


# Doubles are stored 8 bits at a time: putting 64 bits together first takes as long as comparing them.


@instruction
def compare(typing: Any, column: Any, cut: Any, out: Any) -> Any:  # noqa: ARG001
    """Write the 64 comparisons ``x <= cut`` of doubles as one word; false for NaN."""
    code = _compare_codegen(_DOUBLE, lanes=8, missing=False)
    return types.void(types.int64, types.float64, types.int64), code


@instruction
def compare_or_missing(typing: Any, column: Any, cut: Any, out: Any) -> Any:  # noqa: ARG001
    """Write the 64 comparisons ``x <= cut`` of doubles as one word; true for NaN."""
    return types.void(types.int64, types.float64, types.int64), _compare_codegen(_DOUBLE, lanes=8, missing=True)


@instruction
def compare_single(typing: Any, column: Any, cut: Any, out: Any) -> Any:  # noqa: ARG001
    """Write the 64 comparisons ``x <= cut`` of single precision floats as one word; false for NaN."""
    code = _compare_codegen(_SINGLE, lanes=64, missing=False)
    return types.void(types.int64, types.float32, types.int64), code


@instruction
def compare_or_missing_single(typing: Any, column: Any, cut: Any, out: Any) -> Any:  # noqa: ARG001
    """Write the 64 comparisons ``x <= cut`` of single precision floats as one word; true for NaN."""
    code = _compare_codegen(_SINGLE, lanes=64, missing=True)
    return types.void(types.int64, types.float32, types.int64), code


@instruction
def load_double(typing: Any, address: Any) -> Any:  # noqa: ARG001
    """Return the double at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return _load(builder, args[0], _DOUBLE)

    return types.float64(types.int64), codegen


@instruction
def load_single(typing: Any, address: Any) -> Any:  # noqa: ARG001
    """Return the single precision float at an address, as a double."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.fpext(_load(builder, args[0], _SINGLE, 4), _DOUBLE)

    return types.float64(types.int64), codegen


@instruction
def load_integer(typing: Any, address: Any) -> Any:  # noqa: ARG001
    """Return the integer of 64 bits at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return _load(builder, args[0], _I64)

    return types.int64(types.int64), codegen


@instruction
def load_word(typing: Any, address: Any) -> Any:  # noqa: ARG001
    """Return the 64 bits at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return _load(builder, args[0], _I64)

    return types.uint64(types.int64), codegen


@instruction
def add_to(typing: Any, address: Any, number: Any) -> Any:  # noqa: ARG001
    """Add a number to the integer of 64 bits at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        place = builder.inttoptr(args[0], _I64.as_pointer())
        builder.store(builder.add(builder.load(place, align=8), args[1]), place, align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@instruction
def load_short(typing: Any, address: Any) -> Any:  # noqa: ARG001
    """Return the number of 16 bits, without sign, at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.zext(_load(builder, args[0], ir.IntType(16), 2), _I64)

    return types.int64(types.int64), codegen


@instruction
def need_soon(typing: Any, address: Any) -> Any:  # noqa: ARG001
    """Let the machine fetch what is at an address, to be changed soon."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(function, [builder.inttoptr(args[0], byte), number(1), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(types.int64), codegen
