"""The code in the README and in the pages of docs/ runs as it stands."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(page, monkeypatch, tmp_path):
    """Run all Python blocks of a page, one after the other, in an empty folder; return the names they leave.

    Values that a comment states behind an expression are compared with those that it has.
    """
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        lines = block.splitlines()
        for statement in ast.parse(block).body:
            if not isinstance(statement, ast.Expr):
                exec(compile(ast.Module([statement], []), page.name, "exec"), names)
                continue
            code = "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
            value = eval(compile(ast.Expression(statement.value), page.name, "eval"), names)
            _, _, comment = lines[statement.end_lineno - 1][statement.end_col_offset :].partition("# ")
            assert says(comment, value), f"{code}: {value!r}"
    return names


def says(comment, value):
    """Return whether a comment behind an expression is true, as far as it states a value; prose may follow."""
    if re.match(rf"{type(value).__name__}\(", comment):
        stated = ".*".join(map(re.escape, comment.split("...")))
        return re.fullmatch(stated, repr(value)) is not None
    stated = re.match(r"""(True|False|-?[\d.]+|\(.*?\)|'[^']*'|\[.*?\])(?=$|[,;:] )""", comment)
    if stated is None:
        return True
    if "..." in stated[0]:
        return re.fullmatch(".*".join(map(re.escape, stated[0].split("..."))), repr(value)) is not None
    known = ast.literal_eval(stated[0])
    if isinstance(known, float):
        return f"{float(value):.{len(stated[0].partition('.')[2])}f}" == stated[0]
    if (isinstance(value, tuple) and len(known) < len(value)) or value != known:
        return isinstance(value, tuple) and value[0] == known  # the first of several values
    return True


def test_the_readme_runs_twice(tmp_path, monkeypatch):
    run(ROOT / "README.md", monkeypatch, tmp_path)
    names = run(ROOT / "README.md", monkeypatch, tmp_path)
    assert len(names["values"]) == len(names["X"])


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_figures_of_the_readme_are_those_of_a_dated_run():
    measured = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    speed = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Speed\n")[2].partition("\n#")[0]
    figures = re.findall(r"\d+\.\d+(?: m?s\b)?", speed)
    assert figures
    assert [figure for figure in figures if figure not in measured] == []


def test_links_of_the_readme_lead_to_files():
    links = re.findall(r"\]\(([^)#]+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert [link for link in links if not (ROOT / link).exists()] == []


PAGES = sorted(
    str(path.relative_to(ROOT / "docs"))
    for path in (ROOT / "docs").rglob("*.md")
    if "```python" in path.read_text(encoding="utf-8") and path.name != "clusters.md"  # whose blocks have tests/engines
)


@pytest.mark.parametrize("times", [1, pytest.param(2, marks=pytest.mark.slow)])  # files of the first run are there
@pytest.mark.parametrize("page", PAGES)
def test_the_pages_run(page, times, tmp_path, monkeypatch):
    imported = re.findall(r"^(?:import|from) (\w+)", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.MULTILINE)
    if lacking := [name for name in dict.fromkeys(imported) if importlib.util.find_spec(name) is None]:
        pytest.skip(f"needs {', '.join(lacking)}")
    for _ in range(times):
        run(ROOT / "docs" / page, monkeypatch, tmp_path)
