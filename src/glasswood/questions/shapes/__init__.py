"""Shapes: monotonicity of curves, of rows and proven; spikes."""

from glasswood.questions.shapes._answer import monotonicity, row_monotonicity, spikes
from glasswood.questions.shapes._answer_certificate import certificate
from glasswood.questions.shapes._result import Monotonicity, Spikes
from glasswood.questions.shapes._result_certificate import Certificate
from glasswood.questions.shapes._result_rows import RowMonotonicity
from glasswood.questions.shapes._statistic import WantedFalls

__all__ = [
    "Certificate",
    "Monotonicity",
    "RowMonotonicity",
    "Spikes",
    "WantedFalls",
    "certificate",
    "monotonicity",
    "row_monotonicity",
    "spikes",
]
