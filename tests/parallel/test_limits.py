"""How many threads work uses, and how much memory: what users say, the environment, and the limits of containers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import glasswood as gw
from glasswood._explainer import _Asked
from glasswood.counting._counter import Counter
from glasswood.parallel import _limits, _memory, _threads
from glasswood.parallel._limits import Memory, core_quota, memory_limit
from glasswood.parallel._memory import check_memory, threads_that_fit
from glasswood.parallel._threads import for_each, in_order, n_threads, run_interruptible, sum_over, threads_limited_to
from helpers.questions import ON_THE_RESPONSE, bits_of, questions_of

NAMES = list("abcd")
GB = 2**30


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame(np.random.default_rng(0).normal(size=(20_000, 4)), columns=NAMES)


@pytest.fixture(scope="module")
def model(frame):
    return HistGradientBoostingRegressor(max_iter=10, max_leaf_nodes=6).fit(frame, frame.a * frame.b + frame.c)


@pytest.fixture(scope="module")
def classifier(frame):
    return HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=6).fit(frame, frame.a * frame.b > 0)


@pytest.fixture
def cores(monkeypatch):
    """A machine of eight cores, whatever this one has."""
    monkeypatch.delenv("GLASSWOOD_NUM_THREADS", raising=False)
    monkeypatch.setattr(_threads, "_cores", lambda: 8)


# ------------------------------------------------------------------------------------------------- what users say


@pytest.fixture
def pools(monkeypatch):
    """The sizes of all pools of threads that are made."""
    made, init = [], _threads._Pool.__init__

    def noted(self, workers, work, limit):
        made.append(workers)
        init(self, workers, work, limit)

    monkeypatch.setattr(_threads._Pool, "__init__", noted)
    return made


def everything(model, classifier, frame, path, **options):
    """All questions, as functions without arguments; what is computed later is asked for after the questions."""
    raw = questions_of(gw.Explainer(model, frame, **options), frame, NAMES)
    chance = gw.Explainer(classifier, frame, response="probability", **options)
    response = questions_of(chance, frame, NAMES, only=ON_THE_RESPONSE)
    found = raw | {f"{name} of the response": ask for name, ask in response.items()}
    for source in (frame, path):
        found[f"summary of a {type(source).__name__}"] = lambda source=source: vars(
            gw.summarize(model, source, order=2, response="raw", answers=["importance", "ale"], **options)
        )["vectors"]
    found["rating table"] = lambda: gw.Explainer(model, frame, **options).rating_table(pairs=2)
    found["certificate"] = lambda: gw.Explainer(model, frame, **options).certificate()
    return found


@pytest.mark.usefixtures("cores")
def test_results_have_the_same_bits_for_every_number_of_threads(model, classifier, frame, tmp_path, pools):
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=3000)
    asked = {n: everything(model, classifier, frame, tmp_path / "rows.parquet", n_jobs=n) for n in (None, 1, 3)}
    for name in asked[1]:
        found = {n: bits_of(questions[name]()) for n, questions in asked.items() if n != 1}
        assert found[None] == found[3], name
        pools.clear()
        assert bits_of(asked[1][name]()) == found[3], name
        assert pools == [], name  # what is computed later, when it is asked for, has no thread of its own either


@pytest.mark.usefixtures("cores")
def test_a_figure_and_the_report_use_no_more_threads(model, frame, tmp_path, pools):
    ex = gw.Explainer(model, frame, n_jobs=1)
    ex.plot(["a", ("a", "b")])
    ex.report(tmp_path / "report.html")
    assert pools == []
    gw.Explainer(model, frame, n_jobs=2).report(tmp_path / "report.html")
    assert set(pools) == {2}


@pytest.mark.usefixtures("cores")
def test_explainers_that_are_compared_use_the_fewest_of_their_threads(model, frame, pools):
    one, two = gw.Explainer(model, frame, n_jobs=1), gw.Explainer(model, frame[::-1], n_jobs=-1)
    gw.compare({"one": one, "two": two}, limits={"psi": 1})
    assert pools == []


@pytest.mark.parametrize(("n_jobs", "expected"), [(None, 8), (-1, 8), (-2, 7), (-100, 1), (3, 3), (np.int64(20), 20)])
@pytest.mark.usefixtures("cores")
def test_n_jobs_means_what_it_does_in_scikit_learn(model, frame, n_jobs, expected, monkeypatch):
    found = []
    monkeypatch.setattr(_threads, "core_quota", lambda: None)
    ex = gw.Explainer(model, frame, n_jobs=n_jobs)
    ex._ask(lambda _: found.append(n_threads()), _Asked(None, None, None))
    assert found == [expected]
    assert n_threads() == 8  # outside


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True])
def test_n_jobs_that_mean_nothing(model, frame, n_jobs):
    for call in (gw.Explainer, gw.summarize):
        with pytest.raises(gw.errors.ArgumentError, match="n_jobs is a number of threads"):
            call(model, frame, n_jobs=n_jobs)


@pytest.mark.usefixtures("cores")
def test_the_environment_sets_the_default(monkeypatch, model, frame):
    monkeypatch.setenv("GLASSWOOD_NUM_THREADS", "3")
    assert n_threads() == 3
    assert gw.Explainer(model, frame, n_jobs=-1)._threads == 8
    for wrong in ("0", "two", "-1", "1.5"):
        monkeypatch.setenv("GLASSWOOD_NUM_THREADS", wrong)
        with pytest.raises(gw.errors.ArgumentError, match="GLASSWOOD_NUM_THREADS must be a number of threads"):
            gw.summarize(model, frame)


@pytest.mark.usefixtures("cores")
def test_threads_share_the_limit_with_those_that_they_start():
    working, max_, lock = [0], [0], threading.Lock()

    def work(*_):
        with lock:
            working[0] += 1
            max_[0] = max(max_[0], working[0])
        threading.Event().wait(0.01)
        with lock:
            working[0] -= 1

    for limit in (1, 2, 4, 5):
        max_[0] = 0
        with threads_limited_to(limit):
            for_each(2, lambda _: for_each(20, work, "inner"), "outer")
            sum_over(range(20), lambda: None, work)
            with in_order(3, lambda _: run_interruptible(lambda: for_each(9, work, "inner"))) as done:
                list(done)
        assert 1 <= max_[0] <= limit


@pytest.mark.usefixtures("cores")
def test_limits_of_calls_in_several_threads_are_their_own(model, frame):
    def limit(n):
        ex = gw.Explainer(model, frame, n_jobs=n)
        return ex._ask(lambda _: (threading.Event().wait(0.02), n_threads())[1], _Asked(None, None, None))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(limit, range(1, 13))) == list(range(1, 13))


def test_tasks_of_clusters_use_one_thread(model, frame, monkeypatch):
    from glasswood.counting import _job

    found, add = [], Counter.add_groups
    monkeypatch.setattr(Counter, "add_groups", lambda *args, **more: (found.append(n_threads()), add(*args, **more)))
    ensemble = gw.read_model(model)
    job = _job.Job(ensemble, 1, {}, dict(enumerate(ensemble.feature_names)))
    _job.count_tables(job.ship(), [frame], "0")
    assert set(found) == {1}


# ------------------------------------------------------------------------------------------ containers, as files


MOUNTS_1 = """\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 {top} /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 {top} /sys/fs/cgroup/mem\\040ory rw,relatime - cgroup cgroup rw,memory
"""
MOUNTS_2 = "31 23 0:28 {top} /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"


@pytest.fixture
def files(tmp_path):
    """Write files below a root folder, given their paths and texts."""

    def write(contents):
        for path, text in contents.items():
            place = tmp_path / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        _limits._mounts.cache_clear()
        return tmp_path

    return write


def version_2(group, mounted="/"):
    return {"proc/self/cgroup": f"0::{group}\n", "proc/self/mountinfo": MOUNTS_2.format(top=mounted)}


def test_version_2_limits_of_all_groups_above_count(files):
    root = files(
        version_2("/machine/pod/box")
        | {
            "sys/fs/cgroup/machine/pod/box/cpu.max": "max 100000\n",
            "sys/fs/cgroup/machine/pod/cpu.max": "150000 100000\n",
            "sys/fs/cgroup/machine/cpu.max": "400000 100000\n",
            "sys/fs/cgroup/machine/pod/box/memory.max": "max\n",
            "sys/fs/cgroup/machine/pod/memory.max": f"{4 * GB}\n",
            "sys/fs/cgroup/machine/pod/memory.current": f"{3 * GB}\n",
            "sys/fs/cgroup/machine/pod/memory.stat": f"anon {GB}\nfile {2 * GB}\nactive_file {GB}\ninactive_file 7\n",
            "sys/fs/cgroup/machine/memory.max": f"{16 * GB}\n",
            "sys/fs/cgroup/machine/memory.current": f"{15 * GB}\n",
            "sys/fs/cgroup/machine/memory.stat": "active_file 0\ninactive_file 0\n",
        }
    )
    assert core_quota(root) == 1.5
    assert memory_limit(root) == Memory(4 * GB, GB)  # what is left of the group above is the less


@pytest.mark.parametrize(("group", "mounted"), [("/", "/"), ("/docker/ab", "/docker/ab"), ("/../../x", "/")])
def test_version_2_within_a_container(files, group, mounted):
    own = {"cpu.max": "50000 100000", "memory.max": "1000", "memory.current": "400", "memory.stat": "inactive_file 100"}
    root = files(version_2(group, mounted) | {f"sys/fs/cgroup/{name}": text for name, text in own.items()})
    assert core_quota(root) == 0.5
    assert memory_limit(root) == Memory(1000, 700)


def test_version_1(files):
    root = files(
        {
            "proc/self/cgroup": "4:memory:/docker/ab/inner\n2:cpu,cpuacct:/docker/ab/inner\n0::/docker/ab\n",
            "proc/self/mountinfo": MOUNTS_1.format(top="/docker/ab"),
            "sys/fs/cgroup/cpu,cpuacct/inner/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu,cpuacct/inner/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "250000\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/mem ory/inner/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/fs/cgroup/mem ory/inner/memory.usage_in_bytes": "10\n",
            "sys/fs/cgroup/mem ory/inner/memory.stat": "cache 1\n",
            "sys/fs/cgroup/mem ory/memory.limit_in_bytes": "5000\n",
            "sys/fs/cgroup/mem ory/memory.usage_in_bytes": "4000\n",
            "sys/fs/cgroup/mem ory/memory.stat": "inactive_file 9\ntotal_inactive_file 500\ntotal_active_file 100\n",
        }
    )
    assert core_quota(root) == 2.5
    assert memory_limit(root) == Memory(5000, 1600)


def test_a_group_whose_name_begins_like_another(files):
    root = files(version_2("/docker/abc", "/docker/ab") | {"sys/fs/cgroup/cpu.max": "100000 100000"})
    assert core_quota(root) == 1.0


@pytest.mark.parametrize("text", ["", "nonsense", "a:b", "0::/\n"])
def test_no_files_or_odd_ones_mean_no_limit(files, text):
    root = files({"proc/self/mountinfo": "odd\n" + MOUNTS_2.format(top="/"), "sys/fs/cgroup/cpu.max": text})
    assert core_quota(root) is None
    assert memory_limit(root) is None
    root = files({"proc/self/cgroup": text})
    assert core_quota(root) is None
    assert memory_limit(root / "nowhere") is None


@pytest.mark.parametrize(("quota", "expected"), [(None, 4), (0.5, 1), (1.0, 1), (1.5, 2), (2.0, 2), (64.0, 4)])
def test_threads_follow_quotas_and_affinity(monkeypatch, quota, expected):
    monkeypatch.delenv("GLASSWOOD_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(4)), raising=False)
    monkeypatch.setattr(_threads, "core_quota", lambda: quota)
    _threads._cores_at.cache_clear()
    try:
        assert n_threads() == expected
        with threads_limited_to(_threads.threads_of(-1)):
            assert n_threads() == expected
    finally:
        _threads._cores_at.cache_clear()


@pytest.mark.usefixtures("cores")
def test_threads_and_refusals_follow_the_memory_of_a_container(monkeypatch):
    monkeypatch.setattr(_memory, "memory_limit", lambda: Memory(GB, GB))
    check_memory((GB // 8 // 2,), 1)
    with pytest.raises(gw.errors.TooLargeError, match=r"0\.5 GB, more than half of this container's memory"):
        check_memory((GB // 8 // 2 + 1,), 1)
    assert threads_that_fit(2**20) == 8
    assert threads_that_fit(2**24) == 4  # 128 MB each, half of what is left
    assert threads_that_fit(2**27) == 1
    monkeypatch.setattr(_memory, "memory_limit", lambda: Memory(GB, GB // 4))
    with pytest.raises(gw.errors.TooLargeError, match=r"0\.4 GB, more than the remaining memory of this container"):
        check_memory((GB // 8 * 3 // 8,), 1)


def test_sums_that_do_not_fit_are_refused(model, frame, monkeypatch):
    monkeypatch.setattr(_memory, "memory_limit", lambda: Memory(1000, 1000))
    monkeypatch.setattr(_memory, "LITTLE", 0)
    for source in (frame, iter([frame])):
        with pytest.raises(gw.errors.TooLargeError, match="Count with a lower order, or fewer trees, or give the proc"):
            gw.summarize(model, source)


# ------------------------------------------------------------------------------------------- containers, for real


MEASURE = """
import json, os, sys
for folder in sys.argv[1:]:
    open(folder + "/cgroup.procs", "w").write(str(os.getpid()))
