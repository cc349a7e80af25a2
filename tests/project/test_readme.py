"""The code in the README and in the pages of docs/ runs as it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from glasswood.cli import main

ROOT = Path(__file__).resolve().parents[2]


def run(page, monkeypatch, tmp_path):
    """Run all Python blocks of a page, one after the other, in an empty folder; return the names they leave."""
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        exec(block, names)
    return names


def test_the_readme_runs_twice(tmp_path, monkeypatch):
    run(ROOT / "README.md", monkeypatch, tmp_path)
    names = run(ROOT / "README.md", monkeypatch, tmp_path)
    for block in 2 * re.findall(r"```console\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL):
        for command in re.findall(r"^\$ glasswood (.*)", block, re.MULTILINE):
            assert main(shlex.split(command)) == 0, command
    assert names["both"].n_rows == len(names["X"])
    assert (names["ensemble"].predict(names["X"]) == names["model"].predict(names["X"])).all()
    assert len(names["shap_values"]) == len(names["X"])


PAGES = sorted(
    str(path.relative_to(ROOT / "docs"))
    for path in (ROOT / "docs").rglob("*.md")
    if "```python" in path.read_text(encoding="utf-8") and path.name != "clusters.md"  # whose blocks have tests/engines
)


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_run_twice(page, tmp_path, monkeypatch):
    run(ROOT / "docs" / page, monkeypatch, tmp_path)
    run(ROOT / "docs" / page, monkeypatch, tmp_path)
