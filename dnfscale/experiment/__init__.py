"""What was learned, as the figures that people compare."""
