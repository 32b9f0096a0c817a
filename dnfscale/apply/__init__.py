"""From a model and a source to answers: the types of rows as they are read, what to predict, and
which types occur.

evaluate   the attributes of formulas on rows as they are read, and which types occur
predict    a prediction for every row, written by the workers
"""
