"""Golden values: one JSON file for each kind of model and each topic, with a line for each attribute of an answer."""

from __future__ import annotations

import json
from pathlib import Path

from tests.contract.describe import differences

FOLDER = Path(__file__).parent / "golden"
AS_BEFORE = "as in the first part"  # in place of an answer that is the same as in the first part of the file


def read(name):
    """Return the golden values of a topic."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def write(name, data):
    """Write golden values, so that a change of one number is a change of one line."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.json").write_text("\n".join(_lines(data, "")) + "\n", encoding="utf-8")


def _lines(data, indent, before="", after=""):
    """Yield lines of JSON: mappings are spread, but for small ones."""
    line = json.dumps(data, ensure_ascii=False)
    if not isinstance(data, dict) or not data or len(line) < 200:
        yield f"{indent}{before}{line}{after}"
        return
    yield f"{indent}{before}{{"
    for number, (key, value) in enumerate(data.items()):
        comma = "," if number < len(data) - 1 else ""
        yield from _lines(value, indent + " ", f"{json.dumps(key, ensure_ascii=False)}: ", comma)
    yield f"{indent}}}{after}"


def shortened(data, main):
    """Return answers of several settings, without those that are the same as in the main one."""
    first = data[main]
    found = {main: first}
    for setting, answers in data.items():
        if setting != main and "error" not in answers:
            same = {name for name, answer in answers.items() if _repeats(first[name], answer)}
            answers = {name: AS_BEFORE if name in same else answer for name, answer in answers.items()}
        found[setting] = answers
    return {main: found.pop(main), **found}


def _repeats(before, answer):
    return "error" not in answer and not any(differences(before | {"compare": answer.get("compare")}, answer))


def expected(golden, main, setting, found):
    """Return the golden answers in a setting, with those that are the same as in the main one filled in."""
    return {
        name: golden[main][name] | _manner(found.get(name, {})) if answer == AS_BEFORE else answer
        for name, answer in golden[setting].items()
    }


def _manner(answer):
    """Return how an answer is compared: those of other settings may be close where the first one is equal."""
    return {"compare": answer["compare"]} if "compare" in answer else {}
