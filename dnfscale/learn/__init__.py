"""Learning formulas from a source: the straight line, its steps, and further questions to the rows that it keeps.

spec, dealing, table                            what to learn, and the table to learn from
places                                          every target in every fold, and the parts of its rows to learn from
scans, weighing, reading, keeping               the steps that read rows
selecting, counting, choosing                   rank attributes, count types, choose a ranking and ell
line                                            the straight line itself
classes, distinct, sized, frontier, fidelity    further results from the rows that stay on the workers
"""
