"""A model for people to read: one line a term, or the tree on one, conditions spelled out with their values."""

from __future__ import annotations

from collections.abc import Iterator

from dnfscale.core.formula import quote
from dnfscale.core.model import Model
from dnfscale.core.tree import literals
from dnfscale.core.vocabulary import IsMissing
from dnfscale.method.conditions import condition, conditions, value_text
from dnfscale.method.export.trees import Spelling, spell
from dnfscale.spec.registry import EXPORTS, Export

MISSING_NOTE = "where a value is missing, a condition with ≤ alone, ≠ or not holds, and any other comparison does not"


def export_text(model: Model) -> str:
    """Return the formula as text, with a note where rows with missing values were learned from."""
    head = predicted(model)
    if not model.dnf.terms:
        return f"{head} for no row"
    if any(not term.care for term in model.dnf.terms):
        return f"{head} for every row"
    first, *others = formula_lines(model)
    lines = [f"{head} if", f"   {first}", *(f"or {line}" for line in others)]
    if needs_note(model):
        lines.append(f"note: {MISSING_NOTE}")
    return "\n".join(lines)


def formula_lines(model: Model) -> list[str]:
    """Return the lines of a formula, of which one must hold, as conditions; a tree is one line."""

    def told(i: int, holds: bool) -> str:
        return condition(model.tau.attributes[i], holds)

    if model.tree is not None:
        return [spell(model.tree, Spelling(told, " and ", " or ", lambda text: f"not {text}"))]
    return [" and ".join(conditions(model.tau.attributes, term.literals)) for term in model.dnf.terms]


def predicted(model: Model) -> str:
    """Say what the formula predicts, in a few words: the target and its positive labels."""
    labels = ", ".join(value_text(label) for label in model.positive)
    return (
        f"{quote(model.target)} is {labels}"
        if len(model.positive) == 1
        else f"{quote(model.target)} is one of {labels}"
    )


def needs_note(model: Model) -> bool:
    """Return whether missing values were learned from and the formula negates a comparison, which holds for them."""
    return model.missing == "indicator" and any(
        not holds and not isinstance(model.tau.attributes[i], IsMissing) for i, holds in literals_of(model)
    )


def literals_of(model: Model) -> Iterator[tuple[int, bool]]:
    """Yield the literals of a formula as often as they occur, with negations moved down to them."""
    if model.tree is not None:
        yield from literals(model.tree)
    else:
        yield from (literal for term in model.dnf.terms for literal in term.literals)


EXPORTS.register(Export(name="text", title="readable conditions", ending=".txt", write=export_text))
