"""A real Ray cluster of several raylets on this machine, with a token of its own.

    with ray_cluster(folder) as cluster:    # ray is connected to it meanwhile
        ray.get(task.remote())

Ray cannot be bound to loopback only, so the token matters: nobody else may run code here.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from helpers.clusters import Processes, environment_set, free_port, running

STORE_BYTES = 120_000_000
# Ray 2.60 starts 32 processes to read the footers of Parquet files. On two busy cores, that takes minutes.
ONE_READER = {"RAY_DATA_PARQUET_FOOTER_NUM_ACTORS": "1"}
PORTS = 20_000  # Ray gives the ports from 10002 to 19999 to workers, and refuses them for itself


class RayCluster:
    """A head and further nodes of one CPU each, all on this machine."""

    def __init__(self, processes: Processes, n_nodes: int, session: Path):
        self.processes = processes
        self.n_nodes = n_nodes
        self.session = session  # sockets and logs; its path must be short, since a socket's may have 107 bytes
        self.address = ""

    def start(self) -> None:
        """Start the head and the other nodes. Each `ray start` stays, and ends with its raylet."""
        import ray

        port = free_port(PORTS + os.getpid() % 10_000)
        self.address = f"{ray.util.get_node_ip_address()}:{port}"
        head = ["--head", "--port", str(port), "--ray-client-server-port", str(free_port(port + 1))]
        head += ["--include-dashboard=false", "--temp-dir", str(self.session)]
        self._start_node("head", head)
        self.processes.wait("the Ray head", lambda: self._is_up(1))
        self._start_nodes()

    def repair(self) -> None:
        """Start the nodes that are not there any more, and wait until Ray knows who is alive."""
        import ray

        self._start_nodes()
        self.processes.wait("the Ray nodes", lambda: ray.cluster_resources().get("CPU") == self.n_nodes)

    def environment(self) -> dict[str, str]:
        """What the nodes need to know, and a driver that connects to them."""
        return {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(self.session / "token"),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "1",
            **ONE_READER,
        }

    def raylet_pids(self) -> list[int]:
        """The node processes that may be killed: all but the head's, without which a job is lost."""
        return sorted(pid for pid, parent in self._raylets().items() if parent != self.processes.started["head"].pid)

    def task_worker_pids(self) -> list[int]:
        """The processes that run tasks, or wait for one."""
        return self.processes.pids("ray::")

    def _start_nodes(self) -> None:
        for _ in range(self.n_nodes - 1 - len(self.raylet_pids())):
            self._start_node(f"node-{len(self.processes.started)}", ["--address", self.address])
        self.processes.wait("the Ray nodes", lambda: self._is_up(self.n_nodes))

    def _start_node(self, name: str, options: list[str]) -> None:
        limits = ["--num-cpus", "1", "--object-store-memory", str(STORE_BYTES)]
        ray = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats"]
        self.processes.start(name, [*ray, *limits, *options], **self.environment())

    def _is_up(self, n_nodes: int) -> bool:
        return len(self._raylets()) == n_nodes

    def _raylets(self) -> dict[int, int]:
        """The node processes, each with the `ray start` that it belongs to.

        A raylet forks to start workers and agents: for a moment, such a child looks like a raylet itself. Only its
        parent tells them apart.
        """
        starters = {process.pid for process in self.processes.started.values()}
        parents = {}
        for process in self.processes.alive():
            with suppress(psutil.NoSuchProcess):
                if process.name() == "raylet" and process.ppid() in starters:
                    parents[process.pid] = process.ppid()
        return parents


@contextmanager
def ray_cluster(folder: Path, n_nodes: int = 2) -> Iterator[RayCluster]:
    """A Ray head and further nodes of one CPU; ray is connected to the cluster inside the context."""
    session = Path(tempfile.mkdtemp(prefix="gw-ray-"))
    try:
        with running(folder) as processes:
            cluster = RayCluster(processes, n_nodes, session)
            token = session / "token"
            token.touch(mode=0o600)
            token.write_text(uuid.uuid4().hex)
            with environment_set(**cluster.environment()):
                _reread_token()
                cluster.start()
                with _connected(cluster.address):
                    yield cluster
    finally:
        _keep_logs(session, Path(folder))
        shutil.rmtree(session, ignore_errors=True)


@contextmanager
def _connected(address: str) -> Iterator[None]:
    import ray

    try:
        ray.init(address=address, log_to_driver=False, configure_logging=False, logging_level="error")
        yield
    finally:
        ray.shutdown()


def _reread_token() -> None:
    """Make Ray read its settings and its token again: it does so only once per process."""
    from ray import _raylet

    raylet: Any = _raylet  # compiled, and without types
    raylet.Config.initialize("")
    raylet.AuthenticationTokenLoader.instance().reset_cache()


def _keep_logs(session: Path, folder: Path) -> None:
    """Move Ray's own logs to the caller's folder."""
    for logs in session.glob("session_2*/logs"):
        shutil.move(logs, folder / f"ray-{uuid.uuid4().hex[:8]}")
