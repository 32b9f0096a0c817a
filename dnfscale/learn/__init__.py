"""Learning formulas from a source: the straight line, its steps, and further questions to the rows
that it keeps.

    table                        the table to learn from
    places                       how rows are dealt into folds; every target in every fold
    scans, weighing              what one pass over rows does
    read, keeping                the passes that read rows, and those that keep them on workers
    rank, count, choose          rank attributes, count types, choose a ranking and ell
    line                         the straight line itself
    classes, frontier, fidelity  further results from the rows that stay on the workers
    phases                       how a phase is declared by whoever carries it out
"""

LOADED = ("dnfscale.learn.line", "scipy.optimize")
"""Modules that learning tasks use, which local workers load before their first task. SciPy's
optimizers alone would delay the first formula by half a second.
"""
