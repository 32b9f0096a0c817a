"""What is said of rows whose values are unlike those that a model was learned from: in one line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dnfscale.core.arrays import Scalar
from dnfscale.core.model import Model
from dnfscale.core.seen import SeenColumn, Unfamiliar
from dnfscale.errors import visible
from dnfscale.report.wording import count

_SHOWN = 3


def unfamiliar_words(
    rows: int, columns: Mapping[str, Unfamiliar], models: Sequence[Model]
) -> str | None:
    """Say how many rows have values unlike those learned from, and in which columns; None where
    none has.
    """
    if not rows:
        return None
    seen = {own.name: own for model in models for own in model.seen}
    # Those of most rows first.
    order = sorted(columns, key=lambda name: (-_n_rows(columns[name]), name))
    parts = [f"{visible(name)}: {_words(columns[name], seen[name])}" for name in order[:_SHOWN]]
    if len(order) > _SHOWN:
        parts.append(f"and {count(len(order) - _SHOWN, 'more column')}")
    return f"{count(rows, 'row')} with values unlike those learned from ({'; '.join(parts)})"


def unfamiliar_record(rows: int, columns: Mapping[str, Unfamiliar]) -> dict[str, Any]:
    """Return the same in JSON."""
    return {
        "rows": rows,
        "columns": [
            {
                "name": name,
                "new": own.new,
                "examples": [_json(value) for value in own.examples],
                "below": own.below,
                "above": own.above,
                "missing": own.missing,
            }
            for name, own in columns.items()
        ],
    }


def _n_rows(own: Unfamiliar) -> int:
    return own.new + own.below + own.above + own.missing


def _words(own: Unfamiliar, seen: SeenColumn) -> str:
    said = []
    if own.new:
        examples = ", ".join(map(_shown, own.examples))
        never = "hardly any or no row had" if seen.unlisted else "no row had"
        said.append(f"{own.new:,} with a value that {never}, such as {examples}")
    said += [f"{own.below:,} below {seen.least}"] if own.below else []
    said += [f"{own.above:,} above {seen.greatest}"] if own.above else []
    said += [f"{own.missing:,} without a value, which all had"] if own.missing else []
    return ", ".join(said)


def _shown(value: Scalar) -> str:
    text = visible(repr(value))
    return text if len(text) <= 40 else f"{text[:39]}…"


def _json(value: Scalar) -> Any:
    return {"float": str(value)} if isinstance(value, float) and math.isinf(value) else value
