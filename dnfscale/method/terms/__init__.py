"""The search of terms: the most accurate formula of every length, found on a sample of rows.

Nothing here knows how rows are stored or where they lie: columns are small codes (`codes`), and
what is learned from them are counts by code (`histograms`). From a histogram follow the best
conditions of every column (`conditions`), from these the ways to change a formula (`exchanges`) and
new terms (`beam`), and from these the frontier (`search`). `answers` counts what given formulas get
right on any rows, and `choice` chooses a length.
"""
