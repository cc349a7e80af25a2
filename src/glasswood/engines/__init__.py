"""How batches of rows are mapped and their counts summed; nothing else."""
