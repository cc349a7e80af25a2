"""What a report is about, as `Explainer.report` makes it."""

from __future__ import annotations

from typing import Any

import glasswood as gw
from glasswood.questions import parts
from glasswood.report import Settings, Subject


def subject_of(explainer: gw.Explainer, **settings: Any) -> Subject:
    """Return the subject of the report of an Explainer on its own scale."""
    return Subject(explainer._view(), parts("_section"), Settings(**settings))
