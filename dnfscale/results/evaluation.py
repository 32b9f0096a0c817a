"""What an evaluation of a model on new rows found, schema dnfscale.evaluation/1.

Nothing in it depends on how the rows were partitioned, or in which order counts were merged.
"""

from __future__ import annotations

import json
from typing import Literal

import msgspec
from msgspec import field

from dnfscale.results.check import ValueRows
from dnfscale.results.confusion import Answers, Confusion
from dnfscale.results.metrics import LOWER_IS_BETTER, Calibration, Figures, NetBenefit
from dnfscale.results.record import Count, Figure, Label, Record, Share, null, read_file
from dnfscale.results.slices import Slice

EVALUATION_SCHEMA = "dnfscale.evaluation/1"
DRIFT = "drift"
"""What the greatest PSI is called where figures are required."""


Side = Literal["below", "above"]


class Shift(Record, frozen=True, kw_only=True):
    """How much the shares of some rows differ from those of the rows that were learned from."""

    psi: Figure
    """The population stability index: below 0.1 little, above 0.25 much."""
    effect: Figure
    """Cohen's w: 0.1 is small, 0.3 medium, 0.5 large."""
    chi_squared: Figure
    """Of two samples; where the rows learned from had weights, of one against their shares."""
    p: Share
    within_classes: Figure | None = field(default_factory=null)
    """Cohen's w of what is left once the classes have the shares that they have now; None where the
    truth is not known."""
    drifted: bool
    """Whether it is beyond chance at 1 %, all that was compared taken together, and not small; and
    not only what the shares of the classes make of it."""


class LineShift(Record, frozen=True, kw_only=True):
    """A line of a formula: how often it holds, and how often it is right."""

    number: Count
    """From 1."""
    text: str
    label: Label | None
    """Of whose formula it is, where there are several labels."""
    learned_share: Share | None
    """The share of the rows learned from for which it holds."""
    share: Share | None
    learned_positive: Share | None
    """The share of positive rows among those learned from for which it holds."""
    low: Share | None
    high: Share | None
    """Its interval at 95 %, all lines together, from the rows learned from; None of weighted rows.
    """
    rows: Count
    """The rows whose truth is known for which it holds."""
    positive: Share | None
    """The share of positive rows among these."""
    outside: Side | None
    """On which side of the interval the share lies now, if it is there beyond chance."""
    shift: Shift | None


class ColumnShift(Record, frozen=True, kw_only=True):
    """A column that the model uses."""

    name: str
    missing: Share
    """The share of the rows that have no value."""
    learned_missing: Share | None = field(default_factory=null)
    """The same of the rows learned from; None where the model does not know."""
    shift: Shift | None
    """Of what the model asks of the column; None where its counts do not tell columns apart."""
    missing_shift: Shift | None = field(default_factory=null)
    """Of the share that has no value."""
    new: Count = 0
    """Rows with a value that no row learned from had, or hardly any."""
    new_values: tuple[Label, ...] = ()
    """The first of these values in their order."""
    below: Count = 0
    """Rows with a number below the least that was learned from."""
    above: Count = 0
    least: Label | None = None
    greatest: Label | None = None
    """The ends of the rows learned from."""


class Drift(Record, frozen=True, kw_only=True):
    """How far rows differ from those that the model was learned from."""

    learned_rows: Count
    """How many rows the model was learned from, or what they weigh."""
    greatest: Figure | None
    """The greatest PSI of all; None of a model without counts, or of no rows."""
    of: str | None
    """What has it."""
    classes: Shift | None
    """The shares of the classes; None where the truth is not known."""
    types: tuple[Shift, ...]
    """The types of each formula."""
    lines: tuple[LineShift, ...]
    columns: tuple[ColumnShift, ...]


Kind = Literal["class", "category", "column", "missing", "range", "types", "line", "confidence"]


class Finding(Record, frozen=True, kw_only=True):
    """Something that a person should know before relying on the model for such rows."""

    kind: Kind
    about: str
    evidence: str


class Evaluation(Record, frozen=True, kw_only=True):
    """What an evaluation of a model on new rows found."""

    schema: str = field(default_factory=lambda: EVALUATION_SCHEMA)
    rows: Count
    known: Count
    """The rows whose truth is known; metrics are of these."""
    target: str
    labels: tuple[ValueRows, ...]
    """The labels of the target with their rows, in increasing order; none where it is not there."""
    answers: tuple[ValueRows, ...]
    """How many rows are given each answer."""
    unseen_rows: Count | None
    """Rows of types that no row had in the learning; None of several formulas
    that answer together."""
    missing_rows: Count
    """Rows that lack a value which the model uses."""
    weighted: bool = False
    """Whether the model was learned from weighted rows: here each row counts once."""
    metrics: Figures
    intervals: dict[str, tuple[Figure, Figure]]
    """At 95 %, Wilson's."""
    confusion: Confusion | None = field(default_factory=null)
    confusion_matrix: Answers | None = None
    """Rows by label and by answer, where there are several labels."""
    calibration: Calibration | None = None
    decision_curve: tuple[NetBenefit, ...] = ()
    drift: Drift
    slices: tuple[Slice, ...] = ()
    findings: tuple[Finding, ...]

    def figure(self, name: str) -> float | None:
        """Return a metric by its name, or the greatest drift."""
        return self.drift.greatest if name == DRIFT else self.metrics.get(name)

    def meets(self, name: str, bound: float) -> bool:
        """Return whether a figure is good enough: at least the bound, or at most, where less is
        better. One that is not known is not.
        """
        figure = self.figure(name)
        if figure is None:
            return False
        return figure <= bound if name in (*LOWER_IS_BETTER, DRIFT) else figure >= bound


def evaluation_text(evaluation: Evaluation) -> str:
    """Return an evaluation as JSON."""
    record = msgspec.to_builtins(evaluation)
    return json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_evaluation(content: bytes) -> Evaluation:
    """Read an evaluation; one that is damaged, or of another schema, raises a DataError."""
    return read_file(content, Evaluation, EVALUATION_SCHEMA, "an evaluation")
