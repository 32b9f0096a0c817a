"""From a source to formulas: the straight line, the steps it is made of, and what else is asked of the rows it keeps.

spec, dealing, table                            what to learn, and the table that it is learned from
scans, weighing, reading, selecting             the steps
line                                            the straight line itself
classes, distinct, sized, frontier, fidelity    what else is asked of the rows that stay on the workers
"""
