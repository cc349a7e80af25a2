"""Sheets drawn with plotly."""
