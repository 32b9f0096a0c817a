"""How languages write formulas of bounded size: each follows the tree, with its own words for
«not», «and» and «or».
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dnfscale.core.tree import And, Formula, Not, Or, Symbol, chain


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a language writes formulas."""

    literal: Callable[[int, bool], str]
    """Write that attribute i holds, or that it does not."""
    both: str
    either: str
    no: Callable[[str], str]
    """Write the negation of a part that is in brackets."""


def spell(tree: Formula, spelling: Spelling) -> str:
    """Write a formula; a chain of equal connectives without inner brackets, other parts
    with them.
    """

    def bracketed(part: Formula) -> str:
        written = spell(part, spelling)
        return f"({written})" if isinstance(part, And | Or) else written

    match tree:
        case Symbol(attribute):
            return spelling.literal(attribute, True)
        case Not(Symbol(attribute)):
            return spelling.literal(attribute, False)
        case Not(operand):
            return spelling.no(bracketed(operand))
        case And():
            return spelling.both.join(bracketed(part) for part in chain(tree, And))
        case Or():
            return spelling.either.join(bracketed(part) for part in chain(tree, Or))
