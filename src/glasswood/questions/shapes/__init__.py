"""Shapes: monotonicity of curves, of rows and proven; spikes."""
