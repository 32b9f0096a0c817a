"""Models in other languages, a module each, which registers itself; each has the model's answer for
every row.
"""
