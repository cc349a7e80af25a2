"""A fitted model as a TreeEnsemble: readers, pipelines, combinations of models, and the self-check."""
