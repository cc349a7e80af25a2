"""Engines: batches of rows are mapped to counts, and counts are summed; nothing else."""
