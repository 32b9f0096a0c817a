"""What the tasks of learning use: workers of this machine load it before they are asked for it."""

LOADED = ("dnfscale.learn.line", "scipy.optimize")
"""The names of modules. SciPy's optimizers alone would delay the first formula by half a second."""
