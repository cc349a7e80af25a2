"""Numba kernels: arrays in, arrays out; single-threaded, without the GIL, and ignorant of models and tables.

Importing any of these files imports Numba (half a second), so the stages import them inside functions.
"""
