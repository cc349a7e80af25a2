"""What is frozen where capabilities meet: local effects, proofs, rating tables, targets, folds, offsets, sources."""

from __future__ import annotations

import warnings
from functools import partial
from inspect import signature
from pathlib import Path

import numpy as np
from tests.contract.describe import describe
from tests.contract.kinds import KINDS, fit_of, model_of
from tests.contract.tables import HALF, column, frame

import glasswood as gw

EXPOSURE, WEIGHT = column("weight"), column("share")
OFFSET = np.log(EXPOSURE) / 4
AGES = {"age": [30.0, 45.0, 60.0]}
ALL = {
    "importance": {},
    "permutation_importance": {"loss": "squared_error"},
    "row_monotonicity": {},
    "ale": {"bins": 4},
}


def _explain(kind, **options):
    return gw.Explainer(model_of(kind), frame(KINDS[kind].columns), **options)


def _file(kind, folder, *more):
    path = Path(folder) / f"{kind}.parquet"
    if not path.exists():
        frame((*KINDS[kind].columns, *more)).to_parquet(path, row_group_size=16)
    return str(path)


def _of_files(kind, folder, **options):
    return gw.Explainer(model_of(kind), _file(kind, folder, "weight", "price", "region"), **options)


def _counted(kind, folder, **options):
    # what no Background has is refused
    background = gw.summarize(model_of(kind), _file(kind, folder, "weight", "price", "region"), **options)
    background.save(Path(folder) / f"{kind}.gw")
    return gw.Explainer(model_of(kind), gw.Background.load(Path(folder) / f"{kind}.gw"))


# How an Explainer is made, given a folder for files.
EXPLAINERS = {
    "rows": lambda folder: _explain("hist_categories", target=column("price")),
    "folds": lambda folder: _explain("hist_regressor", sample_weight=EXPOSURE, target=column("price"), folds=4),
    "exposure and offset": lambda folder: _explain(
        "hist_poisson", target=column("visits"), exposure=EXPOSURE, offset=OFFSET, response="prediction"
    ),
    "exposure, offset and folds": lambda folder: _explain(
        "hist_poisson",
        target=column("visits"),
        exposure=EXPOSURE,
        offset=OFFSET,
        sample_weight=WEIGHT,
        response="prediction",
        folds=3,
    ),
    "exposure on the raw scale": lambda folder: _explain(
        "hist_poisson", target=column("visits"), exposure=EXPOSURE, response="raw"
    ),
    "classes": lambda folder: _explain("forest_multiclass", target=column("kind"), folds=3),
    "probability": lambda folder: _explain("hist_binary", response="probability", target=column("bought"), folds=3),
    "groups of columns": lambda folder: _explain(
        "hist_regressor", groups={"together": ["age", "income"]}, target=column("price")
    ),
    "groups of rows": lambda folder: _InGroups(_explain("hist_regressor", target=column("price")), column("region")),
    "a pipeline": lambda folder: _explain("pipeline_regressor", target=column("price")),
    "a combination": lambda folder: _explain("voting_binary", target=column("bought")),
    "files": lambda folder: _of_files("xgboost_regressor", folder, sample_weight="weight", target="price", folds=3),
    "groups of files": lambda folder: _InGroups(_of_files("lightgbm_categories", folder, target="price"), "region"),
    "counts": lambda folder: _counted("xgboost_regressor", folder, target="price", folds=3, answers=ALL),
    "counts of pairs": lambda folder: _counted("xgboost_regressor", folder, order=2, sample_weight="weight"),
    "covers": lambda folder: gw.Explainer(model_of("xgboost_regressor")),
}


class _InGroups:
    """An Explainer of which every question is asked by group of rows."""

    def __init__(self, explainer, by):
        self._explainer, self._by = explainer, by

    def __getattr__(self, name):
        method = getattr(self._explainer, name)
        return partial(method, by=self._by) if "by" in signature(method).parameters else method


def _each(answer, of):
    """Return something of an answer, or of that of each group of rows."""
    return {str(key): of(own) for key, own in answer.items()} if isinstance(answer, gw.Grouped) else of(answer)


def _tables_of(table):
    rows = {"base": table.base, "left": table.left, "n_entries": table.n_entries, "exact": table.exact}
    return rows | {"entries": table.to_frame(), "sql": table.to_sql()}


def _observed(curve):
    found = curve.observations
    names = ("observed", "predicted", "residual", "actual_expected", "spread")
    numbers = {name: getattr(found, name).ravel() for name in names}
    numbers["exposure"] = np.repeat(found.exposure, len(found.outputs))
    if found.folds:
        numbers |= {f"{name}_error": found.error(name).ravel() for name in ("observed", "residual")}
    return {"numbers": numbers, "error": _asked(lambda found: {"error": found.error()}, found)}


