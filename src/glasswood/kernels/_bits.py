"""Blocks of rows as bits, and the machine instructions on them that Numba has no Python for.

A block is `WORDS` words of 64 rows. Blocks and columns are given by their address in memory: a kernel handles columns
of different types and layouts, and bitsets that are sometimes one array and sometimes another.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from glasswood.kernels._compile import instruction

__all__ = [
    "BYTES",
    "ROWS",
    "WORDS",
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
    "load_single",
]

WORDS = 64
ROWS = 64 * WORDS
BYTES = 8 * WORDS

_I64, _DOUBLE, _SINGLE = ir.IntType(64), ir.DoubleType(), ir.FloatType()
_BLOCK = ir.VectorType(_I64, WORDS)
_ONES = ir.Constant(_BLOCK, [-1] * WORDS)


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
