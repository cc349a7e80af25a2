"""Folders of questions: each file has a role, and asks only those of its family whose role is below."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from glasswood.questions import FAMILIES

QUESTIONS = Path(__file__).parents[2] / "src" / "glasswood" / "questions"
# From the top to the bottom. A result does not know its figure, nor a figure how an answer is found.
ROLES = ("command", "section", "answer", "panel", "result", "arithmetic", "statistic")
BETWEEN_EQUALS = ("answer", "panel")  # which may not ask each other


def role_of(file: str) -> str:
    found = re.fullmatch(r"_([a-z]+)(_\w+)?", file)
    return found[1] if found else ""


def files_of(family: str) -> list[Path]:
    return [path for path in (QUESTIONS / family).glob("*.py") if path.stem != "__init__"]


def asked_by(path: Path, family: str) -> set[str]:
    """The files of its own family that a file imports."""
    start = f"glasswood.questions.{family}"
    tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    modules = [node.module or "" for node in tree if isinstance(node, ast.ImportFrom)]
    return {
        module.removeprefix(start).removeprefix(".") for module in modules if (module + ".").startswith(start + ".")
    }


def test_every_folder_is_a_family():
    folders = {path.name for path in QUESTIONS.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == set(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_file_has_a_role(family):
    assert {role_of(path.stem) for path in files_of(family)} <= set(ROLES)


@pytest.mark.parametrize("family", FAMILIES)
def test_files_ask_those_below(family):
    wrong = []
    for path in files_of(family):
        own = role_of(path.stem)
        for file in sorted(asked_by(path, family)):
            other = role_of(file)  # "" for the family itself, which no file of it imports
            equals = {own, other} == set(BETWEEN_EQUALS)
            if not other or ROLES.index(other) < ROLES.index(own) or equals:
                wrong.append(f"{path.name} imports {file or family}")
    assert not wrong
