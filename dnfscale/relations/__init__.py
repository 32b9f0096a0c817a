"""Related tables: their rows are brought together with those of the main table by key, and become
concepts, columns that say something of them.

`look` reads each related table once, `generate` makes concepts of what its columns hold, `join`
computes them in pieces that are written whole, and `tables` opens the result as a source.
"""