import numpy as np
import glasswood as gw
from glasswood.counting._counter import Counter
from glasswood.parallel._limits import core_quota, memory_limit
from glasswood.parallel._memory import threads_that_fit
from glasswood.parallel._threads import n_threads

at_work, most, add = [], [0], Counter.add_groups
def noted(*args, **more):
    at_work.append(None)
    most[0] = max(most[0], len(at_work))
    add(*args, **more)
    at_work.pop()
Counter.add_groups = noted
rng = np.random.default_rng(0)
names = list("abcdef")
tree = {  # a chain of splits, one for each feature
    "feature": [*range(6), *[-1] * 7], "cut": [0.0] * 13, "value": [0.0] * 6 + [float(i) for i in range(7)],
    "left": [*range(6, 12), *[-1] * 7], "right": [*range(1, 6), 12, *[-1] * 7]}
X = rng.normal(size=(1_000_000, 6))
ex = gw.Explainer(gw.read_trees([tree] * 20, names), X)
ex.partial_dependence("a")
refused = ""
try:
    ex.interaction_values(X).values
except gw.errors.TooLargeError as error:
    refused = str(error)
memory = memory_limit()
print(json.dumps({"threads": most[0], "n_threads": n_threads(), "quota": core_quota(), "refused": refused,
                  "limit": memory and memory.limit, "left": memory and memory.left, "fit": threads_that_fit(2**25)}))
