"""Results of what was learned, as figures that people compare."""
