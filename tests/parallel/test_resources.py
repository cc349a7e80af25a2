"""What calls do to the process they run in: Ctrl-C, threads, memory, forks, other threads and processes."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psutil
import pytest
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingClassifier

import glasswood as gw
from glasswood.parallel import _threads
from glasswood.parallel._interrupts import Cancelled, check_cancelled
from glasswood.parallel._threads import for_each, in_order, run_interruptible, sum_over
from helpers.long_calls import CASES
from helpers.resource_tasks import NAMES, X, Y, answer, answer_of

HELPERS = Path(__file__).parents[1] / "helpers"
LONG_FORM = pytest.param("forkserver", marks=pytest.mark.slow)
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and forks are those of POSIX")


# ------------------------------------------------------------------------------------------------------------- Ctrl-C

SHORT = ["pairs_of_large_trees", "shapley_values_of_large_trees", "probabilities"]


def interrupt(names, folder):
    """Start the calls one after the other, press Ctrl-C in each, and return what each says, with the delay."""
    command = [sys.executable, HELPERS / "long_calls.py", folder, *names]
    notes, errors = [], folder / "errors"
    with (
        errors.open("w") as stderr,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True) as process,
    ):
        for _ in names:
            assert process.stdout.readline() == "ready\n", errors.read_text()
            time.sleep(0.5)
            pressed = time.monotonic()
            process.send_signal(signal.SIGINT)
            said = process.stdout.readline()
            assert said, f"it ended with {process.wait()}: {errors.read_text()}"
            note = json.loads(said)
            assert note["interrupted"], f"it was done after {note['seconds']:.2f} s"
            notes.append(note | {"delay": note["interrupted"] - pressed})
    return notes


@POSIX
@pytest.mark.parametrize("names", [SHORT, *(pytest.param([name], marks=pytest.mark.slow) for name in CASES)], ids=str)
def test_an_interrupted_call_ends_within_a_second(names, tmp_path):
    delays = {name: [] for name in names}
    for _ in range(3):  # other processes may have had the machine for a while, but not three times
        late = [name for name, tried in delays.items() if not tried or min(tried) > 1]
        for note in interrupt(late, tmp_path) if late else ():
            delays[note["name"]].append(note["delay"])
            # Only a kernel that cannot be cut may go on for a while, in a thread without a number.
            assert set(note["threads"] + note["later"]) <= {"glasswood"}, note
    assert {name: tried for name, tried in delays.items() if min(tried) > 1} == {}


class Interrupted(BaseException):
    """What Ctrl-C would raise."""


def own_threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("glasswood")]


def test_threads_end_with_the_reader_of_their_results(monkeypatch):
    monkeypatch.setattr(_threads, "n_threads", lambda: 3)
    begun = []

    def work(index):
        begun.append(index)
        time.sleep(0.01)
        return index

    def read():
        with in_order(1000, work) as results:
            for result in results:
                if result == 5:
                    raise Interrupted

    with pytest.raises(Interrupted) as kept:  # which holds all frames, as a notebook does
        read()
    assert kept.value is not None
    assert own_threads() == []
    assert len(begun) < 30


@pytest.mark.parametrize("call", ["in_order", "sum_over"])
def test_threads_end_at_their_next_part(call, monkeypatch):
    monkeypatch.setattr(_threads, "n_threads", lambda: 2)
    working, ended = threading.Event(), []

    def work(*_):
        try:
            while True:  # a long item in many parts
                check_cancelled()
                working.set()
                time.sleep(0.01)
        except Cancelled:
            ended.append(True)
            raise

    def wait(_):
        assert working.wait(10)
        raise Interrupted

    monkeypatch.setattr(_threads._Pool, "result", wait)
    with pytest.raises(Interrupted):
        for_each(5, work, "work") if call == "in_order" else sum_over(range(5), list, work, 2)
    assert ended in ([True], [True, True])  # the second one may not have begun
    assert own_threads() == []
    check_cancelled()  # this thread was not abandoned


def test_threads_that_threads_started_end_too(monkeypatch):
    monkeypatch.setattr(_threads, "n_threads", lambda: 2)
    working, ended, result = threading.Event(), [], _threads._Pool.result

    def deep(*_):
        try:
            while True:
                check_cancelled()
                working.set()
                time.sleep(0.01)
        finally:
            ended.append(True)

    def wait(pool):
        if threading.current_thread() is threading.main_thread():
            assert working.wait(10)
            raise Interrupted
        return result(pool)

    monkeypatch.setattr(_threads._Pool, "result", wait)
    with pytest.raises(Interrupted):
        for_each(2, lambda _: for_each(2, deep, "deep"), "work")
    assert ended
    assert own_threads() == []


def test_a_kernel_that_cannot_be_cut_is_left_to_its_end(monkeypatch):
    assert run_interruptible(lambda: threading.current_thread().name).startswith("glasswood")
    with pytest.raises(ZeroDivisionError):
        run_interruptible(lambda: 1 / 0)
    goes_on, ended = threading.Event(), threading.Event()

    def work():
        goes_on.wait(10)
        ended.set()

    def wait(_):
        raise Interrupted

    monkeypatch.setattr(_threads, "_next", wait)
    with pytest.raises(Interrupted):
        run_interruptible(work)
    goes_on.set()
    assert ended.wait(10)


# --------------------------------------------------------------------------------------- threads, processes, memory


@pytest.fixture(scope="module")
def regressor():
    return ExtraTreesRegressor(10, max_leaf_nodes=30, random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def classifier():
    return HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(X, Y > 0)


@pytest.fixture(scope="module")
def methods(regressor, classifier, tmp_path_factory):
    """Every method as a function without arguments: of an Explainer that knows its answers, and of a new one."""
    folder = tmp_path_factory.mktemp("rows")
    X.to_parquet(folder / "rows.parquet", row_group_size=100)
    gw.summarize(regressor, X).save(folder / "x.gw")
    old, chance = gw.Explainer(regressor, X), gw.Explainer(classifier, X, response="probability")
    other = gw.Explainer(regressor, X[:150])

    def new(**options):
        return gw.Explainer(regressor, X, **options)

    return {
        "curves": lambda: new().partial_dependence(),
        "weighted curves": lambda: new(sample_weight=np.arange(300)).partial_dependence("x0"),
        "curve": lambda: old.partial_dependence("x0"),
        "frame": lambda: old.partial_dependence("x0").to_frame(),
        "surface": lambda: old.partial_dependence("x0", "x1"),
        "points": lambda: old.partial_dependence("x0", "x1", "x2", at=X[["x0", "x1", "x2"]]),
        "all pairs": lambda: dict(new().joint_partial_dependence()),
        "grids": lambda: dict(old.joint_partial_dependence(grid={name: [-1, 0, 1] for name in NAMES}).grid_values),
        "interactions": lambda: old.interaction_values(X[:20], max_order=2).values,
        "means of interactions": lambda: old.interaction_values(X[:20]).mean_abs(),
        "Shapley values": lambda: old.shap_values(X[:20]),
        "Shapley interactions": lambda: old.shap_interaction_values(X[:20]),
        "Banzhaf values": lambda: old.banzhaf_values(X[:20]),
        "metric": lambda: old.evaluate(gw.metrics.ShapleyTaylor(), X[:20]).values,
        "ICE": lambda: old.ice("x0"),
        "probabilities": lambda: chance.partial_dependence("x0", "x1"),
        "importance": lambda: new().importance(),
        "strengths": lambda: new().interaction_strengths(),
        "monotonicity": lambda: old.monotonicity(),
        "spikes": lambda: old.spikes(),
        "comparison": lambda: gw.compare({"a": old, "b": other}).to_frame(),
        "summary of a file": lambda: gw.summarize(regressor, folder / "rows.parquet"),
        "summary of groups": lambda: gw.summarize(regressor, X, by=np.arange(300) % 3),
        "background of a file": lambda: gw.Background.load(folder / "x.gw"),
        "predictions": lambda: old.ensemble.predict(X),
        "model": lambda: gw.read_model(classifier, X),
    }


def test_no_thread_and_no_process_is_left(methods):
    for call in methods.values():
        call()  # Arrow and OpenMP keep threads of their own, from their first use on
    threads, process = set(threading.enumerate()), psutil.Process()
    n_threads = process.num_threads()
    for name, call in methods.items():
        call()
        assert set(threading.enumerate()) <= threads, name
        end = time.monotonic() + 1  # the system takes a moment to clear a thread away
        while process.num_threads() > n_threads and time.monotonic() < end:
            time.sleep(0.001)
        assert process.num_threads() <= n_threads, name
        assert process.children() == [], name


def grown(call, n_calls):
    """How many bytes of Python's and of the process are more after the second half of so many calls."""
    process = psutil.Process()

    def used():
        gc.collect()
        return tracemalloc.get_traced_memory()[0], process.memory_info().rss

    tracemalloc.start()
    try:
        for _ in range(n_calls // 2):
            call()
        before = used()
        for _ in range(n_calls // 2):
            call()
        return np.subtract(used(), before)
    finally:
        tracemalloc.stop()


@pytest.fixture
def frozen():
    """What there is already is not looked at by Python's collector of garbage, which takes a while otherwise."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("frozen")
@pytest.mark.parametrize("n_calls", [6, pytest.param(1000, marks=pytest.mark.slow)])
def test_memory_does_not_grow(methods, n_calls):
    found = {name: grown(call, n_calls) for name, call in methods.items()}
    # What Python keeps for itself, and what the C library has not given back, do not depend on the number of calls.
    assert {name: of_python for name, (of_python, _) in found.items() if of_python > 200_000} == {}
    assert {name: of_process for name, (_, of_process) in found.items() if of_process > 16_000_000} == {}


@pytest.mark.slow
def test_figures_and_reports_leave_nothing(regressor, tmp_path):
    ex = gw.Explainer(regressor, X)

    def call():
        ex.partial_dependence("x0").plot()
        ex.report(tmp_path / "report.html")

    of_python, of_process = grown(call, 40)  # matplotlib itself holds on to some of the last figures
    assert of_python < 1_000_000
    assert of_process < 50_000_000
    assert own_threads() == []


# ------------------------------------------------------------------------- other threads, forks and other processes


@pytest.fixture(scope="module")
def expected(regressor):
    return answer_of(regressor, X)


def in_a_fork(work, seconds=60):
    """Run a function in a fork of this process; return whether it ended well, in time."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


@POSIX
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_after_a_fork(regressor, expected):
    ex = gw.Explainer(regressor, X)
    answer(ex)

    def work():
        np.testing.assert_array_equal(answer(ex), expected)
        np.testing.assert_array_equal(answer_of(regressor, X), expected)

    assert in_a_fork(work)


@POSIX
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_fork_while_other_threads_are_at_work(regressor, expected):
    newest = [gw.Explainer(regressor, X)]
    stopped = threading.Event()

    def ask():
        while not stopped.is_set():
            newest[0] = gw.Explainer(regressor, X)  # all of whose answers are still to be computed
            answer(newest[0])

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        assert all(in_a_fork(lambda: np.testing.assert_array_equal(answer(newest[0]), expected)) for _ in range(10))
    finally:
        stopped.set()
        for thread in threads:
            thread.join()


def test_short_work_does_not_wait_for_the_lock_of_bars(regressor, expected):
    from tqdm import tqdm

    with ThreadPoolExecutor(1) as pool, tqdm.get_lock():  # as a forked process has it, if another thread had it
        np.testing.assert_array_equal(pool.submit(answer_of, regressor, X).result(timeout=120), expected)


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
@pytest.mark.parametrize("method", ["spawn", *(("fork", LONG_FORM) if os.name == "posix" else ())])
def test_pools_of_processes(method, regressor, expected):
    with multiprocessing.get_context(method).Pool(1) as pool:
        found = pool.apply_async(answer_of, (regressor, X)).get(timeout=120)
    np.testing.assert_array_equal(found, expected)


def test_one_explainer_in_many_threads(regressor, expected):
    ex = gw.Explainer(regressor, X)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: answer(ex), range(12)):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_joblib(backend, regressor, expected):
    joblib = pytest.importorskip("joblib")
    with joblib.parallel_config(backend, n_jobs=2):
        found = joblib.Parallel()(joblib.delayed(answer_of)(regressor, X) for _ in range(4))
    if backend == "loky":
        from joblib.externals.loky import get_reusable_executor

        get_reusable_executor().shutdown(wait=True)
    for values in found:
        np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("processes", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore")
def test_in_a_worker_of_dask(processes, regressor, expected):
    distributed = pytest.importorskip("distributed")
    settings = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": None}
    with distributed.LocalCluster(processes=processes, **settings) as cluster, distributed.Client(cluster) as client:
        futures = [client.submit(answer_of, regressor, X, pure=False) for _ in range(3)]
        for values in client.gather(futures):
            np.testing.assert_array_equal(values, expected)
