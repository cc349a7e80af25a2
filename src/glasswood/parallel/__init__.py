"""Threads, locks, interrupts, memory and progress bars of this process."""
