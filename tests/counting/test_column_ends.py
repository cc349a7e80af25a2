"""The ends of columns come along with the counts, from any source, and in any parts; figures show them."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor

import glasswood as gw
from glasswood.counting import _job
from glasswood.counting._column_ends import ColumnEnds, EndsSpec, extents_of
from glasswood.counting._job import Job, Sums, add_fragment
from glasswood.counting._partial import Partial
from glasswood.counting._plan import make_plan
from glasswood.engines._local import count, count_groups
from glasswood.engines._pass import Pass
from glasswood.errors import BackgroundError
from glasswood.questions.shapes import _answer as _shapes
from glasswood.tables._columns import CodeColumn, Extent, extent_of
from glasswood.tables._sources import open_source
from helpers.strategies import ensembles

N = 400
ODD = [np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, -5e-324, 1e308, 0.5, 2.0**53 + 2]


def expected(plan, table, weight=None):
    """Return the extents of the rows, column by column."""
    chosen = np.ones(len(table), dtype=bool) if weight is None else np.asarray(weight) > 0
    return {
        int(f): extent_of(table[chosen, f])
        for f in plan.ensemble.used_features
        if not plan.ensemble.schema.columns[f].n_codes
    }


def odd_table(rng, ensemble, n_rows):
    """Return rows of numbers: some columns whole, some with infinities, some all missing."""
    columns = []
    for column in ensemble.schema.columns:
        if isinstance(column, CodeColumn):
            columns.append(rng.integers(0, column.size, n_rows).astype(float))
            continue
        kind = rng.integers(4)
        values = rng.integers(-5, 6, n_rows).astype(float) if kind == 0 else rng.normal(size=n_rows) * 10.0
        if kind == 1:
            values = np.full(n_rows, np.nan)
        if kind == 2:
            values = np.where(rng.random(n_rows) < 0.3, rng.choice(ODD, n_rows), values)
        columns.append(np.where(rng.random(n_rows) < 0.2, np.nan, values))
    return np.column_stack(columns)


@settings(max_examples=60)
@given(ensembles(), st.integers(1, 200), st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_any_parts_in_any_order_have_the_ends_of_the_whole(ensemble, n_rows, seed, weighted, single):
    rng = np.random.default_rng(seed)
    table = odd_table(rng, ensemble, n_rows)
    if single:
        with np.errstate(over="ignore"):
            table = table.astype(np.float32)
    weight = rng.integers(0, 3, n_rows) if weighted else None
    plan, further = make_plan(ensemble, 1, None), (EndsSpec(),)
    whole = count(plan, table, weight, further=further)
    assert extents_of(plan, whole) == expected(plan, table, weight)
    places = np.sort(rng.choice(np.arange(n_rows + 1), size=min(4, n_rows + 1), replace=False))
    spans = [slice(*span) for span in pairwise([0, *places.tolist(), n_rows])]
    rng.shuffle(spans)
    parts = [count(plan, table[at], None if weight is None else weight[at], further=further) for at in spans]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    for name in ("least", "greatest", "whole"):
        np.testing.assert_array_equal(total.vector(name), whole.vector(name))
    assert total == whole
    keys, groups = list("abc"), rng.integers(0, 3, n_rows)
    for key, found in count_groups(plan, table, weight, keys, groups, further).items():
        chosen = groups == keys.index(key)
        assert extents_of(plan, found) == expected(plan, table[chosen], None if weight is None else weight[chosen])


def test_zeros_of_both_signs_are_one_number():
    X = np.array([[-0.0], [0.0], [3.0], [5.0]])
    model = DecisionTreeRegressor(random_state=0).fit(X, X[:, 0])
    plan = make_plan(gw.read_model(model), 1, None)
    one, other = (count(plan, X[rows], further=(EndsSpec(),)) for rows in ([0, 1, 2, 3], [1, 1, 2, 3]))
    assert one.vector("least").tolist() == other.vector("least").tolist() == [0]
    assert extents_of(plan, one) == {0: Extent(0.0, 5.0, whole=True)}
    assert not np.signbit(extents_of(plan, one)[0].least)


@pytest.mark.parametrize("n_rows", [1, 31, 32, 33, 2047, 2049, 70_000])
def test_one_value_anywhere_is_found(n_rows):
    model = DecisionTreeRegressor(random_state=0).fit([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 2, 3])
    plan = make_plan(gw.read_model(model), 1, None)
    for kind, order in ((np.float32, "C"), (np.float64, "C"), (np.float64, "F")):
        for at in {0, n_rows // 2, n_rows - 1}:
            table = np.asarray(np.full((n_rows, 2), 7.0), dtype=kind, order=order)
            table[at] = -0.25, 1e6
            found = extents_of(plan, count(plan, table, further=(EndsSpec(),)))
            assert found == {0: extent_of(table[:, 0]), 1: extent_of(table[:, 1])}


# ---------------------------------------------------------------------------------------------------------- sources


def table():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "age": rng.integers(17, 91, N),
            "rate": rng.uniform(0.01, 0.93, N).astype(np.float32),
            "wealth": rng.normal(size=N) * 1e4,
            "empty": np.nan,
            "kind": pd.Categorical(rng.choice(["x", "y", "z"], size=N)),
            "w": rng.choice([0.0, 1.0, 0.3, 1e-9, 1e9], size=N),
            "zero": 0.0,
        }
    )
    rows.loc[::7, "rate"] = np.nan
    rows.loc[5, "wealth"] = np.inf
    rows.loc[3, "age"], rows.loc[3, "w"] = 101, 0.0
    return rows


FEATURES = ["age", "rate", "wealth", "empty", "kind"]


@pytest.fixture(scope="module")
def model():
    rows = table()
    trained = rows.assign(empty=np.arange(N) % 13.0)[FEATURES]
    y = rows["age"] / 20 + 9 * rows["rate"].fillna(0) + 3 * np.tanh(rows["wealth"] / 1e4) + trained["empty"] / 3
    settings = {"max_iter": 20, "categorical_features": "from_dtype", "random_state": 0}
    found = gw.read_model(HistGradientBoostingRegressor(**settings).fit(trained, y + 3.0 * (rows["kind"] == "x")))
    assert found.used_features.size == len(FEATURES)
    return found


def parquet(rows, tmp_path):
    rows.to_parquet(tmp_path / "rows.parquet", row_group_size=70)
    return str(tmp_path / "rows.parquet")


def stream(rows, _):
    return pa.Table.from_pandas(rows).to_reader(max_chunksize=90)


def frames(rows, _):
    return [rows[first : first + 60] for first in range(0, N, 60)]


SOURCES = [parquet, stream, frames, lambda rows, _: iter(frames(rows, _)), lambda rows, _: rows]


def ends_of(explainer):
    """Return the extent of each feature as curves have it."""
    return {name: explainer.partial_dependence(name).axis.find_extent() for name in FEATURES}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("weight", [None, "w", "zero"])
def test_sources_have_the_ends_of_tables_in_memory(source, weight, model, tmp_path):
    rows = table()
    counts = gw.summarize(model, source(rows, tmp_path), sample_weight=weight)
    plan = make_plan(model, 1, None)
    chosen = rows if weight is None else rows[rows[weight] > 0]
    known = {name: extent_of(chosen[name].to_numpy(np.float64)) for name in FEATURES[:4]}
    assert extents_of(plan, counts) == {FEATURES.index(name): extent for name, extent in known.items()}
    if weight == "zero":
        return
    assert known["age"] == Extent(17, 101 if weight is None else 90, whole=True)
    assert known["wealth"].greatest == np.inf
    assert known["empty"] is None
    counts.save(tmp_path / "counts.gw")
    spec = known | {"kind": None}
    for background in (rows, counts, gw.Background.load(tmp_path / "counts.gw"), source(rows, tmp_path)):
        further = {} if isinstance(background, gw.Background) else {"sample_weight": weight}
        assert ends_of(gw.Explainer(model, background, **further)) == spec


@pytest.mark.parametrize("source", SOURCES)
def test_groups_of_rows_have_ends_of_their_own(source, model, tmp_path):
    rows, plan = table(), make_plan(model, 1, None)
    rows["group"] = np.where(np.arange(N) < 5, "few", np.where(rows["w"] > 0.5, "heavy", "light"))
    rows.loc[rows["group"] == "light", "w"] = 0.0  # a group of no weight
    for weight in (None, "w"):
        found = gw.summarize(model, source(rows, tmp_path), by="group", sample_weight=weight)
        assert set(found) == {"few", "heavy", "light"}
        for key, counts in found.items():
            own = rows[(rows["group"] == key) & (True if weight is None else rows["w"] > 0)]
            known = [extent_of(own[name].to_numpy(np.float64)) for name in FEATURES[:4]]
            assert extents_of(plan, counts) == dict(enumerate(known))


def test_workers_send_ends_with_their_counts(model, tmp_path, monkeypatch):
    """A job goes to workers as bytes, and partial sums come back as bytes."""
    monkeypatch.setattr(_job, "BATCH", 64)
    rows, plan = table(), make_plan(model, 1, None)
    source = open_source(parquet(rows, tmp_path))
    job = Pass(source)._job(plan, "w", None, (EndsSpec(),))
    shipped = pickle.loads(pickle.dumps(job.ship())).open()
    assert isinstance(shipped, Job)
    assert shipped.key == job.key != Pass(source)._job(plan, "w", None, ()).key
    parts = []
    for fragment in reversed(source.fragments):
        sums = Sums(shipped)
        add_fragment(sums, fragment)
        parts.append(Partial.unpack(sums.partial().pack())[0])
    slices = [Partial.sum(some) for some in zip(*(part.slices(3) for part in parts), strict=True)]
    found = Partial.join(slices)
    tally = shipped.counter.start()
    for plane in found.tallies.values():
        tally += plane
    direct = gw.summarize(model, rows, sample_weight="w")
    for name in ("least", "greatest", "whole"):
        np.testing.assert_array_equal(tally.vectors[name], direct.vector(name))


def test_a_model_without_columns_of_numbers(tmp_path):
    X = pd.DataFrame({"kind": pd.Categorical(list("xyzx") * 30)})
    settings = {"max_iter": 2, "categorical_features": "from_dtype"}
    model = HistGradientBoostingRegressor(**settings).fit(X, (X["kind"] == "x") * 1.0)
    counts = gw.summarize(model, X)
    assert ColumnEnds(make_plan(gw.read_model(model), 1, None)).features.size == 0
    assert counts.vector("least").size == 0
    counts.save(tmp_path / "x.gw")
    loaded = gw.Background.load(tmp_path / "x.gw")
    assert loaded == counts
    assert gw.Explainer(model, loaded).partial_dependence("kind").ends is None


# ------------------------------------------------------------------------------------------------ sums, differences


def test_a_difference_has_no_ends_and_a_sum_has_those_of_both(model):
    rows, plan = table(), make_plan(model, 1, None)
    one, two, three = (gw.summarize(model, rows[at]) for at in (slice(150), slice(150, 300), slice(300, None)))
    whole = gw.summarize(model, rows)
    assert extents_of(plan, one + two + three) == extents_of(plan, whole)
    assert one + two + three == whole
    left = whole - one
    assert left == two + three  # of what both have
    assert left.vectors.keys() == {"counts", "cells"}
    assert extents_of(plan, left) == {}
    for name in ("least", "greatest", "whole"):
        with pytest.raises(BackgroundError, match=f"no '{name}', only 'counts', 'cells': .* Summarize the rows again"):
            left.vector(name)
    assert left + one == whole  # a window that moves on
    for found in (left + one, left - two, whole - left):
        assert found.vectors.keys() == left.vectors.keys()
    assert gw.Explainer(model, left + one).partial_dependence("age").ends is None


def test_other_ends_are_not_equal(model):
    rows = table()
    one = gw.summarize(model, rows)
    higher = one.vector("greatest") + 1
    assert one != replace(one, vectors={**one.vectors, "greatest": higher})


# ---------------------------------------------------------------------------------------------------------- figures


@pytest.mark.parametrize("source", SOURCES[:3])
def test_panels_are_those_of_tables_in_memory(source, model, tmp_path):
    rows = table()
    inside = gw.Explainer(model, rows)
    outside = [gw.Explainer(model, source(rows, tmp_path)), gw.Explainer(model, gw.summarize(model, rows, order=2))]
    for name in FEATURES:
        for explainer in outside:
            assert explainer.partial_dependence(name).panel() == inside.partial_dependence(name).panel()
    panel = outside[1].partial_dependence("age").panel()
    assert (panel.x.edges[0], panel.x.edges[-1]) == (16.5, 101.5)  # whole numbers
    assert panel.x.open_ends == (False, False)
    left = gw.Explainer(model, gw.summarize(model, rows) - gw.summarize(model, rows[:9]))
    assert left.partial_dependence("age").panel().x.open_ends == (True, True)
    surfaces = [explainer.partial_dependence("age", "rate").panel() for explainer in (inside, outside[1])]
    assert (surfaces[0].x, surfaces[0].y) == (surfaces[1].x, surfaces[1].y)


def test_rows_are_not_read_again_for_spikes_where_ends_are_finite(model, tmp_path, monkeypatch):
    rows = table()
    explainer = gw.Explainer(model, parquet(rows, tmp_path))
    read, again = [], _shapes.finite_ends

    def noted(study, features):
        read.append(features)
        return again(study, features)

    monkeypatch.setattr(_shapes, "finite_ends", noted)
    found = explainer.spikes(points=5)
    assert read == [[FEATURES.index("wealth"), FEATURES.index("empty")]]
    assert found.entries == gw.Explainer(model, rows).spikes(points=5).entries
    assert found.basis == "rows"
    counts = gw.Explainer(model, gw.summarize(model, rows))
    inside = gw.Explainer(model, rows).spikes("age", "rate", points=5)
    assert counts.spikes("age", "rate", points=5).entries == inside.entries
    assert counts.spikes("age", "rate").basis == "rows"
    assert counts.spikes("age", "rate").caveat == ""
    assert counts.spikes("age", "wealth").basis == "counts"
    assert "of some features from the first to the last cut" in repr(counts.spikes("age", "wealth"))


def test_rows_of_no_weight_do_not_widen_the_range_of_spikes(model, tmp_path):
    rows = table()
    rows.loc[7, "wealth"], rows.loc[7, "w"] = 1e9, 0.0  # beside an infinite value of some weight
    rows.loc[5, "w"] = 1.0
    found = [
        gw.Explainer(model, background, sample_weight="w").spikes("age", "wealth", points=4)
        for background in (rows, parquet(rows, tmp_path), rows[rows["w"] > 0])
    ]
    assert found[0].entries == found[2].entries
    np.testing.assert_allclose([one.by for one in found[1]], [one.by for one in found[0]])
