"""Accumulated local effects."""
