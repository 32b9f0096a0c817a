"""Jobs: specs in, runs out."""
