"""What a job is told: the types of its result, written and read by the same classes.

record        what all of them are made of: bounds of numbers, labels, keys that are always written
confusion     answers by truth, of two classes and of several
certificate   how far rows support a formula
formula       a formula, its lines and how it was chosen
spread        exact values summed up over folds
method        what a method did, in each fold and on all rows
result        result.json
suite         the result.json of a suite
upgrade       results of the schema before this one
"""
