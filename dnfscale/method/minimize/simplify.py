"""The paper's own simplification: SymPy's `simplify_logic` in disjunctive normal form."""

from __future__ import annotations

import sympy
from sympy.logic.boolalg import And, Boolean, Not, Or, SOPform, simplify_logic

from dnfscale.core.formula import Dnf, Term
from dnfscale.method.minimize.minimal import Minimized, Status, Truth


def simplify(truth: Truth) -> Minimized:
    """Return SymPy's simplification of the accepted types, about whose length nothing is known.

    Free types go through `SOPform`, because `simplify_logic` ignores them for a single conjunction
    (sympy#28369).
    """
    symbols = sympy.symbols(f"p:{truth.ell}")
    rows = [[code >> i & 1 for i in range(truth.ell)] for code in truth.required]
    if truth.free:
        free = [[code >> i & 1 for i in range(truth.ell)] for code in truth.free]
        formula = SOPform(symbols, rows, free)
    else:
        types = [
            And(*(p if bit else Not(p) for p, bit in zip(symbols, row, strict=True)))
            for row in rows
        ]
        # Above eight variables simplify_logic returns its input unless it is forced.
        formula = simplify_logic(Or(*types), form="dnf", force=True)
    place = {symbol: i for i, symbol in enumerate(symbols)}
    return Minimized(Dnf(tuple(sorted(_terms(formula, place)))), Status.SIMPLIFIED, None)


def _terms(formula: Boolean, place: dict[sympy.Symbol, int]) -> list[Term]:
    if formula == sympy.false:
        return []
    return [_term(part, place) for part in Or.make_args(formula)]


def _term(formula: Boolean, place: dict[sympy.Symbol, int]) -> Term:
    if formula == sympy.true:
        return Term(0, 0)
    care = value = 0
    for literal in And.make_args(formula):
        symbol = literal.args[0] if isinstance(literal, Not) else literal
        care |= 1 << place[symbol]
        value |= 0 if isinstance(literal, Not) else 1 << place[symbol]
    return Term(care, value)
