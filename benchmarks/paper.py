"""The tables of the Woodelf++ paper: its tasks on its data sets, as far as they are available, with its own figures.

With --write, figures go to benchmarks/results/paper-DATE.json (cases of other runs of that day are kept) and the page
docs/explanation/paper-results.md is written from it; --page FILE writes the page from a file of results.
"""

from __future__ import annotations

import datetime
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from data import california, ieee, kddcup, rows_for
from interactions import woodelf_values
from measure import Figure, Laps, Report, race
from paper_page import write_page
from paper_tables import DEPTHS, LARGE, SMALL, TASKS
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw

RESULTS = Path(__file__).resolve().parent / "results"
PEER_SECONDS = float(os.environ.get("PAPER_LIMIT", "60"))  # of woodelf per case; what is left then is not run
PEER_FIRST = ("Exact full PDP", "Exact Joint-PDP k=5", "Approx. Joint-PDP k=5", "Exact PDP k=100", "Approx. PDP k=5")
DEPTH_ROWS, DEPTH_RANGE = 50_000, range(1, 11)

Points = Mapping[str, Any]


def points_of(X: pd.DataFrame, k: int) -> dict[str, Any]:
    """Return k evenly spaced values between the 5th and the 95th percentile of each column."""
    ends = {name: np.nanquantile(X[name].to_numpy(), [0.05, 0.95]) for name in X}
    return {name: np.linspace(low, high, k) for name, (low, high) in ends.items()}


def curves_at(explainer: gw.Explainer, points: Points) -> dict[str, Any]:
    return {name: curve(points[name]) for name, curve in explainer.partial_dependence().items()}


def full_curves(explainer: gw.Explainer) -> dict[str, Any]:
    return {name: curve.values for name, curve in explainer.partial_dependence().items()}


def ours(model: Any, X: pd.DataFrame, tasks: tuple[str, ...]) -> dict[str, Callable[[], Any]]:
    """Return what glasswood does for each task: from the fitted model and the rows to all values in hand."""
    grids = {k: points_of(X, k) for k in (5, 10, 100)}
    found: dict[str, Callable[[], Any]] = {
        f"Exact PDP k={k}": partial(lambda k: curves_at(gw.Explainer(model, X), grids[k]), k) for k in grids
    }
    found |= {
        "Exact full PDP": lambda: full_curves(gw.Explainer(model, X)),
        "Exact Joint-PDP k=5": lambda: gw.Explainer(model, X).joint_grids(grids[5]),
        "Approx. PDP k=5": lambda: curves_at(gw.Explainer(model), grids[5]),
        "Approx. Joint-PDP k=5": lambda: gw.Explainer(model).joint_grids(grids[5]),
        "Any-order PDIV n=10,000": lambda: gw.Explainer(model, X).interaction_values(X.head(10_000)).values,
        "Any-order PDIV": lambda: gw.Explainer(model, X).interaction_values(X).mean_abs(),
    }
    return {task: found[task] for task in tasks}


def theirs(model: Any, X: pd.DataFrame, tasks: tuple[str, ...]) -> dict[str, Callable[[], Any]]:
    """Return what the paper's own package does for each task; it chooses its points itself, as part of its time."""
    from woodelf.pdp import woodelf_pdp, woodelf_pdp_joint

    one = partial(woodelf_pdp, model, X, verbose=False)
    pair = partial(woodelf_pdp_joint, model, X, k=5, verbose=False)
    found: dict[str, Callable[[], Any]] = {f"Exact PDP k={k}": partial(one, k=k) for k in (5, 10, 100)}
    found |= {
        "Exact full PDP": partial(one, full_pdp=True),
        "Exact Joint-PDP k=5": pair,
        "Approx. PDP k=5": partial(one, k=5, accurate=False),
        "Approx. Joint-PDP k=5": partial(pair, accurate=False),
        "Any-order PDIV n=10,000": lambda: woodelf_values(model, X, X.head(10_000)),
        "Any-order PDIV": lambda: woodelf_values(model, X, X),
    }
    first = [task for task in PEER_FIRST if task in tasks]
    return {task: found[task] for task in dict.fromkeys([*first, *tasks])}


def note_laps(report: Report, case: str, task: str, who: str, lap: Laps, paper: str) -> None:
    """Note the best time of a contender, and what the paper reports."""
    laps = f"best of {len(lap.times)}, worst {max(lap.times):.3g} s" if len(lap.times) > 1 else ""
    notes = [lap.error or laps, f"the paper, its machine and rows: {paper}" if paper else ""]
    report.add(Figure(case, f"{task}: {who}", lap.best, "s", note="; ".join(note for note in notes if note)))


def measure(
    report: Report, case: str, model: Any, X: pd.DataFrame, paper: Mapping[str, str], left_out: tuple[str, ...] = ()
) -> None:
    """Time all tasks: glasswood and the paper's code in turn, as often as the time that the latter has left allows."""
    mine = ours(model, X, tuple(paper))
    other = {} if report.quick else theirs(model, X, tuple(task for task in paper if task not in left_out))
    spent, slowest = 0.0, 0.0
    for task in dict.fromkeys([*other, *paper]):
        affordable = task in other and spent + slowest <= PEER_SECONDS
        all_rounds = slowest > 0 and spent + slowest * report.rounds < PEER_SECONDS
        turns = (report.rounds if all_rounds else 1) if affordable else 0
        contenders = {"glasswood": mine[task]} | ({"woodelf": other[task]} if turns else {})
        laps = race(contenders, turns or report.rounds)
        more = race({"glasswood": mine[task]}, report.rounds - turns)["glasswood"] if turns else Laps()
        laps["glasswood"].times.extend(more.times)
        note_laps(report, case, task, "glasswood", laps["glasswood"], paper[task])
        if turns:
            note_laps(report, case, task, "woodelf", laps["woodelf"], "")
            spent += sum(laps["woodelf"].times)
            slowest = max(slowest, *laps["woodelf"].times, 0.0)
        elif task in other:
            report.add(Figure(case, f"{task}: woodelf", float("nan"), "s", note="not run: time limit of this case"))


