"""Values of rows: Shapley values, interaction values, metrics, ICE."""
