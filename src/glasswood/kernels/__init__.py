"""Kernels: the compiled core (`src/core`, C++), arrays in and arrays out. Single-threaded, without the GIL."""
