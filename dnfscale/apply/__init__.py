"""From a model and a source to answers: the types of rows as they are read, what to predict,
which types occur, and how good the answers are.

evaluate     the attributes of formulas on rows as they are read, and which types occur
predict      a prediction for every row, written by the workers
evaluation   metrics, drift and slices, from what `tested` counts
"""
