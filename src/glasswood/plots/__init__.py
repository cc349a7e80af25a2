"""Figures: what they show (`_spec`), and who draws them (`_matplotlib`, `_plotly`, and the report's own page)."""
