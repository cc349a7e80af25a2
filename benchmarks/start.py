"""Small data, and what a fresh process waits for: the first curve, everything, and where nothing can be written."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from data import california
from measure import Figure, Report, race, run
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.model_selection import train_test_split

import glasswood as gw

# The model is unpickled first: scikit-learn, pandas and the model are there before anyone asks for a curve.
CHILD = """
import json, pickle, sys, time
with open(sys.argv[1], "rb") as file:
    model, X = pickle.load(file)
start = time.perf_counter()
import glasswood as gw
imported = time.perf_counter()
explainer = gw.Explainer(model, X)
read = time.perf_counter()
values = explainer.partial_dependence("bmi").values
end = time.perf_counter()
times = {"import": imported - start, "read and check": read - imported, "first curve": end - read, "all": end - start}
print(json.dumps({"times": times, "values": values.tolist(), "package": gw.__file__}))
"""
EVERYTHING = """
import json, pickle, sys, time
laps = [time.perf_counter()]
import numpy
laps.append(time.perf_counter())
import glasswood as gw
laps.append(time.perf_counter())
with open(sys.argv[1], "rb") as file:
    model, X = pickle.load(file)
laps.append(time.perf_counter())
ex = gw.Explainer(model, X)
laps.append(time.perf_counter())
ex.partial_dependence()
laps.append(time.perf_counter())
pairs = ex.joint_partial_dependence()
[pairs[pair].values for pair in pairs]
laps.append(time.perf_counter())
ex.shap_values(X[:1000])
laps.append(time.perf_counter())
ex.report(sys.argv[1] + ".html")
laps.append(time.perf_counter())
names = ["numpy", "import", "model", "explainer", "curves", "pairs", "Shapley values", "report"]
times = {name: end - start for name, start, end in zip(names, laps, laps[1:])}
times["all"] = sum(times.values()) - times.pop("numpy") - times.pop("model")
print(json.dumps({"times": times, "values": [], "package": gw.__file__}))
"""
IS_READ_ONLY = """
import sys
try:
    open(sys.argv[1] + "/written", "w")
except OSError:
    sys.exit(0)
sys.exit("the folder is not read-only after all")
"""


def small_models(report: Report) -> tuple[dict[str, Any], Any]:
    """Return models of the diabetes data, and the 353 rows that they were trained on."""
    X, _, y, _ = train_test_split(*load_diabetes(return_X_y=True, as_frame=True), test_size=0.2, random_state=0)
    n_trees = 10 if report.quick else 100
    boosting = HistGradientBoostingRegressor(max_iter=n_trees, max_depth=6, random_state=0)
    forest = RandomForestRegressor(n_estimators=n_trees, random_state=0)
    return {"boosting": boosting.fit(X, y), "forest": forest.fit(X, y)}, X


FIRST = "import, read, first curve"


def warm(report: Report) -> None:
    models, X = small_models(report)
    for name, model in models.items():
        case = f"diabetes, 353 rows, {name}"
        run = {"every PDP, warm": partial(_every_curve, model, X)}
        lap = race(run, report.rounds if report.quick else 4 * report.rounds)["every PDP, warm"]
        target = ("<=", 15.0)
        report.add(Figure(case, "every PDP, warm", 1e3 * lap.best, "ms", target, f"best of {len(lap.times)}"))


def _every_curve(model: Any, X: Any) -> list[Any]:
    return [curve.values for curve in gw.Explainer(model, X).partial_dependence().values()]


def child(
    pickled: Path, environment: dict[str, str], prefix: tuple[str, ...] = (), program: str = CHILD
) -> dict[str, Any]:
    """Return times and values of a fresh process."""
    command = [*prefix, sys.executable, "-c", program, str(pickled)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return dict(json.loads(done.stdout))


def note(report: Report, case: str, what: str, runs: list[dict[str, Any]], limit: float | None) -> None:
    """Note the fastest run, and where its time went."""
    best = min((run["times"] for run in runs), key=lambda times: times["all"])
    parts = ", ".join(f"{name} {seconds:.2f}" for name, seconds in best.items() if name != "all")
    target = None if limit is None else ("<=", limit)
    report.add(Figure(case, what, best["all"], "s", target, f"best of {len(runs)}: {parts}"))


def fresh(report: Report) -> None:
    models, X = small_models(report)
    expected = gw.Explainer(models["boosting"], X).partial_dependence("bmi").values.tolist()
    with tempfile.TemporaryDirectory() as folder:
        pickled = Path(folder) / "model.pickle"
        pickled.write_bytes(pickle.dumps((models["boosting"], X)))
        fresh = [child(pickled, dict(os.environ)) for _ in range(report.rounds)]
        note(report, "fresh process", FIRST, fresh, 1)
        locked = [without_a_place_to_write(pickled, Path(folder))]
        note(report, "fresh process, read-only install, no home", FIRST, locked, None)
        right = all(run["values"] == expected for run in (*fresh, *locked))
        report.add(Figure("fresh process", "curves equal to those of this process", float(right), "", (">=", 1)))


def everything(report: Report) -> None:
    X, y = california(2_000 if report.quick else 10_000)
    model = HistGradientBoostingRegressor(max_iter=10 if report.quick else 100, random_state=0).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        pickled = Path(folder) / "model.pickle"
        pickled.write_bytes(pickle.dumps((model, X)))
        runs = [child(pickled, dict(os.environ), program=EVERYTHING) for _ in range(report.rounds)]
    case = f"California, {len(X):,} rows, fresh process"
    note(report, case, "import, curves, pairs, Shapley values of 1,000 rows, report", runs, 3)
    report.add(Figure(case, "import beyond NumPy's", min(run["times"]["import"] for run in runs), "s", ("<=", 0.2)))


def without_a_place_to_write(pickled: Path, folder: Path) -> dict[str, Any]:
    """Run from a copy of the package in a folder that cannot be written to, without a home directory.

    Permissions do not bind root, so root gives up the right to override them first.
    """
    install = folder / "install"
    source = Path(gw.__file__).parent
    shutil.copytree(source, install / "glasswood", ignore=shutil.ignore_patterns("__pycache__"))
    prefix = ("setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override") if os.geteuid() == 0 else ()
    environment = {**os.environ, "HOME": "/dev/null", "PYTHONPATH": str(install)}
    _set_writable(install, writable=False)
    try:
        subprocess.run([*prefix, sys.executable, "-c", IS_READ_ONLY, str(install / "glasswood")], check=True)
        result = child(pickled, environment, prefix)
    finally:
        _set_writable(install, writable=True)
    if not result["package"].startswith(str(install)):
        message = f"the fresh process took glasswood from {result['package']}, not from {install}"
        raise SystemExit(message)
    if list(install.rglob("__pycache__")):
        message = "something was written into the read-only install"
        raise SystemExit(message)
    return result


def _set_writable(folder: Path, *, writable: bool) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200 if writable else path.stat().st_mode & ~0o222)


CASES = {"warm": warm, "fresh": fresh, "everything": everything}


if __name__ == "__main__":
    run(__doc__, CASES)
