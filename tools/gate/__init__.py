"""The gate: which stages a change needs, running them, and the long forms that run on a schedule."""
