"""dnfscale learns short Boolean formulas from tables of any size."""

__version__ = "0.1.0"