"""


@pytest.fixture
def group():
    """Make a group of processes in the tree of a controller of version 1; it is removed at the end."""
    made = []

    def make(controller, **settings):
        tops = [top for top, _ in _limits._mounts(Path("/"), controller)]
        if not tops or not os.access(tops[0], os.W_OK):
            pytest.skip(f"no tree of control groups (version 1) with the controller {controller!r} that can be written")
        folder = tops[0] / f"glasswood-test-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError as error:
            pytest.skip(f"control groups cannot be made here: {error}")
        made.append(folder)
        for name, value in settings.items():
            (folder / f"{controller}.{name}").write_text(str(value))
        return str(folder)

    yield make
    for folder in made:
        folder.rmdir()


def measured(*folders):
    """What a process finds in groups of its own."""
    environment = {name: value for name, value in os.environ.items() if name != "GLASSWOOD_NUM_THREADS"}
    command = [sys.executable, "-c", MEASURE, *folders]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="control groups are those of Linux")
def test_a_real_quota_of_cores(group):
    if len(os.sched_getaffinity(0)) < 2 or core_quota() is not None:
        pytest.skip("this machine has one core for us, so that a quota of one changes nothing")
    free = measured()
    assert free["threads"] == free["n_threads"] == len(os.sched_getaffinity(0))
    found = measured(group("cpu", cfs_period_us=100_000, cfs_quota_us=100_000))
    assert (found["quota"], found["n_threads"], found["threads"]) == (1.0, 1, 1)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="control groups are those of Linux")
def test_a_real_limit_of_memory(group):
    limit = 2**29
    found = measured(group("memory", limit_in_bytes=limit))
    assert found["limit"] == limit
    assert 0 < found["left"] < limit
    assert found["fit"] == 1
    assert "this container" in found["refused"]  # instead of being killed
