"""Digests of columns: any other value, and any other order, is noticed; how the table is stored is not."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor

import glasswood as gw
from glasswood.counting._plan import make_plan
from glasswood.engines._local import count, count_table
from glasswood.errors import TableError
from glasswood.kernels import _core
from glasswood.tables._columns import NumberColumn
from glasswood.tables._seal import BLOCK, FEW, Seal
from glasswood.tables._sources import InMemory
from glasswood.tables._tables import Schema, open_columns


def digests(columns, n_rows, first=0):
    n_blocks = -(-(n_rows - first) // BLOCK)
    found = np.full((n_blocks, len(columns)), 7, dtype=np.uint64)
    _core.write_digests(_core.RawColumns(columns, n_rows), first, n_rows, found)
    return found.tolist()


@pytest.mark.parametrize("kind", ["u8", "u4", "u2", "u1"])
def test_digests_do_not_depend_on_strides_or_parts(kind):
    table = np.random.default_rng(0).integers(0, 200, size=(3001, 70)).astype(kind)
    selected = digests([np.ascontiguousarray(column) for column in table.T], 3001)
    assert len(selected) == 3
    assert all(len(set(line)) == 70 for line in selected)
    for stored in (table, np.asfortranarray(table), np.repeat(table, 2, axis=1)[:, ::2], table[::-1][::-1]):
        columns = [stored[:, k] for k in range(70)]
        assert digests(columns, 3001) == selected
        assert digests(columns, 3001, BLOCK) == selected[1:]
    assert digests([table[:, k] for k in range(0, 70, 3)], 3001) == [line[::3] for line in selected]


def test_every_bit_and_the_order_of_rows_matter():
    column = np.array([1.0, -1.0, 0.0, 2.0, 2.0] * 20)
    bits = column.view("u8")
    selected = digests([bits], 100)
    for row in (0, 50, 99):
        for bit in range(64):
            other = bits.copy()
            other[row] ^= np.uint64(1) << np.uint64(bit)
            assert digests([other], 100) != selected
    for one, two in ((0, 1), (0, 3), (2, 98), (5, 96)):
        other = bits.copy()
        other[[one, two]] = other[[two, one]]
        assert digests([other], 100) != selected


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="unsigned integers"):
        _core.RawColumns([np.zeros(3)], 3)
    with pytest.raises(ValueError, match="too short"):
        _core.RawColumns([np.zeros(3, dtype="u8")], 4)
    held = _core.RawColumns([np.zeros(3, dtype="u8")], 3)
    for first, last, shape in (
        (0, 4, (1, 1)),
        (-1, 2, (1, 1)),
        (2, 1, (1, 1)),
        (1, 3, (1, 1)),
        (0, 3, (2, 1)),
        (0, 3, (1, 2)),
    ):
        with pytest.raises(ValueError, match=r"rows are from|first row of a block|entries"):
            _core.write_digests(held, first, last, np.zeros(shape, dtype=np.uint64))


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


@pytest.mark.parametrize("layout", ["C", "F", "float32", "mixed"])
@pytest.mark.parametrize("weighted", [False, True])
def test_digests_are_taken_while_rows_are_counted(layout, weighted):
    rng = np.random.default_rng(0)
    n = 9 * BLOCK + 77
    values = rng.normal(size=(n, 4))
    model = DecisionTreeRegressor(max_leaf_nodes=60).fit(values, values @ np.arange(1.0, 5.0))
    table = np.array(values, order=layout if layout in "CF" else "K", dtype="f4" if layout == "float32" else "f8")
    if layout == "mixed":
        table = pd.DataFrame({0: values[:, 0], 1: values[:, 1] > 0, 2: values[:, 2].astype("f4"), 3: np.arange(n)})
    plan = make_plan(gw.read_model(model), 1, None)
    assert plan.ensemble.used_features.tolist() == [0, 1, 2, 3]
    source = InMemory(table, table, Seal())
    weight = rng.integers(0, 3, size=n) if weighted else None
    counted = count_table(plan, source, weight, None)
    np.testing.assert_array_equal(counted.counts, count(plan, table, weight).counts)
    source.open(plan.ensemble.schema, range(4))
    frame = pd.DataFrame(table, copy=False)
    for column in range(4):
        for row in (0, BLOCK, n - 1):
            other = frame.copy()
            other.iloc[row, column] = not other.iloc[row, column] if other.dtypes[column].kind == "b" else 12345
            with pytest.raises(TableError, match="has other values"):
                count_table(plan, InMemory(other, other, source.seal), weight, None)
    count_table(plan, source, weight, None)


def test_numbers_in_the_other_byte_order_have_not_changed():
    table = np.array([[1.0, np.nan], [2.0, 3.0], [4.0, 0.0]], dtype=">f8")
    model = DecisionTreeRegressor(max_depth=2, random_state=0).fit(table, [0.0, 1.0, 2.0])
    ex = gw.Explainer(model, table)
    ex.partial_dependence(0)
    assert ex.ice(0).heights.shape[0] == 3
    table[0, 0] = 9.0
    with pytest.raises(TableError, match="has changed"):
        ex.ice(0)
