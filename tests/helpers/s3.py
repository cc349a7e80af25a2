"""A local S3 server of its own process, and what it was asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs

ROOT = Path(__file__).parents[2]
SERVER = Path(__file__).with_name("s3_server.py")


def moto_python() -> str:
    """The Python that has moto. It is not among the tests' own libraries, with whose versions it does not agree."""
    named = os.environ.get("GLASSWOOD_S3_PYTHON")
    built = ROOT / "build" / "s3" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if named or built.exists():
        return named or str(built)
    if find_spec("moto") is None:
        pytest.skip("there is no S3 server; `bash .ci/s3` installs one")
    return sys.executable


@dataclass
class S3Server:
    """A server on this machine: where it is, its keys, and the requests that it has answered."""

    port: int
    key: str
    secret: str
    requests: list[dict[str, Any]] = field(default_factory=list)

    def filesystem(self, **settings: Any) -> Any:
        """A file system of Arrow on it."""
        own = {"access_key": self.key, "secret_key": self.secret, "endpoint_override": f"127.0.0.1:{self.port}"}
        return fs.S3FileSystem(**(own | {"scheme": "http", "region": "us-east-1"} | settings))

    @property
    def environment(self) -> dict[str, str]:
        """What tells libraries of AWS to use it."""
        address = f"http://127.0.0.1:{self.port}"
        keys = {"AWS_ACCESS_KEY_ID": self.key, "AWS_SECRET_ACCESS_KEY": self.secret}
        return keys | {"AWS_ENDPOINT_URL": address, "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}

    def bucket(self, name: str) -> str:
        """A new bucket."""
        self.filesystem(allow_bucket_creation=True).create_dir(name)
        return name

    def upload(self, folder: Path, to: str) -> str:
        """Copy a folder of files."""
        filesystem = self.filesystem()
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            with filesystem.open_output_stream(f"{to}/{file.relative_to(folder)}") as stream:
                stream.write(file.read_bytes())
        return to

    def reads(self, path: str = "") -> list[dict[str, Any]]:
        """The reads of parts of objects since the log was last cleared."""
        return [one for one in self.requests if one["method"] == "GET" and one["range"] and path in one["path"]]


@contextmanager
def s3_server(delay: float = 0.0) -> Iterator[S3Server]:
    """Start a server on a free port, whose answers take a while, and stop it."""
    quiet = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PYTHON"))}
    command = [moto_python(), str(SERVER), str(delay)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=quiet)
    assert process.stdout is not None
    requests: list[dict[str, Any]] = []
    reader = threading.Thread(target=_follow, args=(process.stdout, requests), daemon=True)
    try:
        started = json.loads(process.stdout.readline())
        reader.start()
        yield S3Server(**started, requests=requests)
    finally:
        process.terminate()
        process.wait(30)
        reader.join(30)
        process.stdout.close()


def _follow(lines: Any, requests: list[dict[str, Any]]) -> None:
    for line in lines:
        requests.append(json.loads(line))  # noqa: PERF401 (as they come)
