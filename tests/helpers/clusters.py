"""Real clusters on this machine: processes of their own that talk over sockets, can be killed, and leave nothing.

    with dask_cluster(folder) as cluster:     # folder: where the logs go
        cluster.client.submit(...)

`Processes` owns what a cluster starts. Every child carries a mark in its environment, and so does all that it starts
itself, however often it changes its parent: at the end, all processes with the mark are killed, and all that run in
the cluster's folder. Spark is in `clusters_spark`, Ray in `clusters_ray`.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

MARK = "GLASSWOOD_TEST_CLUSTER"
PATIENCE = 90.0  # seconds until a start counts as failed; CI machines are slow
LOOPBACK = "127.0.0.1"
# So that workers find what tests define: pytest names a test module `tests.<folder>.<name>`, a helper `helpers.<name>`.
IMPORTABLE = os.pathsep.join([*(str(Path(__file__).parents[i]) for i in (1, 2)), os.environ.get("PYTHONPATH", "")])
TRACKER = "multiprocessing.resource_tracker"
DASK = [sys.executable, "-m", "dask"]


class ClusterError(RuntimeError):
    """A cluster did not start, or did not stop. Says which process, and how its log ends."""


class Processes:
    """What one cluster started: each with a log of its own, all of it ended by `stop`."""

    def __init__(self, folder: Path):
        self.folder = Path(folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.mark = uuid.uuid4().hex
        self.born = psutil.Process().create_time()
        self.started: dict[str, subprocess.Popen[bytes]] = {}

    def environment(self, **more: str) -> dict[str, str]:
        """Our own environment, without what would send a child to another cluster, and with the mark."""
        kept = {name: value for name, value in os.environ.items() if not _leads_astray(name)}
        return kept | {MARK: self.mark, "PYTHONPATH": IMPORTABLE} | more

    def start(self, name: str, command: list[str], **more: str) -> subprocess.Popen[bytes]:
        """Start a program whose log is `<name>.log`, with `more` in its environment."""
        with self._log(name).open("wb") as log:
            self.started[name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self.environment(**more),
                cwd=self.folder,
                start_new_session=True,  # Ctrl-C reaches the test only, which then stops the children
            )
        return self.started[name]

    def wait(self, what: str, ready: Callable[[], Any], patience: float = PATIENCE) -> Any:
        """Wait until `ready()` is true and return it; a process that ends meanwhile is an error with its log."""
        end = time.monotonic() + patience
        running = [name for name, process in self.started.items() if process.poll() is None]
        while time.monotonic() < end:
            if found := ready():
                return found
            if dead := [name for name in running if self.started[name].poll() is not None]:
                message = f"{', '.join(dead)} ended while waiting for {what}.\n{self._logs(dead)}"
                raise ClusterError(message)
            time.sleep(0.2)
        message = f"{what}: not after {patience:.0f} s.\n{self._logs(self.started)}"
        raise ClusterError(message)

    def alive(self) -> list[psutil.Process]:
        """Every living process with the mark: the started ones, and all that these started."""
        return [process for process in psutil.process_iter() if self._is_ours(process)]

    def pids(self, words: str) -> list[int]:
        """The living processes whose command line contains `words`."""
        return sorted(process.pid for process in self.alive() if words in command_line(process))

    def end(self, name: str) -> None:
        """End one of the started processes, and wait for it."""
        process = self.started.pop(name)
        process.kill()
        process.wait()

    def stop(self) -> None:
        """End everything, politely first. Safe to call twice."""
        found = self.alive()
        for process in self.started.values():
            process.terminate()
        self._await_end(found, 1)
        for attempt in range(10):  # a process that was about to be born is found in the next round
            found = self.alive()
            for process in found:
                # Python's resource trackers go by themselves, after removing what the others left in shared memory.
                if attempt > 1 or TRACKER not in command_line(process):
                    _kill_quietly(process)
            if self._await_end(found, 1):
                break
        for process in self.started.values():
            process.wait(timeout=10)
        self.started.clear()
        if left := self.alive():
            message = f"Still alive after being killed: {left}"
            raise ClusterError(message)

    def _await_end(self, found: list[psutil.Process], patience: float) -> bool:
        """Whether nothing is alive any more, in particular nothing of what was found: who is ending has no mark."""
        end = time.monotonic() + patience
        while any(is_alive(process) for process in found) or (found := self.alive()):
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            # A process that is older than this one is not ours; its environment need not be read again and again.
            if process.create_time() <= self.born or not is_alive(process):
                return False
            # A program that sets its own title may overwrite its environment; Ray's agents do. They stay in our folder.
            return process.environ().get(MARK) == self.mark or Path(process.cwd()) == self.folder
        except (psutil.NoSuchProcess, psutil.AccessDenied, OSError):
            return False

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def _logs(self, names: Any) -> str:
        ends = [(name, self._log(name).read_text(errors="replace")[-3000:]) for name in names]
        return "\n".join(f"--- the end of {self._log(name)} ---\n{end}" for name, end in ends)


class DaskCluster:
    """A scheduler and workers, each under a nanny."""

    def __init__(self, processes: Processes, n_workers: int):
        self.processes = processes
        self.n_workers = n_workers
        self.address = f"tcp://{LOOPBACK}:{free_port()}"
        self.client: Any = None

    def start(self) -> None:
        """Start the scheduler."""
        port = self.address.rpartition(":")[2]
        scheduler = ["scheduler", "--host", LOOPBACK, "--port", port, "--no-dashboard"]
        self.processes.start("scheduler", [*DASK, *scheduler])
        self.processes.wait("the Dask scheduler", lambda: is_open(int(port)))

    def repair(self) -> None:
        """Start the workers that are not there, or not any more, and wait until all have registered."""
        work = ["--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--local-directory", str(self.processes.folder)]
        for _ in range(self.n_workers - len(self.nanny_pids())):
            name = f"worker-{len(self.processes.started)}"
            self.processes.start(name, [*DASK, "worker", self.address, "--host", LOOPBACK, *work])
        self.processes.wait("the Dask workers", lambda: len(self.client.scheduler_info()["workers"]) == self.n_workers)

    def worker_pids(self) -> list[int]:
        """The processes that run tasks; a nanny replaces one that dies."""
        return sorted(self.client.run(os.getpid).values())

    def nanny_pids(self) -> list[int]:
        """The processes that look after one worker each: with its worker, what a node is."""
        nannies = [process for name, process in self.processes.started.items() if name.startswith("worker")]
        return sorted(process.pid for process in nannies if process.poll() is None)


@contextmanager
def dask_cluster(folder: Path, n_workers: int = 2) -> Iterator[DaskCluster]:
    """A Dask scheduler and workers of one thread, as one starts them by hand; and a client."""
    from distributed import Client

    with running(folder) as processes:
        cluster = DaskCluster(processes, n_workers)
        cluster.start()
        with Client(cluster.address, timeout=PATIENCE, set_as_default=False) as cluster.client:
            cluster.repair()
            yield cluster


@contextmanager
def running(folder: Path) -> Iterator[Processes]:
    """Processes that are stopped in the end, whatever happens."""
    processes = Processes(folder)
    try:
        yield processes
    finally:
        processes.stop()


@contextmanager
def environment_set(**values: str | None) -> Iterator[None]:
    """Variables of our own environment, set (None: removed) for a while."""
    before = {name: os.environ.get(name) for name in values}
    try:
        _set_environment(values)
        yield
    finally:
        _set_environment(before)


def _set_environment(values: dict[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def kill(pid: int) -> None:
    """`kill -9`, and wait until the process is gone."""
    process = psutil.Process(pid)
    process.kill()
    with suppress(psutil.NoSuchProcess):
        while process.status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.01)


def kill_node(pid: int) -> None:
    """`kill -9` for a node's process and then for all that it had started."""
    children = psutil.Process(pid).children(recursive=True)
    kill(pid)
    for child in children:
        if TRACKER not in command_line(child):
            _kill_quietly(child)


