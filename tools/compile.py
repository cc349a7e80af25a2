"""Compile the kernels once, before several processes need them: `python tools/compile.py`.

Asks every kind of question of a few small models. What is compiled is kept on disk; a process that needs a kernel and
finds it there starts at once.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingClassifier, RandomForestRegressor
from xgboost import XGBRegressor

import glasswood as gw


def main() -> None:
    """Ask."""
    start = time.perf_counter()
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 20)), columns=[f"x{k}" for k in range(20)])
    y = X["x0"] * X["x1"] + np.sin(3 * X["x2"]) + X.to_numpy().sum(axis=1) / 9
    table = X[["x0", "x1", "x2"]].assign(kind=pd.Categorical(rng.choice(list("abc"), 400)))
    few = table[["x0", "x1", "x2"]]
    boosted = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype", random_state=0)
    ask_everything(boosted.fit(table, y > 0), table)
    ask_everything(XGBRegressor(n_estimators=5, max_depth=4).fit(few, y), few.astype("float32"))
    ask_everything(RandomForestRegressor(3, max_leaf_nodes=40, random_state=0).fit(few, y), few)
    long = ExtraTreesRegressor(2, max_features=1, random_state=0).fit(X, y)
    ask_about_rows(gw.Explainer(long, X), X[:20])
    ask_about_rows(gw.Explainer(long), X[:20])
    sys.stdout.write(f"kernels compiled in {time.perf_counter() - start:.0f} s\n")


def ask_everything(model: object, table: pd.DataFrame) -> None:
    """Ask for curves, pairs, groups of rows and single rows; with and without weights, rows and probabilities."""
    weights = np.linspace(0.5, 2, len(table))
    for ex in (gw.Explainer(model, table), gw.Explainer(model, table, sample_weight=weights), gw.Explainer(model)):
        dict(ex.partial_dependence())
        dict(ex.joint_partial_dependence())
        ask_about_rows(ex, table[:20])
    ex = gw.Explainer(model, table, response="prediction")
    dict(ex.partial_dependence())
    ex.partial_dependence("x0", "x1")
    ex.ice("x0")
    gw.Explainer(model, table).interaction_strengths()
    groups = gw.summarize(model, table, by=np.arange(len(table)) % 3)
    gw.Explainer(model, next(iter(groups.values()))).partial_dependence("x0")


def ask_about_rows(ex: gw.Explainer, rows: pd.DataFrame) -> None:
    """Ask for all that is about single rows."""
    ex.shap_values(rows)
    ex.banzhaf_values(rows)
    ex.shap_interaction_values(rows)
    ex.interaction_values(rows, max_order=2)


if __name__ == "__main__":
    main()
