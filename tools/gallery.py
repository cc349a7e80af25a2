"""Every figure for four real data sets, as PNG files to look at: python tools/gallery.py FOLDER [--data FOLDER]."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier

import glasswood as gw

Figures = Iterator[tuple[str, Callable[..., Any]]]  # names, and what draws with an engine


def bike_sharing_hour(data: Path) -> Figures:
    """Numbers only; drift from one year to the next; ICE."""
    table = pd.read_parquet(data / "bike_sharing_hour.parquet")
    X = table.drop(columns=["instant", "dteday", "casual", "registered", "cnt"]).astype(float)
    model = HistGradientBoostingRegressor(random_state=0).fit(X, table["cnt"])
    ex: Any = gw.Explainer(model, X)  # a figure may be of one of several results
    yield "page", ex.plot
    yield "curve", ex.partial_dependence("hr").plot
    yield "ice", ex.ice("temp", rows=X[::10]).plot
    yield "surface", lambda **options: ex.partial_dependence("hr", "temp").plot(rows=X, **options)
    yield "mixed", lambda **options: ex.plot(["hr", "temp", ("hr", "temp"), ("hr", "workingday")], **options)
    yield "importance", ex.importance().plot
    strengths = ex.interaction_strengths()
    yield "heatmap", strengths.plot
    yield "network", lambda **options: strengths.plot(kind="network", **options)
    yield "waterfall", lambda **options: ex.interaction_values(X[:20]).plot(8, **options)
    yield "shapley", lambda **options: ex.shap_values(X[:20]).plot(8, **options)
    years = {str(2011 + year): gw.Explainer(model, X[X["yr"] == year]) for year in (0, 1)}
    yield "drift", gw.compare(years).plot
    other = HistGradientBoostingRegressor(max_iter=30, max_leaf_nodes=8, random_state=0).fit(X, table["cnt"])
    yield "models", gw.compare({"100 trees": ex, "30 small trees": gw.Explainer(other, X)}).plot


def adult_census(data: Path) -> Figures:
    """Categories and missing values; log-odds and probabilities; a group of one-hot columns."""
    table = pd.read_parquet(data / "adult_census.parquet")
    X, y = table.drop(columns="income"), table["income"].astype(str).str.contains(">50K")
    model = HistGradientBoostingClassifier(random_state=0, categorical_features="from_dtype").fit(X, y)
    ex: Any = gw.Explainer(model, X)  # a figure may be of one of several results
    yield "page", ex.plot
    yield "page1", lambda **options: ex.plot(page=1, **options)
    yield "categories", lambda **options: ex.partial_dependence("occupation").plot(sort="height", **options)
    yield "probability", gw.Explainer(model, X[::5], response="probability").partial_dependence("age").plot
    yield "ice", ex.ice("occupation", rows=X[::50]).plot
    yield "surface", lambda **options: ex.partial_dependence("age", "occupation").plot(rows=X, **options)
    yield "importance", ex.importance().plot
    yield "network", lambda **options: ex.interaction_strengths(X[::10]).plot(kind="network", **options)
    yield "waterfall", lambda **options: ex.interaction_values(X[:20]).plot(3, **options)
    yield "shapley", lambda **options: ex.shap_values(X[:20]).plot(3, **options)
    groups = {str(sex): gw.Explainer(model, X[X["sex"] == sex]) for sex in X["sex"].cat.categories}
    yield "groups", gw.compare(groups).plot


def covertype(data: Path) -> Figures:
    """Seven classes, of a forest that averages probabilities."""
    table = pd.read_parquet(data / "covertype.parquet")[::20]
    X, y = table.drop(columns="Cover_Type").astype(float), table["Cover_Type"]
    model = RandomForestClassifier(60, max_depth=9, random_state=0, n_jobs=2).fit(X, y)
    ex: Any = gw.Explainer(model, X)  # a figure may be of one of several results
    yield "page", ex.plot
    yield "curve", ex.partial_dependence(str(X.columns[0])).plot
    yield "class", lambda **options: ex.partial_dependence(str(X.columns[0])).plot(output=1, **options)
    yield "surface", lambda **options: ex.plot([(X.columns[0], X.columns[5])], output=1, **options)
    yield "importance", ex.importance().plot
    yield "heatmap", lambda **options: ex.interaction_strengths(X[::20]).plot(**options)
    yield "waterfall", lambda **options: ex.shap_values(X[:20]).plot(3, output=1, **options)


def kdd(data: Path) -> Figures:
    """118 features, most of them of little use, with long tails."""
    table = pd.read_parquet(data / "kddcup99_10_percent.parquet")[::10]
    X = pd.get_dummies(table.drop(columns="label")).astype(float)
    y = table["label"].astype(str).str.strip(".") != "normal"
    model = HistGradientBoostingClassifier(max_iter=60, random_state=0).fit(X, y)
    ex: Any = gw.Explainer(model, X)  # a figure may be of one of several results
    yield "page", ex.plot
    yield "page2", lambda **options: ex.plot(page=2, **options)
    yield "curve", ex.partial_dependence("src_bytes").plot
    yield "surface", lambda **options: ex.plot([("src_bytes", "dst_bytes")], **options)
    yield "importance", ex.importance().plot
    yield "heatmap", lambda **options: ex.interaction_strengths(X[::50]).plot(**options)
    yield "network", lambda **options: ex.interaction_strengths(X[::50]).plot(kind="network", **options)
    yield "waterfall", lambda **options: ex.interaction_values(X[:20], max_order=2).plot(3, **options)


def main() -> None:
    """Write the files."""
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, default=here.parent.parent / "shared" / "data")
    parser.add_argument("--only", default="", help="the beginning of the names of files to write")
    parser.add_argument("--plotly", action="store_true", help="write HTML files of plotly, too")
    parser.add_argument("--style", default="default", help="a style of matplotlib, such as dark_background")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    np.seterr(all="ignore")
    import matplotlib.style

    with matplotlib.style.context(options.style):
        for make in (bike_sharing_hour, adult_census, covertype, kdd):
            if make.__name__.startswith(options.only.split("-")[0]):
                write(make, options)


def write(make: Callable[[Path], Figures], options: argparse.Namespace) -> None:
    """Write the figures of one data set."""
    for name, draw in make(options.data):
        stem = f"{make.__name__}-{name}"
        if stem.startswith(options.only):
            draw().savefig(options.folder / f"{stem}.png", dpi=100)
            if options.plotly:
                draw(engine="plotly").write_html(options.folder / f"{stem}.html", include_plotlyjs="directory")
            sys.stdout.write(f"{stem}\n")


if __name__ == "__main__":
    main()
