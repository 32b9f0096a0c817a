"""result.json, schema dnfscale.result/2.

Nothing in it depends on how the rows were partitioned, on workers, or on the time it took; what
does goes into `timing` and `environment`. Every share has the integers beside it that it is made
of. Rows that have weights are counted in units, of which `data.weight.unit` are a weight of one.
"""

from __future__ import annotations

import json

import msgspec
from msgspec import field

from dnfscale.core.weights import as_weight
from dnfscale.errors import DataError
from dnfscale.results.confusion import LabelConfusion, summed
from dnfscale.results.formula import Amount
from dnfscale.results.method import Comparison, Method
from dnfscale.results.record import Count, Label, Record, Seconds, checked, label_text
from dnfscale.results.upgrade import upgraded
from dnfscale.spec.registry import IDEAL as IDEAL

RESULT_SCHEMA = "dnfscale.result/2"
FIRST_SCHEMA = "dnfscale.result/1"


class Weight(Record, frozen=True, kw_only=True):
    """What the rows weigh."""

    column: str
    unit: Count | None
    """How many units a weight of one is counted as; None where the first schema leaves it open."""
    total: Amount
    positive: Amount | None
    """None in a study of several labels."""
    rows_without: Count
    """Rows that were dropped because they weigh nothing."""


class Dealing(Record, frozen=True, kw_only=True):
    """How rows were dealt into folds, other than by their numbers."""

    group: str | None = None
    """The column whose rows of equal value stay together."""
    groups: Count | None = None
    """How many groups there are; None if they are too many to be known one by one."""
    stratified: bool = False
    """Whether every fold has its share of each label."""
    tested: str | None = None
    """What says which rows are tested: "time", "by", "test" (files of their own) or "holdout";
    None if each is tested by one fold.
    """
    column: str | None = None
    """The column that says it."""
    parts: tuple[Label, ...] = ()
    """What each fold tests: a value of this column, or the time from which on it tests."""


class LabelRows(Record, frozen=True, kw_only=True):
    """One of several labels, and how many rows have it."""

    label: Label
    rows: Count
    weight: Amount | None = None
    """The total weight of these rows; None if each counts once."""


class GapRows(Record, frozen=True, kw_only=True):
    """A column, and how many rows were dropped that have no value in it."""

    column: str
    rows: Count


class Data(Record, frozen=True, kw_only=True):
    """The table that was learned from."""

    rows: Count
    rows_dropped: Count
    columns: Count
    attributes: Count
    positive_rows: Count | None
    """None in a study of several labels."""
    silent_columns: tuple[str, ...] = ()
    """Columns whose attributes tell no rows apart."""
    weight: Weight | None = None
    """None if every row counts once."""
    dealing: Dealing | None = None
    """None if rows were dealt by their numbers."""
    rows_without_target: Count = 0
    """Those of the rows dropped that have no label."""
    gaps: tuple[GapRows, ...] = ()
    """The columns for which rows were dropped, those that cost most rows first."""
    classes: tuple[LabelRows, ...] = ()
    """The rows of each of several labels; empty in a study of two classes."""


class Timing(Record, frozen=True, kw_only=True):
    """How long a run took."""

    launch_s: Seconds | None = None
    learn_s: Seconds | None = None
    total_s: Seconds | None = None
    methods_s: dict[str, Seconds] = field(default_factory=dict)
    """The time of each method, for all folds."""
    phases_s: dict[str, Seconds] = field(default_factory=dict)


class Environment(Record, frozen=True, kw_only=True):
    """What a run depended on besides its spec and data."""

    cluster: str | None = None
    engine: str | None = None
    workers: Count | None = None
    threads: Count | None = None
    hosts: Count | None = None
    worker_bytes: Count | None = None
    memory_bytes: Count | None = None
    dnfscale: str | None = None
    python: str | None = None
    packages: dict[str, str] = field(default_factory=dict)
    """Their versions."""
    machine: str | None = None
    system: str | None = None
    cores: Count | None = None
    dataset: str | None = None
    """The path of the data, as the spec gives it."""


