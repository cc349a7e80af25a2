"""Sheets drawn with matplotlib."""
