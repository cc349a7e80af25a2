"""Every public question, of a pipeline and of its bare model with transformed columns: the same answers.

Each column of the table becomes one column of the same name, so that both have the same features. Texts are categories
for the pipeline and codes for the bare model: curves are compared at the values of the rows.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, PowerTransformer, StandardScaler

import glasswood as gw

SCALED = ["age", "hours"]
NUMBERS = [*SCALED, "pay"]
NAMES = [*NUMBERS, "city"]
N_ROWS = 800


class Asked:
    """A model with its rows in its own columns; the groups and weights beside them are the same for both."""

    def __init__(self, model, table, folder):
        self.model, self.table, self.folder = model, table, folder
        self.rows = table[NAMES]

    def explainer(self, scale="raw", **options):
        return gw.Explainer(self.model, self.table, response=scale, **options)


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The pipeline with the user's columns, and its model with the transformed ones."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(17, 90, N_ROWS),
            "hours": rng.normal(40, 10, N_ROWS),
            "pay": rng.exponential(10, N_ROWS),
            "city": rng.choice(["a", "b", "c", "d"], N_ROWS),
        }
    ).astype({"city": object})
    y = (X["age"] * 0.05 + np.cos(X["hours"] / 5) + (X["city"] == "a") * X["pay"] / 10 > 2).astype(int)
    X.loc[rng.random(N_ROWS) < 0.1, "hours"] = np.nan
    steps = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), SCALED),
        (PowerTransformer(), ["pay"]),
        (OrdinalEncoder(), ["city"]),
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    pipeline = make_pipeline(steps, HistGradientBoostingClassifier(max_iter=20, random_state=0)).fit(X, y)
    more = {"group": rng.choice(["p", "q"], N_ROWS), "weight": rng.integers(1, 5, N_ROWS)}
    folder = tmp_path_factory.mktemp("pipelines")
    return (
        Asked(pipeline, X.assign(**more), folder / "pipeline.parquet"),
        Asked(pipeline[-1], pipeline[:-1].transform(X).assign(**more), folder / "bare.parquet"),
    )


def at_rows(curves, rows):
    return np.stack([curves[name](rows[name]) for name in NAMES])


def curves_of(ex, rows):
    return at_rows(ex.partial_dependence(), rows)


def surface(asked, scale):
    found = asked.explainer(scale).partial_dependence("pay", "city")
    return [found(x, z) for x, z in zip(asked.rows["pay"][:50], asked.rows["city"][:50], strict=True)]


def joint(asked, scale):
    found = asked.explainer(scale).joint_partial_dependence()
    rows = asked.rows[:20]
    return [[found[a, b](x, z) for x, z in zip(rows[a], rows[b], strict=True)] for a, b in found]


def monotonicity(asked, scale):
    found = asked.explainer(scale).monotonicity()
    of = {name: (found[name] == "increasing", *found.against[at]) for at, name in enumerate(found.names)}
    return [of[name] for name in NUMBERS]


def spikes(asked, scale):
    """Those of columns that are scaled: evenly spaced points of others are others after their transformation."""
    return [spike.height for spike in asked.explainer(scale).spikes(points=5) if spike.feature in SCALED]


def from_file(asked, scale):
    asked.table.to_parquet(asked.folder)
    return curves_of(gw.Explainer(asked.model, asked.folder, response=scale), asked.rows)


def from_background(asked, scale):
    parts = [gw.summarize(asked.model, part, response=scale) for part in (asked.table[:300], asked.table[300:])]
    saved = asked.folder.with_suffix(f".{scale}.gw")
    (parts[0] + parts[1]).save(saved)
    return curves_of(gw.Explainer(asked.model, gw.Background.load(saved), response=scale), asked.rows)


def groups(asked, scale):
    found = gw.summarize(asked.model, asked.table, by="group", sample_weight="weight", response=scale)
    return [curves_of(gw.Explainer(asked.model, found[key], response=scale), asked.rows) for key in ("p", "q")]


def comparison(asked, scale):
    one, other = (asked.explainer(scale) for _ in range(2))
    half = gw.Explainer(asked.model, asked.table[: N_ROWS // 2], response=scale)
    found = gw.compare({"one": one, "other": other, "half": half})
    # The pipeline counts missing hours and cities by themselves, the bare model what these were replaced with.
    shift = dict(zip(found.features, found.shift, strict=True))
    return [*found.difference.ravel(), *found.largest.ravel(), shift["age"], shift["pay"]]


# The questions that have an answer on every scale, and those of the raw scale only.
ON_EVERY_SCALE = {
    "partial_dependence()": lambda asked, scale: curves_of(asked.explainer(scale), asked.rows),
    "partial_dependence(a, b)": surface,
    "partial_dependence(a, b, c, at=rows)": lambda asked, scale: (
        asked.explainer(scale).partial_dependence("age", "pay", "city", at=asked.rows[:20]).values
    ),
    "joint_partial_dependence()": joint,
    "ice(a)": lambda asked, scale: asked.explainer(scale).ice("pay").values,
    "ice(a, b, at=rows)": lambda asked, scale: (
        asked.explainer(scale).ice("age", "city", rows=asked.rows[:9], at=asked.rows[:7]).values
    ),
    "Curve.std()": lambda asked, scale: asked.explainer("probability").partial_dependence("pay").std(),
    "importance()": lambda asked, scale: asked.explainer(scale).importance().values,
    "monotonicity()": monotonicity,
    "spikes()": spikes,
    "compare()": comparison,
    "sample_weight=": lambda asked, scale: curves_of(asked.explainer(scale, sample_weight="weight"), asked.rows),
    "by=": lambda asked, scale: [
        found(asked.rows["age"]) for found in asked.explainer(scale).partial_dependence("age", by="group").values()
    ],
    "summarize(by=, sample_weight=)": groups,
    "Parquet": from_file,
    "Background, + and save": from_background,
}
RAW_ONLY = {
    "joint_partial_dependence(grid=)": lambda asked: np.stack(
        list(
            asked.explainer()
            .joint_partial_dependence(grid={name: asked.rows[name][:4] for name in NAMES})
            .grid_values.values()
        )
    ),
    "interaction_values()": lambda asked: asked.explainer().interaction_values(asked.rows[:9], max_order=2).values,
    "evaluate(BanzhafInteractions())": lambda asked: (
        asked.explainer().evaluate(gw.metrics.BanzhafInteractions(), asked.rows[:9]).values
    ),
    "shap_values()": lambda asked: asked.explainer().shap_values(asked.rows[:9]).values,
    "banzhaf_values()": lambda asked: asked.explainer().banzhaf_values(asked.rows[:9]).values,
    "shap_interaction_values()": lambda asked: asked.explainer().shap_interaction_values(asked.rows[:9]).values,
    "interaction_strengths()": lambda asked: asked.explainer().interaction_strengths().values,
    "interaction_strengths(rows)": lambda asked: asked.explainer().interaction_strengths(asked.rows[:9]).values,
}


@pytest.mark.parametrize("scale", ["raw", "probability"])
@pytest.mark.parametrize("question", ON_EVERY_SCALE)
def test_on_every_scale(question, scale, both):
    pipeline, bare = (ON_EVERY_SCALE[question](asked, scale) for asked in both)
    assert np.size(pipeline) > 0
    np.testing.assert_allclose(pipeline, bare, rtol=0, atol=1e-13)


@pytest.mark.parametrize("question", RAW_ONLY)
def test_on_the_raw_scale(question, both):
    pipeline, bare = (RAW_ONLY[question](asked) for asked in both)
    assert np.size(pipeline) > 0
    np.testing.assert_allclose(pipeline, bare, rtol=0, atol=1e-13)
