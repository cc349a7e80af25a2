"""What tasks of a cluster cost beside their rows: 64 tasks on one worker, which opens what the driver sent once.

Tasks run one after the other in this process, as on a worker. "opened by every task" forgets before each of them what
was opened.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from measure import Figure, Report, race, run
from sklearn.ensemble import HistGradientBoostingRegressor

from glasswood.counting import _shipped
from glasswood.counting._job import Job, ShippedJob, count_tables
from glasswood.models._scale import scale_of

N_TASKS, N_FEATURES = 64, 50
KINDS = {"order 1": (1, False), "order 2": (2, False), "order 1 and responses": (1, True)}


@cache
def fitted(n_trees: int) -> Any:
    X = rows(20_000)
    y = X["x0"] * X["x1"] + X["x2"] + np.sin(3 * X["x3"])
    model = HistGradientBoostingRegressor(max_iter=n_trees, max_leaf_nodes=63, early_stopping=False, random_state=0)
    return model.fit(np.column_stack(list(X.values())), y)


def rows(n_rows: int) -> dict[str, Any]:
    generator = np.random.default_rng(0)
    return {f"x{place}": generator.normal(size=n_rows) for place in range(N_FEATURES)}


def shipped_job(model: Any, order: int, *, responses: bool) -> ShippedJob:
    """Return what the driver sends."""
    from glasswood.effects._response_sums import ResponsesSpec
    from glasswood.models._opened import open_model

    opened = open_model(model)
    ensemble = opened.ensemble
    names = {place: f"x{place}" for place in range(N_FEATURES)}
    spec = (ResponsesSpec.of_model(ensemble, scale_of(opened, "raw")),) if responses else ()
    return Job(ensemble, order, {}, names, (), None, spec).ship()


def tasks(report: Report) -> None:
    n_trees, n_tasks = (20, 4) if report.quick else (500, N_TASKS)
    model, table = fitted(n_trees), pd.DataFrame(rows(1))
    case = f"{n_tasks} tasks of one row, {n_trees} trees"
    for kind, (order, responses) in KINDS.items():
        shipped = shipped_job(model, order, responses=responses)

        def once(shipped: ShippedJob = shipped) -> None:
            _shipped._made.clear()
            for number in range(n_tasks):
                count_tables(shipped, [table], str(number))

        def each(shipped: ShippedJob = shipped) -> None:
            for number in range(n_tasks):
                _shipped._made.clear()
                count_tables(shipped, [table], str(number))

        laps = race({f"{kind}, opened by every task": each, f"{kind}, opened once": once}, min(report.rounds, 3))
        report.add_times(case, laps)
        first, second = (lap.best / n_tasks for lap in laps.values())
        saved = 1e3 * (first - second) * n_tasks / (n_tasks - 1)
        report.add(
            Figure(case, f"{kind}, saved per task", saved, "ms", note=f"{len(shipped.packed) / 1e6:.1f} MB sent")
        )


CASES = {"tasks": tasks}


if __name__ == "__main__":
    run(__doc__, CASES)
