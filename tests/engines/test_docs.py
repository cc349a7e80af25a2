"""The examples of docs/guide/clusters.md run as they stand, each in a process and a folder of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.clusters_ray import ONE_READER

pytestmark = pytest.mark.xdist_group("engines")

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "guide" / "clusters.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"## (\w+)\n.*?```python\n(.*?)```", PAGE, re.DOTALL))


@pytest.mark.parametrize("engine", ["Dask", "Ray", "Spark"])
def test_the_example_runs(engine, tmp_path):
    script = tmp_path / "example.py"
    script.write_text(EXAMPLES[engine])
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", **ONE_READER}
    done = subprocess.run([sys.executable, script], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "True" in done.stdout.splitlines(), done.stdout  # Ray prints warnings to the same stream
