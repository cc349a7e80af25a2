"""All that is frozen: the parts of each kind of model, and the topics."""

from __future__ import annotations

from tests.contract import golden, parts, questions
from tests.contract.kinds import DETAILED, KINDS, fit_of
from tests.contract.topics import TOPICS


def kind_of(name, folder):
    """Return all that is frozen of a kind of model."""
    found = {
        "fit": fit_of(name),
        "answers": golden.shortened(questions.all_answers(name), questions.MAIN[name]),
        "trees": parts.trees(name),
        "tables": parts.tables(name, folder),
        "backgrounds": parts.backgrounds(name, folder),
    }
    return found | ({"attributes": questions.attributes(name)} if name in DETAILED else {})


def write(name, folder):
    """Write the golden file of a kind of model or a topic."""
    golden.write(name, kind_of(name, folder) if name in KINDS else TOPICS[name](folder))


NAMES = (*KINDS, *TOPICS)