def boosting(X: Any, y: Any, **options: Any) -> Any:
    return HistGradientBoostingRegressor(random_state=0, early_stopping=False, **options).fit(X, y)


def small(report: Report) -> None:
    """Measure the three small data sets: 80 % of the rows, 100 trees."""
    tables: dict[str, Callable[[], Any]] = {
        "diabetes": lambda: load_diabetes(return_X_y=True, as_frame=True),
        "cancer": lambda: load_breast_cancer(return_X_y=True, as_frame=True),
        "housing": california,
    }
    for name, load in tables.items():
        X, y = load()
        n_rows = 100 if report.quick else int(0.8 * len(X))
        chosen = np.random.default_rng(0).permutation(len(X))[:n_rows]
        X, y = X.iloc[chosen].reset_index(drop=True), y.iloc[chosen]
        model = boosting(X, y, max_iter=5 if report.quick else 100, max_depth=6)
        paper = {task: f"{best} s by the best other method, {own} s" for task, (best, own) in SMALL[name].items()}
        measure(report, f"{name} {X.shape[0]:,} x {X.shape[1]}", model, X, paper)


def of_the_paper(name: str) -> dict[str, str]:
    return {task: f"{LARGE[name][task][2]} (CPU)" for task in TASKS}


def kdd(report: Report) -> None:
    """Measure the 10 % of KDD Cup 99 that are here, with a model like the paper's."""
    X, y = kddcup(2_000 if report.quick else None)
    model = boosting(X, y, max_iter=5 if report.quick else 100, max_depth=6)
    measure(report, f"kdd {X.shape[0]:,} x {X.shape[1]}", model, X, of_the_paper("kdd"), ("Any-order PDIV",))


def ieee_cis(report: Report) -> None:
    """Measure a real model of IEEE-CIS on as many made rows as the real table has."""
    model = ieee("IEEE-CIS_xgboost_model")
    X = rows_for(model, 300 if report.quick else 472_432, np.float32)
    paper = of_the_paper("ieee")
    if report.quick:
        del paper["Any-order PDIV n=10,000"], paper["Any-order PDIV"]
    left_out = ("Any-order PDIV", "Any-order PDIV n=10,000", "Exact PDP k=5", "Exact PDP k=10")
    measure(report, f"ieee {X.shape[0]:,} x {X.shape[1]}", model, X, paper, left_out)


def depths(report: Report) -> None:
    """Measure trees of depth 1 to 10 without regularisation, on a part of KDD Cup 99."""
    X, y = kddcup(500 if report.quick else DEPTH_ROWS)
    tasks, spent = tuple(DEPTHS), 0.0
    for depth in range(1, 3) if report.quick else DEPTH_RANGE:
        model = boosting(
            X, y, max_iter=5 if report.quick else 100, max_depth=depth, max_leaf_nodes=None, min_samples_leaf=1
        )
        case = f"depth {depth}, kdd {X.shape[0]:,} x {X.shape[1]}"
        for task, contender in ours(model, X, tasks).items():
            lap = race({task: contender}, min(report.rounds, 2))[task]
            note_laps(report, case, task, "glasswood", lap, f"{DEPTHS[task][depth - 1]} s")
        if report.quick or spent > PEER_SECONDS:
            continue
        for task in ("Exact full PDP", "Exact Joint-PDP k=5"):
            start = time.perf_counter()
            note_laps(report, case, task, "woodelf", race({task: theirs(model, X, tasks)[task]}, 1)[task], "")
            spent += time.perf_counter() - start


CASES: dict[str, Callable[[Report], None]] = {"small": small, "kdd": kdd, "depths": depths, "ieee": ieee_cis}


def merge(new: Path, into: Path) -> None:
    """Write new figures into the file of the day; cases that were not run again keep theirs."""
    found = json.loads(new.read_text())
    cases = {figure["case"] for figure in found["figures"]}
    found["loads"] = dict.fromkeys(sorted(cases), found.pop("load_before_and_after"))
    if into.exists():
        before = json.loads(into.read_text())
        found["loads"] = before["loads"] | found["loads"]
        found["figures"] = [figure for figure in before["figures"] if figure["case"] not in cases] + found["figures"]
    into.parent.mkdir(exist_ok=True)
    into.write_text(json.dumps(found, indent=1) + "\n")
    new.unlink()


def main() -> None:
    if "--page" in sys.argv:
        write_page(Path(sys.argv[sys.argv.index("--page") + 1]))
        return
    write = "--write" in sys.argv
    new = RESULTS.with_name("paper.new.json")
    if write:
        sys.argv.remove("--write")
        sys.argv += ["--json", str(new)]
    report = Report(__doc__ or "", CASES)
    if write and report.quick:
        message = "--quick claims nothing, so it writes no results"
        raise SystemExit(message)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for case in report.cases:
            CASES[case](report)
    except KeyboardInterrupt:
        print("Interrupted: what was measured until then is kept.", file=sys.stderr)
    report.finish()
    print(
        "Not reproduced: KDD Cup with all 4,898,431 rows (10 % are here), the real rows of IEEE-CIS (made ones are "
        "used), FastPD (R), GPUs."
    )
    if write:
        results = RESULTS / f"paper-{datetime.datetime.now(datetime.UTC).date().isoformat()}.json"
        merge(new, results)
        write_page(results)


if __name__ == "__main__":
    main()
