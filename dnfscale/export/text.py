"""A model for people to read: one line a term, or the tree on one, conditions spelled out with
their values.
"""

from __future__ import annotations

from dnfscale.core.model import Model
from dnfscale.method.words import formula_lines, needs_note, predicted
from dnfscale.spec.registry import EXPORTS, Export

MISSING_NOTE = (
    "where a value is missing, a condition with ≤ alone, ≠ or not holds, and any "
    "other comparison does not"
)


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


EXPORTS.register(Export(name="text", title="readable conditions", ending=".txt", write=export_text))