class Result(Record, frozen=True, kw_only=True):
    """What a job found out."""

    schema: str = field(default_factory=lambda: RESULT_SCHEMA)
    name: str
    kind: str
    seed: int | None
    profile: str
    data: Data
    methods: dict[str, Method]
    comparisons: tuple[Comparison, ...] | None = None
    """None where methods were not tested on the same folds, as in a fit."""
    timing: Timing = field(default_factory=Timing)
    environment: Environment = field(default_factory=Environment)

    @property
    def ideal(self) -> Method | None:
        return self.methods.get(IDEAL)

    @property
    def explains(self) -> bool:
        """Whether the formula explains a classifier."""
        return self.kind == "distill" or bool(self.ideal and self.ideal.fidelity_mean is not None)

    @property
    def unit(self) -> int:
        """How many units a row of weight one is counted as."""
        return (self.data.weight and self.data.weight.unit) or 1

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels as they are shown, if there are several."""
        return tuple(label_text(each.label) for each in self.data.classes)

    @property
    def confusion(self) -> LabelConfusion | None:
        """The joint answers of the formulas of several labels on all test rows.

        None without test folds, or if one of them lacks a matrix of these labels.
        """
        folds = self.ideal.folds if self.ideal else ()
        matrices = [fold.confusion_matrix for fold in folds if fold.confusion_matrix]
        known = len(matrices) == len(folds) and {len(m) for m in matrices} == {len(self.labels)}
        if not known:
            return None
        rows = tuple(tuple(as_weight(n, self.unit) for n in row) for row in summed(matrices))
        return LabelConfusion(self.labels, rows)

    @property
    def n_folds(self) -> int:
        return max((len(method.folds) for method in self.methods.values()), default=0)

    @property
    def leaves_one_out(self) -> bool:
        """Whether each fold tests one row: then the deviation over folds says nothing."""
        sizes = {fold.test_rows for method in self.methods.values() for fold in method.folds}
        return sizes - {None} == {1}

    @property
    def positive_share(self) -> float | None:
        """The share of the rows that are positive, by their weight; None for several labels."""
        data = self.data
        if data.classes or not data.rows:
            return None
        if data.weight is None:
            return (data.positive_rows or 0) / data.rows
        return (data.weight.positive or 0.0) / data.weight.total if data.weight.total else None

    def label_share(self, label: LabelRows) -> float | None:
        """Return the share of the rows that have a label, by their weight."""
        weight = self.data.weight
        if weight is None:
            return label.rows / self.data.rows if self.data.rows else None
        return (label.weight or 0.0) / weight.total if weight.total else None

    @property
    def majority_share(self) -> float | None:
        """How often the most frequent answer is right."""
        labels = [self.label_share(each) or 0.0 for each in self.data.classes]
        if labels:
            return max(labels)
        positive = self.positive_share
        return None if positive is None else max(positive, 1 - positive)

    @property
    def has_spread(self) -> bool:
        """Whether figures differ from fold to fold in a way that says something."""
        return self.n_folds > 1 and not self.leaves_one_out

    def deviation(self, method: Method) -> float | None:
        """Return the deviation over folds; None if it says nothing."""
        return method.accuracy_std if self.has_spread else None


def result_text(result: Result) -> str:
    """Return the text of result.json."""
    record = msgspec.to_builtins(result)
    return json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_result(content: bytes) -> Result:
    """Read result.json; one that is damaged, or of another schema, raises a DataError."""
    try:
        record = msgspec.json.decode(content)
    except (ValueError, RecursionError) as error:
        raise DataError(f"expected JSON, but {error}") from error
    return parse_result(record)


def parse_result(record: object) -> Result:
    """Read a result that is parsed already; that of the first schema is upgraded."""
    schema = record.get("schema") if isinstance(record, dict) else None
    if schema == FIRST_SCHEMA:
        record = upgraded(record)
    elif schema != RESULT_SCHEMA:
        raise DataError(
            f"expected the result.json of a study or a fit, schema {RESULT_SCHEMA}, got "
            f"schema {schema!r:.60}"
        )
    return checked(record, Result, "a result")
