"""Rows in pairs of cells, as a statistic: against NumPy, and how sums of them combine."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest

import glasswood as gw
from glasswood.counting._plan import make_plan
from glasswood.effects._joint_counts import JointCounts, JointSpec
from glasswood.engines._pass import Pass
from glasswood.tables._sources import open_source


@pytest.fixture(scope="module")
def case():
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(9000, 3)), columns=list("abc"))
    X.loc[generator.random(9000) < 0.1, "b"] = np.nan
    X["kind"] = pd.Categorical(generator.choice(list("xyz"), 9000))
    model = gw.read_model(lgb.LGBMRegressor(n_estimators=5, verbose=-1).fit(X, X.a * X.b.fillna(0) + (X.kind == "x")))
    return model, X, generator.integers(0, 2**40, 9000)


@pytest.mark.parametrize("weighted", [False, True])
def test_tables(case, weighted):
    model, X, weight = case
    plan, spec = make_plan(model, 1, {}), JointSpec(((0, 1), (1, 3)))
    found = Pass(open_source(X)).count(plan, weight if weighted else None, further=(spec,))
    tables = JointCounts(plan, spec).tables_of(found.vectors[spec.key])
    cells = {f: plan.cells.locate(f, model.schema.columns[f].encode(X.iloc[:, f])) for f in (0, 1, 3)}
    for (a, b), table in zip(spec.pairs, tables, strict=True):
        expected = np.zeros(table.shape, dtype=np.int64)
        np.add.at(expected, (cells[a], cells[b]), weight if weighted else 1)
        assert np.array_equal(table, expected)
        assert table.sum() == (weight.sum() if weighted else len(X))
