"""Figures: what they show (`_spec`), which library draws them (`_draw`), and how (`matplotlib/`, `plotly/`)."""
