"""Deliberate faults: small wrong changes of the sources, and the tests that should notice each."""
