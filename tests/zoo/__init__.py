"""Models of every kind that several test modules use: recipes, cases, and a store in which each is fitted once."""
