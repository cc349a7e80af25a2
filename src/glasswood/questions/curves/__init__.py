"""Partial dependence: curves, surfaces and points, and what was observed beside them."""
