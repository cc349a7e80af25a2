"""A real Spark standalone cluster on loopback: a master, worker daemons, executors; classic sessions and Spark Connect.

    with spark_cluster(folder) as cluster:
        with cluster.session() as spark: ...            # classic: a driver JVM under this process
        with cluster.connect_session() as spark: ...    # a Connect server of its own, and a remote session

Both kinds work in one Python process: PySpark keeps its choice in globals and in the environment, and leaving either
context takes that back. A Connect session inside a classic one shares its driver and its executors, which saves the
start of three JVMs; the classic one works again when the inner context is left.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from helpers.clusters import LOOPBACK, MARK, ClusterError, Processes, environment_set, free_port, is_open, running

# What PySpark warns about, and is of no concern here: for `pytest.mark.filterwarnings`.
SPARK_WARNINGS = ["ignore:PySpark does not yet fully support pandas:FutureWarning"]
QUIET_LOG = """\
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
"""


class SparkCluster:
    """A master and workers of one core. Sessions are opened one at a time."""

    def __init__(self, processes: Processes, n_workers: int):
        self.processes = processes
        self.n_workers = n_workers
        self.connect_port = 0  # none
        self.master = f"spark://{LOOPBACK}:{free_port()}"

    @contextmanager
    def session(self, **options: str) -> Iterator[Any]:
        """A classic SparkSession, the only one of this process; options with `__` for dots. Its JVM ends with it."""
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        if SparkContext._gateway is not None:
            message = "this process has a classic session already; use a Connect session"
            raise ClusterError(message)
        ours = self.environment() | {MARK: self.processes.mark}
        with ExitStack() as ends:
            ends.enter_context(environment_set(**ours, SPARK_REMOTE=None, SPARK_CONNECT_MODE_ENABLED=None))
            ends.callback(self._forget_driver)
            self._start_driver(options)
            spark = SparkSession.builder.getOrCreate()
            ends.callback(spark.stop)
            self._await_executors()
            yield spark

    @contextmanager
    def connect_session(self, **options: str) -> Iterator[Any]:
        """A remote SparkSession. Inside a classic session its driver is the Connect server, else a new process is."""
        from pyspark.sql.connect.session import SparkSession

        with ExitStack() as ends:
            if not self.connect_port:
                ends.callback(self._end_connect_server)
                self.start_connect_server(**options)
            # The functions of `pyspark.sql` ask the environment which kind of column to make.
            ends.enter_context(environment_set(SPARK_REMOTE=None, SPARK_CONNECT_MODE_ENABLED="1"))
            spark = SparkSession.builder.remote(f"sc://{LOOPBACK}:{self.connect_port}").create()
            ends.callback(spark.stop)  # before the server ends: Python's exit would wait for it for minutes
            yield spark

    def start_connect_server(self, **options: str) -> None:
        """Start a Connect server, and wait until it has its executors."""
        self.connect_port = free_port()
        configuration = self.configuration(options)
        settings = [word for name, value in configuration.items() for word in ("--conf", f"{name}={value}")]
        server = ["org.apache.spark.deploy.SparkSubmit", *settings]
        server += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
        # The start script takes a Connect server for a daemon, and would give it a daemon's memory.
        memory = {"SPARK_DAEMON_MEMORY": configuration["spark.driver.memory"]}
        self.processes.start("connect", [spark_class(), *server], **self.environment() | memory)
        self.processes.wait("the Spark Connect server", lambda: is_open(self.connect_port))
        self._await_executors()

    def start(self) -> None:
        """Start the master and the workers, and wait until these have registered."""
        (self.processes.folder / "log4j2.properties").write_text(QUIET_LOG)
        host = ["--host", LOOPBACK, "--webui-port", "0"]
        port = self.master.rpartition(":")[2]
        master = ["org.apache.spark.deploy.master.Master", *host, "--port", port]
        self.processes.start("master", [spark_class(), *master], **self.environment())
        self.processes.wait("the Spark master", lambda: is_open(int(port)))
        self._start_workers()

    def repair(self) -> None:
        """Start the workers that are not there any more, and wait until all have an executor of the open session."""
        self._start_workers()
        self._await_executors(self.n_workers)

    def environment(self) -> dict[str, str]:
        """What every process of the cluster, and the driver, needs to know."""
        return {
            "SPARK_HOME": str(_home()),
            "SPARK_CONF_DIR": str(self.processes.folder),  # where log4j2.properties is
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_LOCAL_DIRS": str(self.processes.folder),
            "SPARK_DAEMON_MEMORY": "256m",
            # Short lives: without the second compiler a JVM needs 40 % less CPU until its first job is done.
            "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_DRIVER_PYTHON": sys.executable,
        }

    def configuration(self, options: dict[str, str]) -> dict[str, str]:
        """The settings of an application: small, quiet, on loopback, all cores of the cluster."""
        return {
            "spark.master": self.master,
            "spark.app.name": "glasswood",
            "spark.driver.host": LOOPBACK,
            "spark.driver.bindAddress": LOOPBACK,
            "spark.driver.memory": "512m",
            "spark.executor.memory": "512m",
            "spark.executor.cores": "1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "4",
            "spark.sql.warehouse.dir": str(self.processes.folder / "warehouse"),
            "spark.pyspark.python": sys.executable,
            "spark.connect.grpc.binding.address": LOOPBACK,
            "spark.connect.grpc.binding.port": str(self.connect_port),
        } | {name.replace("__", "."): value for name, value in options.items()}

    def executor_pids(self) -> list[int]:
        """The JVMs that run tasks; a worker daemon replaces one that dies."""
        return self.processes.pids("executor.CoarseGrainedExecutorBackend")

    def python_worker_pids(self) -> list[int]:
        """The Python processes that run our functions: children of the `pyspark.daemon` of an executor."""
        daemons = set(self.processes.pids("pyspark.daemon"))
        alive = [process for process in self.processes.alive() if process.pid in daemons]
        return sorted(process.pid for process in alive if process.ppid() in daemons)

    def worker_daemon_pids(self) -> list[int]:
        """The JVMs that start executors: with its executor, what a node is."""
        return self.processes.pids("deploy.worker.Worker")

    def _start_driver(self, options: dict[str, str]) -> None:
        """Start the driver's JVM with a log of its own; PySpark would send it to our stderr."""
        from pyspark import SparkConf, SparkContext
        from pyspark.java_gateway import launch_gateway

        self.connect_port = free_port()
        settings = self.configuration(options) | {"spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin"}
        configuration = SparkConf(loadDefaults=False).setAll(list(settings.items()))
        with (self.processes.folder / "driver.log").open("ab") as log:
            gateway = launch_gateway(configuration, {"stdout": log, "stderr": log})
        SparkContext._ensure_initialized(gateway=gateway)

    def _forget_driver(self) -> None:
        """End the driver's JVM, and make PySpark forget it, so that the next session starts another."""
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        self.connect_port = 0
        gateway = SparkContext._gateway
        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
        SparkSession._instantiatedSession = None
        if gateway is not None:
            gateway.shutdown()
            gateway.proc.stdin.close()
            gateway.proc.kill()
            gateway.proc.wait()

    def _end_connect_server(self) -> None:
        self.connect_port = 0
        self.processes.end("connect")

    def _start_workers(self) -> None:
        for _ in range(self.n_workers - len(self.worker_daemon_pids())):
            name = f"worker-{len(self.processes.started)}"
            # Each has an address of its own: Spark starts no second copy of a task on the host of the first.
            host = f"127.0.0.{len(self.processes.started) + 1}"
            worker = ["org.apache.spark.deploy.worker.Worker", "--host", host, "--webui-port", "0"]
            worker += ["--cores", "1", "--memory", "1g", "--work-dir", str(self.processes.folder / name), self.master]
            self.processes.start(name, [spark_class(), *worker], **self.environment())

    def _await_executors(self, at_least: int = 1) -> None:
        self.processes.wait(
            "the Spark executors",
            lambda: len(self.executor_pids()) >= max(at_least, len(self.worker_daemon_pids())),
        )


@contextmanager
def spark_cluster(folder: Path, n_workers: int = 2) -> Iterator[SparkCluster]:
    """A Spark standalone master and workers of one core and 1 GB."""
    with running(folder) as processes:
        cluster = SparkCluster(processes, n_workers)
        cluster.start()
        yield cluster


def spark_class() -> str:
    """The program that starts every class of Spark."""
    return str(_home() / "bin" / "spark-class")


def _home() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent
