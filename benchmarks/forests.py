"""Default forests of scikit-learn, which have unbounded trees: time and peak memory of every question, each asked anew.

Each figure is taken in a process of its own, which reads the model, counts the rows and answers one question. A
question that takes more than FORESTS_LIMIT (300) seconds, or 20 GB, is ended.
"""

from __future__ import annotations

import io
import itertools
import multiprocessing
import os
import pickle
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from data import california, covertype
from measure import GIGABYTE, MEGABYTE, Figure, Report, memory, run
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor

import glasswood as gw

LIMIT = float(os.environ.get("FORESTS_LIMIT", "300"))  # seconds
MAX_MEMORY = 20 * GIGABYTE
Question = Callable[[Any, pd.DataFrame], dict[str, float]]


# ------------------------------------------------------------------------------------------------ questions


def saved(figure: Any) -> None:
    """Draw a figure, as a notebook would."""
    import matplotlib.pyplot as plt

    figure.savefig(io.BytesIO(), format="png")
    plt.close(figure)


def one_output(ex: gw.Explainer) -> dict[str, Any]:
    """Return the argument that chooses an output of several."""
    return {"output": ex.outputs[0]} if len(ex.outputs) > 1 else {}


def curves(model: Any, X: pd.DataFrame) -> dict[str, float]:
    gw.Explainer(model, X).partial_dependence()
    return {}


def curves_drawn(model: Any, X: pd.DataFrame) -> dict[str, float]:
    saved(gw.Explainer(model, X).plot())
    return {}


def surfaces(model: Any, X: pd.DataFrame) -> dict[str, float]:
    ex = gw.Explainer(model, X)
    ranked = list(ex.importance().names)
    laps = []
    for pair in itertools.islice(itertools.combinations(ranked[:5], 2), 10):
        start = time.perf_counter()
        saved(ex.partial_dependence(*pair, **one_output(ex)).plot())
        laps.append(time.perf_counter() - start)
    return {"slowest surface after the first": max(laps[1:])}


def importance(model: Any, X: pd.DataFrame) -> dict[str, float]:
    gw.Explainer(model, X).importance()
    return {}


def strengths(model: Any, X: pd.DataFrame) -> dict[str, float]:
    gw.Explainer(model, X).interaction_strengths()
    return {}


def ice(model: Any, X: pd.DataFrame) -> dict[str, float]:
    ex = gw.Explainer(model, X)
    name = ex.importance().names[0]
    start = time.perf_counter()
    found = ex.ice(name, rows=X[:1000], **one_output(ex))
    computed = time.perf_counter() - start
    saved(found.plot())
    return {"of it, computed": computed, "of it, drawn": time.perf_counter() - start - computed}


def report_page(model: Any, X: pd.DataFrame) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(gw.Explainer(model, X).report(f"{folder}/report.html"))
        return {"megabytes of the page": path.stat().st_size / MEGABYTE}


QUESTIONS: dict[str, Question] = {
    "curves": curves,
    "curves drawn": curves_drawn,
    "ten surfaces drawn": surfaces,
    "importance": importance,
    "interaction strengths": strengths,
    "ICE of 1,000 rows drawn": ice,
    "report": report_page,
}


def one_row(model: Any, X: pd.DataFrame) -> dict[str, float]:
    ex, row = gw.Explainer(model, X[:1000]), X[5000:5001] if len(X) > 5000 else X[-1:]
    ex.shap_values(row)
    again = min(_seconds(lambda: ex.shap_values(row)) for _ in range(5))
    theirs = _seconds_of_shap(model, X[:1000], row)
    return {"asked again": again} | ({"shap, all 1,000 background rows": theirs} if theirs == theirs else {})


def many_rows(model: Any, X: pd.DataFrame) -> dict[str, float]:
    gw.Explainer(model, X[:1000]).shap_values(X[-1000:])
    return {}


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _seconds_of_shap(model: Any, background: pd.DataFrame, row: pd.DataFrame) -> float:
    """Return the time of the package shap; NaN without it. By itself it would take 100 of the background rows only."""
    if isinstance(model, ExtraTreesRegressor):
        return float("nan")  # shap 0.51 ends the process
    try:
        import shap
    except ImportError:
        return float("nan")
    masker = shap.maskers.Independent(background, max_samples=len(background))
    explainer = shap.TreeExplainer(model, masker, feature_perturbation="interventional")
    return min(_seconds(lambda: explainer.shap_values(row, check_additivity=False)) for _ in range(2))


