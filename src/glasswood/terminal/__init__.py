"""What commands have in common: files, options, tables, and what they are handed."""