def is_alive(process: psutil.Process) -> bool:
    """Zombies are dead: not every machine's first process buries orphans."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _kill_quietly(process: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        process.kill()


@contextmanager
def killing(
    pids: Callable[[], list[int]], when: Callable[[], Any], how: Callable[[int], None] = kill
) -> Iterator[list[int]]:
    """Kill the first of `pids()` as soon as `when()` is true while the body runs; an error if the body is faster."""
    killed: list[int] = []
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            if when() and (found := pids()):
                how(found[0])
                killed.append(found[0])
                return

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield killed
    finally:
        over.set()
        watcher.join()
    if not killed:
        message = "The work was done before anything could be killed: more tasks, or slower ones."
        raise ClusterError(message)


def leave_trace(folder: str, task: int) -> None:
    """Note in a folder that a task began, here and now; a task that is run again leaves another trace."""
    Path(folder, f"{task}-{os.getpid()}-{uuid.uuid4().hex}").touch()


def traces(folder: Path | str) -> list[tuple[int, int]]:
    """Task and process of every task that began, the latest first."""
    found = sorted(Path(folder).iterdir(), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    return [(int(task), int(pid)) for task, pid, _ in (path.name.split("-") for path in found)]


def busy(pids: list[int], folder: Path | str) -> list[int]:
    """Those of some processes that run the task that began last: in themselves, or in a process that they started."""
    _, latest = traces(folder)[0]
    try:
        running = {latest, *[parent.pid for parent in psutil.Process(latest).parents()]}
    except psutil.NoSuchProcess:
        return []
    return [pid for pid in pids if pid in running]


def command_line(process: psutil.Process) -> str:
    """The command line; nothing if the process is gone."""
    try:
        return " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.ZombieProcess, psutil.AccessDenied):
        return ""


def free_port(start: int = 0) -> int:
    """A port that nobody listens at now; from `start` on if given, else any."""
    for port in range(start, start + 1000) if start else [0]:
        with socket.socket() as listener, suppress(OSError):
            listener.bind((LOOPBACK, port))
            return int(listener.getsockname()[1])
    message = f"No free port from {start} on."
    raise ClusterError(message)


def is_open(port: int, host: str = LOOPBACK) -> bool:
    """Whether somebody listens at a port."""
    with socket.socket() as caller:
        caller.settimeout(1)
        return caller.connect_ex((host, port)) == 0


def _leads_astray(name: str) -> bool:
    """Whether a variable belongs to an engine, or to the coverage of the process that started the test."""
    return name.startswith(("RAY_", "SPARK_", "PYSPARK_", "DASK_", "COV_CORE_", "COVERAGE_"))
