"""Rating tables: a model as mains and pairs."""

from glasswood.questions.rating_tables._answer import rating_table
from glasswood.questions.rating_tables._result import RatingTable

__all__ = ["RatingTable", "rating_table"]
