"""Learning formulas from a source: the straight line, its steps, and further questions to the rows
that it keeps.

    dealing, table               the table to learn from, and how its rows are dealt into folds
    places                       every target in every fold, and the parts of its rows
    scans, weighing              what one pass over rows does
    read, keeping                the passes that read rows, and those that keep them on workers
    rank, count, choose          rank attributes, count types, choose a ranking and ell
    line                         the straight line itself
    classes, frontier, fidelity  further results from the rows that stay on the workers
    phases                       how a phase is declared by whoever carries it out
"""
