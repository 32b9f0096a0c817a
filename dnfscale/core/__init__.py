"""Counts and what follows from them: NumPy only, no files, no cluster."""
