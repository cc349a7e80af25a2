"""Counts or rows in, numbers out: closed forms, interactions, metrics, responses, and the arithmetic on them."""
