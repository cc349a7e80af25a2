"""What figures of results have in common: how an axis is laid out, scaled and simplified, and labels."""
