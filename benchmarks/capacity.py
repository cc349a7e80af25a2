"""Whether the capacity that `glasswood bench` estimates holds: a real pass over ten million rows beside the estimate.

All times are those of the processor, in one thread.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from measure import Figure, Report, run

import glasswood as gw
from glasswood._bench import made_model, made_rows, measure_constants
from glasswood.tables._parquet import write_parquet

FEATURES, TREES = 50, 50  # neither of the two models that the constants come from


def processor_time(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def check(report: Report) -> None:
    n_parts, n_rows = (2, 2_000) if report.quick else (100, 100_000)
    c = measure_constants(2 if report.quick else 20)
    model, rows = made_model(FEATURES, TREES, seed=5), made_rows(n_rows, FEATURES)
    case = f"{n_parts * n_rows:,} rows x {FEATURES} features, {TREES} trees"
    with tempfile.TemporaryDirectory() as folder:
        write_parquet(Path(folder) / "rows.parquet", [rows], {})
        files = [str(Path(folder) / "rows.parquet")]
        for number in range(1, n_parts):
            files.append(str(Path(folder) / f"rows-{number}.parquet"))
            Path(files[-1]).hardlink_to(files[0])  # the same rows again, which cost as much
        for order, feature, tree in ((1, c.count_1_feature, c.count_1_tree), (2, c.count_2_feature, c.count_2_tree)):
            took = processor_time(partial(gw.summarize, model, files, order=order, n_jobs=1))
            estimate = n_parts * n_rows * (FEATURES * (c.read_value + feature) + TREES * tree)
            report.add(Figure(case, f"order {order}, measured", took, "s", note=f"estimated {estimate:.3g} s"))
            report.add(Figure(case, f"order {order}, measured / estimated", took / estimate, "x"))
    some = made_rows(n_rows if not report.quick else 100, FEATURES)
    explainer = gw.Explainer(model, gw.summarize(model, made_rows(2000, FEATURES), order=None), n_jobs=1)
    explainer.shap_values(made_rows(64, FEATURES))  # makes the tables
    took = processor_time(lambda: explainer.shap_values(some))
    estimate = len(some["x0"]) * TREES * c.shapley_tree
    report.add(Figure(case, f"Shapley values of {len(some['x0']):,} rows, measured", took, "s"))
    report.add(Figure(case, "Shapley values, measured / estimated", took / estimate, "x"))


CASES = {"check": check}


if __name__ == "__main__":
    run(__doc__, CASES)
