"""Interactions: strengths of pairs, H, purified effects."""
