"""Formulas as a small rule format for other programs, schema dnfscale.rules/1.

A condition says what a value of one column must be: above a number, up to one, or one of some
values; `negated` turns that round. Where the value is missing, a condition with `above` or `in`
does not hold, and one with `up_to` alone or `negated` does.
"""

from __future__ import annotations

import json

import msgspec

from dnfscale.results.record import Infinite, Label, Record

RULES_SCHEMA = "dnfscale.rules/1"

End = int | float | str | Infinite
"""A number; a date, time, duration or decimal is a text."""


class RuleCondition(Record, frozen=True, kw_only=True):
    """What is asked of one column."""

    column: str
    part: str | None = None
    """weekday, hour or month, if a part of a date or time is asked for."""
    zone: str | None = None
    """The time zone of the part."""
    above: End | None = None
    up_to: End | None = None
    measure: str | None = None
    """What the two measure, if they are texts."""
    values: tuple[Label, ...] | None = msgspec.field(default=None, name="in")
    missing: bool | None = None
    """Whether the value is missing, if that is asked."""
    negated: bool = False


class Rule(Record, frozen=True, kw_only=True):
    """A line: all conditions must hold, or at least so many."""

    conditions: tuple[RuleCondition, ...]
    at_least: int | None = None
    rows: int | None = None
    """Rows learned from that meet the line; None if rows had weights."""
    positive_rows: int | None = None


class RuleFormula(Record, frozen=True, kw_only=True):
    """The lines of a formula, one of which must hold."""

    labels: tuple[Label, ...]
    """What is predicted where a line holds, or where none does if `answer` is false."""
    answer: bool
    lines: tuple[Rule, ...]
    threshold: str
    """The share of positives from which rows of a kind are accepted."""


class Rules(Record, frozen=True, kw_only=True):
    """A formula, or one for each of several labels: a row gets the label whose formula holds.

    Where several hold, or none, the counts of the model file decide between them.
    """

    schema: str = msgspec.field(default_factory=lambda: RULES_SCHEMA)
    target: str
    formulas: tuple[RuleFormula, ...]


def rules_text(rules: Rules) -> str:
    """Return the text of a rule file, without the line break at its end."""
    return json.dumps(msgspec.to_builtins(rules), indent=2, ensure_ascii=False, allow_nan=False)
