"""What documents say of the sources, compared with the sources."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from glasswood.counting import _weights
from glasswood.engines._engine import ENGINES, Engine
from glasswood.models.readers._dispatch import Reader

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "glasswood"
MAX_LINES = 60  # of a function's body, its docstring apart; few have more than 40


def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


def section(name, title):
    return page(name).partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize(("title", "protocol"), [("Add a reader", Reader), ("Add an engine", Engine)])
def test_recipes_name_the_functions_of_a_protocol(title, protocol):
    text = section("docs/contributing/recipes.md", title).partition("protocol")[2]
    named = re.findall(r"`(\w+)`", text.partition(":")[2].partition(".")[0])
    functions = [name for name, value in vars(protocol).items() if callable(value) and not name.startswith("_")]
    assert sorted(named) == sorted(functions)


def test_recipes_name_files_that_are_there():
    """Paths of the sources, below the repository, the package or its C++ core; NAME stands for a new one."""
    names = re.findall(r"`([\w./*]+/[\w./*]*)`", page("docs/contributing/recipes.md"))
    places = (ROOT, SOURCES, SOURCES / "models", ROOT / "docs")
    made = [name for name in names if "NAME" not in name and not name.startswith(("build/", "/_figures"))]
    assert made
    assert [name for name in made if not any([*place.glob(name.rstrip("/"))] for place in places)] == []


def test_the_number_of_deliberate_faults():
    faults = tomllib.loads(page("faults/faults.toml"))["fault"]
    core = sum(fault["file"].startswith("src/core/") for fault in faults)
    assert f"| deliberate faults | {len(faults)}, of which {core} are in the C++ core" in page(
        "docs/explanation/correctness.md"
    )


def test_the_page_of_files_is_that_of_the_files():
    """`python tools/files.py` writes it."""
    assert subprocess.run([sys.executable, "tools/files.py", "--check"], cwd=ROOT, check=False).returncode == 0


def test_the_page_of_public_names_is_that_of_the_names():
    """`python tools/public_names.py` writes it."""
    assert subprocess.run([sys.executable, "tools/public_names.py", "--check"], cwd=ROOT, check=False).returncode == 0


CONTRIBUTORS = ["ARCHITECTURE.md", "docs/contributing/where-to-look.md", "docs/contributing/decisions.md"]
PAGES = [
    path.relative_to(ROOT).as_posix()
    for folder in (".", "docs", "tests", "fuzz")
    for path in (ROOT / folder).glob("*.md")
]
PAGES += [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*/*.md")]
WRITTEN = {
    "docs/contributing/files.md",
    "docs/contributing/public-names.md",
    "docs/explanation/paper-results.md",
    "docs/explanation/performance-results.md",
}


@pytest.mark.parametrize("name", CONTRIBUTORS)
def test_paths_of_pages_for_contributors_exist(name):
    """Paths below the package or the repository, with or without the end of their name; NAME stands for a new one."""
    paths = re.findall(r"`((?:src/core/|[a-z]+/)[\w./-]+)`", page(name))
    assert len(paths) > 5
    missing = []
    for path in {path for path in paths if "NAME" not in path and not path.startswith("ray-project")}:
        whole, _, last = path.rpartition("/")
        found = [*SOURCES.glob(f"{path}*"), *ROOT.glob(f"{path}*")]
        named = [*(SOURCES / whole).glob(f"{last.partition('.')[0]}.py")]  # a name in a file: `tables/_tables.encode`
        missing += [] if found or named else [path]
    assert missing == []


def test_the_life_of_a_curve_names_what_there_is():
    """Dotted names such as `counting/_plan.CountPlan`: the file has that class or function."""
    named = re.findall(r"`([\w/]+/_\w+|_explainer)\.(?!py`)(\w+)`", page("ARCHITECTURE.md"))
    assert len(named) > 5
    for path, name in named:
        text = (SOURCES / f"{path}.py").read_text(encoding="utf-8")
        assert re.search(rf"^(?:class|def) {name}\b", text, re.MULTILINE), f"{path}.{name}"


@pytest.mark.parametrize("name", sorted({*PAGES} - WRITTEN))
def test_lines_of_documents_are_short(name):
    """Tables, code, and directives with their captions are not prose."""
    prose = re.sub(r"^( *)(`{3,}|:{3,})[^\n]*\n.*?^\1\2$", "", page(name), flags=re.MULTILINE | re.DOTALL)
    long = [line for line in prose.splitlines() if len(line) > 120 and not line.lstrip().startswith(("|", "!["))]
    assert [line for line in long if not line.startswith("    ")] == []


def test_the_architecture_is_short():
    assert len(page("ARCHITECTURE.md").split()) <= 1600


def test_weights_are_cut_where_the_decisions_say():
    text = page("docs/contributing/decisions.md")
    assert f"at fixed binary digits, every {_weights.WIDTH}," in text
    assert "2^-24" not in text


def test_folders_and_files_of_the_architecture_are_there():
    rows = re.findall(r"`([\w]+)/`", section("ARCHITECTURE.md", "Folders"), re.M)
    assert {"cli", "study", "tables", "kernels"} <= set(rows)
    assert [name for name in rows if not (SOURCES / name).is_dir()] == []


def test_extras_of_clusters_are_not_for_platforms_with_their_own():
    text = page("docs/guide/clusters.md")
    assert "**Not the extra `spark`**" in text
    assert all(f"`glasswood[{name}]`" in text for name in ENGINES)


def test_functions_are_short():
    long = []
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
                if node.end_lineno - body[0].lineno >= MAX_LINES:
                    long.append(f"{path.relative_to(SOURCES)}: {node.name}")
    assert not long


NUMBERS = {13: "thirteen", 14: "fourteen", 15: "fifteen", 16: "sixteen", 17: "seventeen", 18: "eighteen"}


def test_the_number_of_analyses_in_the_gallery():
    assert f"{NUMBERS[len([*(ROOT / 'examples').glob('plot_*.py')])]} analyses" in page("README.md")


def test_the_number_of_mistakes():
    """The last section has none of its own."""
    titles = re.findall(r"^## (.*)", page("docs/guide/limits.md"), re.MULTILINE)
    assert titles[-1] == "Shapley values have the same limits"
    assert len(titles) - 1 == 4
    assert "four common mistakes" in page("docs/guide/limits.md")
