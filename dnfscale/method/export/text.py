"""A model for people to read: one line a term, conditions spelled out with their values."""

from __future__ import annotations

from typing import Protocol

from dnfscale.core.arrays import Scalar
from dnfscale.core.formula import quote
from dnfscale.core.model import Model
from dnfscale.core.vocabulary import IsMissing
from dnfscale.method.conditions import conditions, value_text

MISSING_NOTE = "where a value is missing, a condition with ≤, ≠ or not holds, and one with > or = does not"


def export_text(model: Model) -> str:
    """Return the formula as text, with a note where rows with missing values were learned from."""
    head = predicted(model)
    if not model.dnf.terms:
        return f"{head} for no row"
    if any(not term.care for term in model.dnf.terms):
        return f"{head} for every row"
    terms = [" and ".join(conditions(model.tau.attributes, term.literals)) for term in model.dnf.terms]
    lines = [f"{head} if", f"   {terms[0]}", *(f"or {term}" for term in terms[1:])]
    if needs_note(model):
        lines.append(f"note: {MISSING_NOTE}")
    return "\n".join(lines)


class Predicting(Protocol):
    """A formula of whatever form that predicts some labels of a target."""

    @property
    def target(self) -> str: ...

    @property
    def positive(self) -> tuple[Scalar, ...]: ...


def predicted(model: Predicting) -> str:
    """Say what the formula predicts, in a few words: the target and its positive labels."""
    labels = ", ".join(value_text(label) for label in model.positive)
    return (
        f"{quote(model.target)} is {labels}"
        if len(model.positive) == 1
        else f"{quote(model.target)} is one of {labels}"
    )


def needs_note(model: Model) -> bool:
    """Say whether the model knows missing values, and its formula has a condition that they might be overlooked in."""
    return model.missing == "indicator" and any(
        not holds and not isinstance(model.tau.attributes[i], IsMissing)
        for term in model.dnf.terms
        for i, holds in term.literals
    )
