"""From a source to formulas: the straight line, the steps it is made of, and what else is asked of the rows it keeps.

spec, dealing, table                            what to learn, and the table that it is learned from
places                                          where: every target in every fold, and the parts learned from
scans, weighing, reading, keeping               the steps that read rows,
selecting, counting, choosing                   rank attributes, count types, and choose
line                                            the straight line itself
classes, distinct, sized, frontier, fidelity    what else is asked of the rows that stay on the workers
"""
