"""Shapes: monotonicity of curves, of rows and proven; spikes."""

from glasswood.questions.shapes._answer import monotonicity, row_monotonicity, spikes
from glasswood.questions.shapes._answer_certificate import certificate
from glasswood.questions.shapes._answer_rows import specs_of_summary
from glasswood.questions.shapes._result import Monotonicity, Spikes
from glasswood.questions.shapes._result_certificate import Certificate
from glasswood.questions.shapes._result_rows import RowMonotonicity

__all__ = [
    "COUNTED",
    "Certificate",
    "Monotonicity",
    "RowMonotonicity",
    "Spikes",
    "certificate",
    "monotonicity",
    "row_monotonicity",
    "spikes",
]

# What a Background can have for these questions.
COUNTED = {"row_monotonicity": specs_of_summary}