SHAPLEY: dict[str, Question] = {
    "Shapley values of a row against 1,000": one_row,
    "Shapley values of 1,000 rows against 1,000": many_rows,
}


# ------------------------------------------------------------------------------------------------ measuring


def answer(path: str, what: str, sent: Any) -> None:
    """Answer one question about a model in a file, and send the time, the peak memory and other figures."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    model, X = pickle.loads(Path(path).read_bytes())
    before = memory("VmRSS")
    try:
        start = time.perf_counter()
        others = {**QUESTIONS, **SHAPLEY}[what](model, X)
        sent.send({"seconds": time.perf_counter() - start, "others": others, "before": before, "peak": memory("VmHWM")})
    except Exception as error:  # noqa: BLE001 (the table says how it failed)
        sent.send({"error": f"{type(error).__name__}: {error}".splitlines()[0][:80]})


def asked(path: str, what: str) -> dict[str, Any]:
    """Return the figures of a question that is asked in a process of its own."""
    context = multiprocessing.get_context("spawn")
    received, sent = context.Pipe(duplex=False)
    process = context.Process(target=answer, args=(path, what, sent))
    process.start()
    sent.close()
    try:
        found: dict[str, Any] = received.recv() if received.poll(LIMIT) else {"error": f"more than {LIMIT:g} s"}
    except EOFError:
        found = {"error": "the process was killed"}
    process.terminate()
    process.join()
    return found


TARGETS = {"report": 30.0}  # seconds, and 2 GB, on California


def ask_all(report: Report, case: str, model: Any, X: pd.DataFrame, *, small: bool) -> None:
    """Ask a model all questions; small models have targets."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pickle"
        path.write_bytes(pickle.dumps((model, X)))
        for what in {**QUESTIONS, **SHAPLEY}:
            found = asked(str(path), what)
            if "error" in found:
                report.add(Figure(case, what, float("nan"), "s", note=found["error"]))
                continue
            target = ("<=", TARGETS[what]) if small and what in TARGETS else None
            report.add(Figure(case, what, found["seconds"], "s", target))
            peak = ("<=", 2.0) if target else None
            report.add(Figure(case, f"{what}: peak memory of the process", found["peak"] / GIGABYTE, "GB", peak))
            for name, value in found["others"].items():
                page = name.startswith("megabytes")
                limit = ("<=", 3.0) if page else ("<=", 2.0) if name.startswith("slowest") and small else None
                report.add(Figure(case, f"{what}: {name}", value, "MB" if page else "s", limit))


def fitted(kind: Any, X: pd.DataFrame, y: Any, *, quick: bool) -> Any:
    return kind(n_estimators=5 if quick else 100, n_jobs=2, random_state=0).fit(X, y)


def on_california(kind: Any) -> Callable[[Report], None]:
    def case(report: Report) -> None:
        X, y = california(1_000 if report.quick else None)
        target = pd.qcut(y, 3, labels=["low", "middle", "high"]) if kind is RandomForestClassifier else y
        model = fitted(kind, X, np.asarray(target), quick=report.quick)
        ask_all(report, f"california, {kind.__name__}", model, X, small=True)

    return case


def on_covertype(kind: Any) -> Callable[[Report], None]:
    def case(report: Report) -> None:
        X, y = covertype()
        n = 1_000 if report.quick else 100_000
        model = fitted(kind, X[:n], y[:n], quick=report.quick)
        ask_all(report, f"covertype, {n:,} rows, {kind.__name__}", model, X[:n], small=False)

    return case


CASES = {
    "california": on_california(RandomForestRegressor),
    "california, extra trees": on_california(ExtraTreesRegressor),
    "california, classes": on_california(RandomForestClassifier),
    "covertype": on_covertype(RandomForestRegressor),
    "covertype, classes": on_covertype(RandomForestClassifier),
}


if __name__ == "__main__":
    run(__doc__, CASES)
