"""What type checkers know of results: checked by mypy and pyright (`.ci/lint`), run by project/test_types.py."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_type

import numpy as np
from numpy.typing import NDArray

import glasswood as gw
from glasswood.questions.ale import Ale, Ales, AleSurface
from glasswood.questions.importance import Importance

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from plotly.graph_objects import Figure as PlotlyFigure

FloatOrArray = np.float64 | NDArray[np.float64]


def curves(ex: gw.Explainer) -> None:
    curve = assert_type(ex.partial_dependence("a"), gw.Curve)
    assert_type(curve.values, NDArray[np.float64])
    assert_type(curve.missing, FloatOrArray)
    assert_type(ex.partial_dependence("a", grid=5), gw.Points)
    assert_type(ex.partial_dependence("a", at={"a": [1.0]}), gw.Points)
    assert_type(ex.partial_dependence("a", centered=True), gw.Curve)
    assert_type(ex.partial_dependence("a", "b"), gw.Surface)
    assert_type(ex.partial_dependence("a", "b", grid=5), gw.Points)
    assert_type(ex.partial_dependence(), gw.Curves[gw.Curve])
    assert_type(ex.partial_dependence()["a"], gw.Curve)
    assert_type(ex.partial_dependence(["a", ("a", "b")]), gw.Curves[gw.Curve | gw.Surface])
    assert_type(ex.joint_partial_dependence(), gw.Curves[gw.Surface])
    assert_type(ex.joint_partial_dependence(grid=5), gw.Curves[gw.Points])
    groups = assert_type(ex.partial_dependence("a", by="c"), gw.Grouped[gw.Curve | gw.Points])
    assert_type(next(iter(groups.values())), gw.Curve | gw.Points)


def values(ex: gw.Explainer, rows: NDArray[np.float64], files: Path) -> None:
    found = assert_type(ex.shap_values(rows), gw.Attributions)
    assert_type(found.base_values, float | NDArray[np.float64])
    assert_type(ex.shap_values(files), gw.SourceValues)
    assert_type(ex.banzhaf_values(str(files)), gw.SourceValues)
    assert_type(ex.interaction_values(rows, max_order=2), gw.Interactions)
    assert_type(ex.evaluate(gw.metrics.BanzhafInteractions(), rows), gw.Interactions)
    assert_type(ex.ice("a", rows=rows), gw.Ice)


def others(ex: gw.Explainer) -> None:
    assert_type(ex.importance(), Importance)
    assert_type(ex.importance(by="c"), gw.Grouped[Importance])
    assert_type(ex.ale("a"), Ale)
    assert_type(ex.ale("a", "b"), AleSurface)
    assert_type(ex.ale(), Ales)
    assert_type(ex.ale()["a"], Ale)


def backgrounds(model: object, rows: NDArray[np.float64]) -> None:
    assert_type(gw.summarize(model, rows), gw.Background)
    listed = gw.summarize(model, rows, by=["x" if row else "y" for row in range(len(rows))], order=2)
    assert_type(next(iter(listed.values())), gw.Background)


def frames(ex: gw.Explainer) -> tuple[pd.DataFrame, pl.DataFrame, pa.Table]:
    assert_type(ex.importance().to_frame("polars"), "pl.DataFrame")
    curve, curves = ex.partial_dependence("a"), ex.partial_dependence()
    return curve.to_frame("pandas"), curves.to_frame("polars"), ex.interaction_strengths().to_frame("pyarrow")


def figures(ex: gw.Explainer, ax: Axes) -> tuple[Figure, PlotlyFigure, Axes, Any]:
    curve, curves = ex.partial_dependence("a"), ex.partial_dependence(["a", "b"])
    return curve.plot(std=True), curves.plot(backend="plotly"), curve.plot(ax=ax, title="A title"), ex.plot(page=0)
