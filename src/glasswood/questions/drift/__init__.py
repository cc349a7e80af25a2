"""Drift: groups of rows and models side by side, and the gate."""
