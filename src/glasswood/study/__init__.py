"""A model and what to average over: questions in, results out."""
