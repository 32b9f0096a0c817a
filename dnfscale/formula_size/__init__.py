"""The formula-size method: for each size, the formula with the fewest errors, found and proved by
exact search.

Size counts every node of a formula: symbols, not, and, or. The search runs compiled, and needs the
extra dnfscale[formula-size]; importing this package does not.
"""

from dnfscale.core.tree import And, Formula, Not, Or, Symbol, evaluate, render, size, symbols
from dnfscale.formula_size.choice import Choice, choose, is_enough
from dnfscale.formula_size.sizes import Limits, SizeResult, answered, errors_of, prepare, search
from dnfscale.formula_size.table import TypeTable, tabulate

__all__ = [
    "And",
    "Choice",
    "Formula",
    "Limits",
    "Not",
    "Or",
    "SizeResult",
    "Symbol",
    "TypeTable",
    "answered",
    "choose",
    "errors_of",
    "evaluate",
    "is_enough",
    "prepare",
    "render",
    "search",
    "size",
    "symbols",
    "tabulate",
]
