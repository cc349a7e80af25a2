"""What a reviewer should look at first: a short list of the main results of the other sections."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping

from glasswood.report._common import Item, Placed, Section, section
from glasswood.report._subject import Subject
from glasswood.text._printable import how_many

__all__ = ["summary_section"]


def summary_section(subject: Subject, made: Mapping[str, Section]) -> Section:
    """Return the list of findings, given the other sections by their anchors."""
    result = [one for findings in subject.functions("findings") for one in findings(subject, made)]
    result += [Placed(10, item) for item in _failed(made["checks"])]
    result += [Placed(110, item) for item in _unused(subject)]
    result += [Placed(120, item) for item in _alike(subject)]
    return section(
        "summary",
        "What to look at",
        "The main findings of the sections below. A finding is not necessarily an error.",
        short="Summary",
        list=[one.made for one in sorted(result, key=lambda one: one.place)],
    )


def _failed(made: Section) -> Iterator[Item]:
    """Yield the checks that failed, which invalidate the rest of the report."""
    for item in made["list"]:
        if item["state"] == "bad":
            yield {"tag": "Check failed", "names": [], "text": f"{item['tag']}. {item['text']}", "state": "bad"}


def _unused(subject: Subject) -> Iterator[Item]:
    unused = [name for name in subject.names if name not in subject.used]
    if unused:
        many = f"{how_many(len(unused), 'feature')} {'is' if len(unused) == 1 else 'are'}"
        yield subject.item("Not used", [], f"{many} not used in any split; see the section below.")


def _alike(subject: Subject) -> Iterator[Item]:
    """Yield names that only differ in case, spaces, invisible characters or similar letters of other alphabets."""
    groups: dict[str, list[str]] = {}
    for name in subject.names:
        groups.setdefault(_skeleton(name), []).append(name)
    for names in groups.values():
        if len(names) > 1:
            yield subject.item("Similar names", names[:4], f"{len(names)} different columns.", linked=False)


# Letters of other alphabets that look like Latin ones.
LOOKS_LIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u03bf\u03b1\u03bd\u03c1\u0410\u0412\u0415\u041a"
    "\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a7",
    "aeopcyxijsoavpABEKMHOPCTXABEZHIKMNOPTX",
)


def _skeleton(name: str) -> str:
    """Return the part of a name that a hurried reader notices."""
    text = unicodedata.normalize("NFKC", name).translate(LOOKS_LIKE).casefold()
    return "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Cc") and not c.isspace())
