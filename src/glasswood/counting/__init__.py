"""What is counted: the plan of a model, the counter, and sums that add up: tally, partial, background."""