# What is asked: each question returns a result, or plain data.
QUESTIONS = {
    "curve": lambda ex: ex.partial_dependence("age"),
    "curve minus the mean": lambda ex: ex.partial_dependence("age", centered="mean"),
    "curve on a grid": lambda ex: ex.partial_dependence("age", grid=3),
    "pair on a grid": lambda ex: ex.partial_dependence("age", "income", grid=("quantiles", 3)),
    "features at values": lambda ex: ex.partial_dependence(at=AGES),
    "surface": lambda ex: ex.partial_dependence("age", "income"),
    "observed": lambda ex: _each(ex.partial_dependence("age"), _observed),
    "relativity": lambda ex: _each(ex.partial_dependence("age"), lambda curve: curve.relativity()),
    "local effects": lambda ex: ex.ale("age", bins=4),
    "local effects of all": lambda ex: ex.ale(bins=4),
    "local effects of a pair": lambda ex: ex.ale("age", "income", bins=4),
    "importance": lambda ex: ex.importance(),
    "main importance": lambda ex: ex.importance(kind="main"),
    "permutation importance": lambda ex: ex.permutation_importance(loss="squared_error"),
    "permutation importance by its default": lambda ex: ex.permutation_importance(),
    "strengths": lambda ex: ex.interaction_strengths(),
    "H": lambda ex: ex.h_statistics(),
    "purified": lambda ex: ex.purified_effects(("age", "income")),
    "monotonicity": lambda ex: ex.monotonicity(),
    "monotonicity of rows": lambda ex: ex.row_monotonicity(),
    "certificate": lambda ex: ex.certificate(),
    "spikes": lambda ex: ex.spikes(points=5),
    "rating table": lambda ex: _tables_of(ex.rating_table(pairs=1)),
    "signed means": lambda ex: _each(ex.interaction_values(frame(ROWS)[:5]), lambda found: found.signed_mean()),
    "ice": lambda ex: ex.ice("age", at={"age": [30.0, 50.0]}),
}
ROWS = tuple({name: None for kind in KINDS.values() for name in kind.columns})


def _of_sources(folder):
    """Return values of all rows of files."""
    ex, path = _of_files("xgboost_regressor", folder), _file("xgboost_regressor", folder, "weight", "price", "region")
    pieces = {
        "shapley": lambda: ex.shap_values(path).mean_abs(),
        "interactions": lambda: ex.interaction_values(path, max_order=2).mean_square(),
        "signed means": lambda: ex.interaction_values(path, max_order=2).signed_mean(),
        "shapley of each row": lambda: _columns(ex.shap_values(path)),
        "ice": lambda: _columns(ex.ice("age", rows=path, at=AGES)),
        "largest of each row": lambda: _columns(ex.shap_values(path).top_per_row(2)),
    }
    return {name: _asked(lambda ask: ask(), ask) for name, ask in pieces.items()}


def _columns(values):
    """Return the columns of the answers about rows, as arrays; texts as they are."""
    columns = {}
    for block in values.blocks():
        for name, own in block.to_pydict().items():
            columns.setdefault(name, []).extend(own)
    return {
        name: np.array(own) if np.ndim(own[0]) == 0 else np.array(list(map(np.array, own)))
        for name, own in columns.items()
    }


def _compared():
    """Return what a comparison measures."""
    price = column("price")
    parts = {"first": slice(HALF), "second": slice(HALF, None)}
    explainers = {
        name: gw.Explainer(
            model_of("hist_categories"),
            frame(KINDS["hist_categories"].columns, rows),
            target=price[rows],
            exposure=EXPOSURE[rows],
            folds=3,
        )
        for name, rows in parts.items()
    }
    limits = ["psi > 0.1", "level > 0.05", "difference > 0.1", "observed > 0.05", "ndcg < 0.99", "age: psi > 0"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few rows
        found = gw.compare(explainers, reference="first", limits=limits)
    return {"measures": found.measures.to_dicts(), "violations": found.violations.to_dicts()}


def _asked(ask, ex):
    """Return an answer as plain data; of a refusal, the type of the error."""
    try:
        return describe(ask(ex), exact=False)
    except gw.errors.GlasswoodError as error:
        return {"error": type(error).__name__}


def crossings(folder):
    """Return the answers of all questions, however the Explainer is made."""
    found = {}
    for name, make in EXPLAINERS.items():
        ex = make(folder)
        found[name] = {question: _asked(ask, ex) for question, ask in QUESTIONS.items()}
    kinds = ("hist_categories", "hist_regressor", "hist_poisson", "forest_multiclass", "hist_binary")
    fits = {kind: fit_of(kind) for kind in (*kinds, "pipeline_regressor", "voting_binary")}
    return {"fits": fits, **found, "rows of files": _of_sources(folder), "comparison": _compared()}
