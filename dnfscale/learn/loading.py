"""The modules that learning tasks use, which local workers load before their first task."""

LOADED = ("dnfscale.learn.line", "scipy.optimize")
"""Names of modules. SciPy's optimizers alone would delay the first formula by half a second."""
