"""Names, numbers and arguments as people read and write them, and small HTML tables."""
