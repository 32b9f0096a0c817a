"""What a person should know before relying on a model for rows that drifted."""

from __future__ import annotations

from dnfscale.core.formula import quote
from dnfscale.method.words import said_number
from dnfscale.results.evaluation import ColumnShift, Drift, Finding, Kind, Shift
from dnfscale.results.record import Label, label_text

_LEVEL = 0.01
_FEW = 0.001
"""So small a share of rows out of range is not told."""


def findings_of(drift: Drift, n_rows: int) -> list[Finding]:
    """Return what a person should know: each drift by the least that explains it."""
    found = []
    if drift.classes is not None and drift.classes.drifted:
        found.append(Finding(kind="class", about="the classes", evidence=_evidence(drift.classes)))
    for column in drift.columns:
        said = _of_column(column, n_rows, drift.learned_rows)
        if said:
            # The first is what explains the others best.
            evidence = "; ".join(said.values())
            found.append(Finding(kind=next(iter(said)), about=column.name, evidence=evidence))
    if not found:
        found = [
            Finding(kind="line", about=line.text, evidence=_evidence(line.shift))
            for line in drift.lines
            if line.shift is not None and line.shift.drifted
        ]
    if not found:
        found = [
            Finding(kind="types", about="the types of rows", evidence=_evidence(shift))
            for shift in drift.types
            if shift.drifted
        ]
    for line in drift.lines:
        if line.outside is not None and line.positive is not None:
            found.append(
                Finding(
                    kind="confidence",
                    about=line.text,
                    evidence=(
                        f"{100 * line.positive:.1f} % of the {line.rows:,} rows for which it holds "
                        f"are positive, {line.outside} the interval of the rows learned from, "
                        f"{100 * (line.low or 0):.1f} to {100 * (line.high or 0):.1f} %"
                    ),
                )
            )
    return found


def _evidence(shift: Shift) -> str:
    chance = f"p {shift.p:.2g}" if shift.p > 1e-9 else "p < 1e-9"
    return f"PSI {shift.psi:.3f}, effect {shift.effect:.2f}, {chance}"


def _of_column(column: ColumnShift, n_rows: int, learned_rows: int) -> dict[Kind, str]:
    """Return what there is to say of a column, by kind."""
    said: dict[Kind, str] = {}
    if column.new:
        examples = ", ".join(quote(label_text(value)) for value in column.new_values)
        said["category"] = (
            f"{column.new:,} rows have a value that was hardly learned, or never: " + examples
        )
    gaps = column.missing_shift
    if gaps is not None and gaps.drifted:
        before = 100 * (column.learned_missing or 0)
        said["missing"] = (
            f"{100 * column.missing:.1f} % are missing, {before:.1f} % were ({_evidence(gaps)})"
        )
    if column.shift is not None and column.shift.drifted:
        said["column"] = _evidence(column.shift)
    outside = column.below + column.above
    if outside > _FEW * n_rows and _beyond_chance(column, n_rows, learned_rows):
        said["range"] = (
            f"{outside:,} rows lie outside {_end_text(column.least)} to "
            f"{_end_text(column.greatest)}"
        )
    return said


def _beyond_chance(column: ColumnShift, n_rows: int, learned_rows: int) -> bool:
    """Say whether chance seldom puts so many of n rows beyond the ends of others: k or more lie
    above the greatest with a probability of about (n / (n + learned rows)) ** k.
    """
    share = n_rows / (n_rows + learned_rows)
    return share ** max(column.below, column.above) < _LEVEL / 2


def _end_text(value: Label | None) -> str:
    if value is None:
        return "none"
    return said_number(value) if isinstance(value, float) else label_text(value)
