"""Any table, file or stream as columns of numbers."""
