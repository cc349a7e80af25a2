"""Digests of columns: any other value, and any other order, is noticed; how the table is stored is not."""

import numpy as np
import pytest

from glasswood.errors import TableError
from glasswood.kernels import _core
from glasswood.tables._columns import NumberColumn
from glasswood.tables._seal import BLOCK, FEW, Seal
from glasswood.tables._tables import Schema, open_columns


def digests(columns, n_rows, ends=None):
    found = np.zeros(len(columns), dtype=np.uint64)
    held = _core.RawColumns(columns, n_rows)
    for first, last in ends or [(0, n_rows)]:
        _core.add_digests(held, first, last, found)
    return found.tolist()


@pytest.mark.parametrize("kind", ["u8", "u4", "u2", "u1"])
def test_digests_do_not_depend_on_strides_or_parts(kind):
    table = np.random.default_rng(0).integers(0, 200, size=(3001, 70)).astype(kind)
    wanted = digests([np.ascontiguousarray(column) for column in table.T], 3001)
    assert len(set(wanted)) == 70
    for stored in (table, np.asfortranarray(table), np.repeat(table, 2, axis=1)[:, ::2], table[::-1][::-1]):
        columns = [stored[:, k] for k in range(70)]
        assert digests(columns, 3001) == wanted
        assert digests(columns, 3001, [(2000, 3001), (0, 7), (7, 2000)]) == wanted
    assert digests([table[:, k] for k in range(0, 70, 3)], 3001) == wanted[::3]


def test_every_bit_and_the_order_of_rows_matter():
    column = np.array([1.0, -1.0, 0.0, 2.0, 2.0] * 20)
    bits = column.view("u8")
    wanted = digests([bits], 100)
    for row in (0, 50, 99):
        for bit in range(64):
            other = bits.copy()
            other[row] ^= np.uint64(1) << np.uint64(bit)
            assert digests([other], 100) != wanted
    for one, two in ((0, 1), (0, 3), (2, 98), (5, 96)):
        other = bits.copy()
        other[[one, two]] = other[[two, one]]
        assert digests([other], 100) != wanted


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="unsigned integers"):
        _core.RawColumns([np.zeros(3)], 3)
    with pytest.raises(ValueError, match="too short"):
        _core.RawColumns([np.zeros(3, dtype="u8")], 4)
    held = _core.RawColumns([np.zeros(3, dtype="u8")], 3)
    for first, last, size in ((0, 4, 1), (-1, 2, 1), (2, 1, 1), (0, 3, 2)):
        with pytest.raises(ValueError, match=r"rows are from|entries"):
            _core.add_digests(held, first, last, np.zeros(size, dtype=np.uint64))


@pytest.mark.parametrize("n", [FEW, FEW + 1, 2 * BLOCK + 5])
def test_a_seal_checks_what_was_read(n):
    table = np.random.default_rng(0).normal(size=(n, 3))
    schema = Schema(tuple(NumberColumn(f"x{k}") for k in range(3)), named=False)
    seal = Seal()
    seal.check(open_columns(table, schema, [0, 1]))
    table[n - 1, 2] = 5.0  # which was not read yet
    seal.check(open_columns(table, schema, [0, 1, 2]))
    seal.check(open_columns(table, schema, [2, 0]), 3, 9)
    table[n - 1, 2] = 6.0
    seal.check(open_columns(table, schema, [0, 1]))
    with pytest.raises(TableError, match="the column 'x2' has other values"):
        seal.check(open_columns(table, schema, [2]), n - 1, n)
    if n > 2 * BLOCK:
        seal.check(open_columns(table, schema, [2]), 0, 100)  # another block
    table[n - 1, 2] = 5.0
    seal.check(open_columns(table, schema, [0, 1, 2]))
    with pytest.raises(TableError, match="another type"):
        seal.check(open_columns(table.astype(np.float32), schema, [0]))
    with pytest.raises(TableError, match=r"had .* rows, and now has"):
        seal.check(open_columns(table[:-1], schema, [0]))
