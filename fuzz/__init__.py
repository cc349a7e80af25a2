"""Differential fuzzing: invented models and tables, every public answer compared with brute force.

``python -m fuzz --minutes 20 --seed 7`` runs it. Only public names of Glasswood are used, so that it runs against any
commit. A case is a plain dict: everything about it can be drawn again from its seed, and printed, and shrunk.
"""
