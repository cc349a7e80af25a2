"""What users get: names, labels and units appear here first."""

from glasswood.results._attributions import Attributions, arrange
from glasswood.results._curves import Axis, Curve, Lazy, Points, Surface
from glasswood.results._frames import check_memory, to_frame
from glasswood.results._ice import Ice
from glasswood.results._interactions import Interactions, SetValues

__all__ = [
    "Attributions",
    "Axis",
    "Curve",
    "Ice",
    "Interactions",
    "Lazy",
    "Points",
    "SetValues",
    "Surface",
    "arrange",
    "check_memory",
    "to_frame",
]
