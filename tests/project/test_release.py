"""What a release needs: versions that agree, extras that are not empty, workflows that run what the gate runs."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
CLUSTERS = {"dask", "ray", "spark"}


def load(path):
    """Return a script of the checkout as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_version_changelog_and_citation_agree():
    version = load(ROOT / "tools" / "version.py")
    assert version.disagreements() == []
    assert version.disagreements("v0.0.0") != []


def test_all_is_everything_but_the_clusters():
    parts = {name: set(re.search(r"\[(.*)\]", EXTRAS[name][0])[1].split(",")) for name in ("all", "clusters")}
    assert parts["clusters"] == CLUSTERS
    assert parts["all"] == set(EXTRAS) - CLUSTERS - {"all", "clusters"}


def test_every_extra_has_a_smoke_test():
    smoke = load(ROOT / "tests" / "project" / "smoke.py")
    assert [name for name in EXTRAS if name not in smoke.PARTS and not hasattr(smoke, name)] == []
    assert all(EXTRAS.values())


def test_everything_that_the_gate_installs_is_pinned():
    pins = [line.split("==")[0] for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line]
    pinned = {re.sub("[-_.]+", "-", name).lower() for name in pins}
    groups = [*PYPROJECT["project"]["dependencies"], *(one for extra in EXTRAS.values() for one in extra)]
    names = {re.match(r"[\w-]+", requirement)[0].lower() for requirement in groups} - {"glasswood"}
    assert names - pinned == set()


@pytest.fixture
def workflows():
    folder = ROOT / ".github" / "workflows"
    if not folder.is_dir():
        pytest.skip("an sdist has no workflows")
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.yml"))}


def test_workflows_run_scripts_that_exist(workflows):
    called = set(re.findall(r"bash (\.ci/\w+)", "\n".join(workflows.values())))
    assert ".ci/run" in called
    assert [name for name in sorted(called) if not (ROOT / name).is_file()] == []


def test_actions_are_pinned_to_hashes(workflows):
    used = re.findall(r"uses: (\S+)", "\n".join(workflows.values()))
    assert [name for name in used if not re.search(r"@[0-9a-f]{40}$", name) and not name.startswith("./")] == []


def test_archives_with_junk_or_gaps_are_refused(tmp_path):
    contents = load(ROOT / "tools" / "contents.py")
    path = Path("glasswood-0.1.0.tar.gz")
    full = [contents.PurePosixPath(name) for name in sorted(contents.SDIST)]
    full += [contents.PurePosixPath(name) / "file" for name in sorted(contents.SDIST_FOLDERS)]
    assert contents.complaints(path, full) == []
    assert contents.complaints(path, full[1:]) == [f"{full[0]} is missing"]
    stranger = contents.PurePosixPath("src/glasswood/__pycache__/a.pyc")
    assert contents.complaints(path, [*full, stranger]) == [f"{stranger} does not belong here"]
