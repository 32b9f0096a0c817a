"""A model for people to read: one line a term, or the tree on one, conditions spelled out with
their values.
"""

from __future__ import annotations

from collections.abc import Sequence

from dnfscale.core.formula import quote
from dnfscale.core.model import Model
from dnfscale.method.words import (
    about_lines,
    formula_lines,
    model_lines,
    needs_note,
    predicted,
    said_texts,
)
from dnfscale.spec.registry import EXPORTS, Export

MISSING_NOTE = (
    "where a value is missing, a condition with ≤ alone, ≠ or not holds, and any "
    "other comparison does not"
)


JOINT_NOTE = (
    "where several of these formulas hold, or none, the label that was the most probable among "
    "the rows learned from that are like this one"
)


def export_text(model: Model) -> str:
    """Return the formula as text, with a note where rows with missing values were learned from."""
    head = predicted(model)
    if not model.dnf.terms:
        return f"{head} for no row"
    read = model_lines(model) if model.tree is None else ()
    if any(not term.care for term in model.dnf.terms) or any(not line.literals for line in read):
        return f"{head} for every row"
    first, *others = formula_lines(model)
    lines = [f"{head} if", f"   {first}", *(f"or {line}" for line in others)]
    if len(read) == 1:
        [line] = read
        if line.at_least is not None:
            # A list to tick off.
            lines = [f"{head} if at least {line.at_least} of these {len(line.literals)} hold"]
            lines += [f"   {text}" for text in said_texts(line.literals)]
    if needs_note(model):
        lines.append(f"note: {MISSING_NOTE}")
    return "\n".join([*lines, *about_lines(model)])


def export_text_of_classes(models: Sequence[Model]) -> str:
    """Return the formula of each label as text, and how they are weighed against each other."""
    told = [export_text(model) for model in models]
    told.append(f"{quote(models[0].target)}: {JOINT_NOTE}")
    return "\n\n".join(told)


EXPORTS.register(
    Export(
        name="text",
        title="readable conditions",
        ending=".txt",
        write=export_text,
        write_several=export_text_of_classes,
    )
)
