"""The straight line: from a source to the formulas of all folds.

Scans 1 to 3 read the dataset, scans 4 and 5 the binned table that scan 3 left on the workers; below them there are no
rows, only counts.

    summarize columns -> locate medians -> bin rows, associate -> rank
                      -> count types -> sweep -> count chosen types -> minimize
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dnfscale.core import associations, counts, medians
from dnfscale.core.arrays import Codes, Scalar
from dnfscale.core.bins import Spans
from dnfscale.core.columns import CategorySummary, Column, Reading, Role, TableSummary
from dnfscale.core.counts import Tallies, TypeCounts, TypeRequest
from dnfscale.core.formula import Dnf
from dnfscale.core.medians import Cut
from dnfscale.core.splits import TEST, TRAIN, VALIDATION, Splits
from dnfscale.core.vocabulary import Vocabulary
from dnfscale.data.source import Source, feature_columns, role_of
from dnfscale.engine.api import Engine
from dnfscale.engine.budget import check_merge
from dnfscale.errors import DataError, LimitError, SpecError
from dnfscale.method.booleanize import Booleanization, FoldCuts, booleanize
from dnfscale.method.ideal import ideal_types
from dnfscale.method.minimize import Minimized, Truth, as_types, minimize
from dnfscale.method.one_rule import best_single
from dnfscale.method.select import SCORES, rankings
from dnfscale.method.sweep import RankedCounts, Sweep, sweep
from dnfscale.scans import Associate, BinRows, CountTypes, LocateMedians, SummarizeColumns, merge_located

MISSING = ("drop", "error", "indicator")
UNSEEN = ("negative", "dont_care")
MINIMIZE = ("exact", "sympy", "none")
MOST_ELL = 24
_MOST_FOLDS = 5_000
"""What is known of each arc in each fold grows with the square of the number of folds: 50 MB here."""
_FEW_ROWS = 100
"""Below this many rows every row is a test fold of its own, unless the number of folds is given."""


@dataclass(frozen=True, slots=True)
class LearnSpec:
    """What to learn: the columns and their roles, and the method's choices."""

    target: str
    positive: tuple[Scalar, ...] | None = None
    """The labels that count as true; None where the target itself tells (true, or the larger of two values)."""
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    boolean: tuple[str, ...] = ()
    missing: str = "drop"
    max_categories: int = 10_000
    rank: tuple[str, ...] = ("f", "mutual_info", "chi2")
    max_ell: int = 10
    validation: float = 0.3
    tolerance: float = 0.01
    unseen: str = "negative"
    minimize: str = "exact"
    outer: int | str | None = None
    """Test folds: a number, "leave-one-out", or None for ten, or leave-one-out below a hundred rows; 0 for none."""
    seed: int = 0

    def __post_init__(self) -> None:
        choices = {"missing": MISSING, "unseen": UNSEEN, "minimize": MINIMIZE}
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise SpecError(f"{name} must be one of {_listed(known)}, got {getattr(self, name)!r}")
        if not self.rank or len(set(self.rank)) < len(self.rank) or not set(self.rank) <= set(SCORES):
            raise SpecError(f"rank must list different rankings out of {_listed(list(SCORES))}, got {self.rank!r}")
        if not isinstance(self.max_ell, int) or not 1 <= self.max_ell <= MOST_ELL:
            raise SpecError(f"max_ell must be a whole number between 1 and {MOST_ELL}, got {self.max_ell!r}")
        if not 0 <= self.validation < 1:
            raise SpecError(f"validation must be a number of at least 0 and below 1, got {self.validation!r}")
        if not 0 <= self.tolerance <= 1:
            raise SpecError(f"tolerance must be a number between 0 and 1, got {self.tolerance!r}")


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What scan 1 found, and what follows from it."""

    columns: tuple[Column, ...]
    reading: Reading
    summary: TableSummary
    positive: tuple[Scalar, ...]
    splits: Splits


@dataclass(frozen=True, slots=True, eq=False)
class SingleRule:
    """The best single attribute of a fold, to compare with."""

    attribute: str
    whole: TypeCounts
    test: TypeCounts


@dataclass(frozen=True, slots=True, eq=False)
class LearnedFold:
    """What was learned from one fold."""

    fold: int
    train_rows: int
    validation_rows: int
    test_rows: int
    rank: str
    sweep: Sweep
    tau: Vocabulary
    whole: TypeCounts
    """Counts over tau on W_0."""
    test: TypeCounts
    """Counts over tau on the test part."""
    minimized: Minimized
    single: SingleRule

    @property
    def dnf(self) -> Dnf:
        return self.minimized.dnf


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What was learned from a source."""

    rows: int
    """Rows used: N."""
    rows_dropped: int
    columns: tuple[Column, ...]
    attribute_names: tuple[str, ...]
    positive: tuple[Scalar, ...]
    positive_rows: int
    folds: tuple[LearnedFold, ...]
    model: LearnedFold
    """The fold of all rows."""
    table: Table


def learn(source: Source, spec: LearnSpec, engine: Engine) -> Learned:
    """Learn the formula of every fold, and that of all rows."""
    table = _summarize(source, spec, engine)
    cuts = _locate_medians(source, table, engine)
    booleans = booleanize(
        table.columns,
        table.summary.columns,
        cuts,
        n_folds=table.splits.n_folds,
        keep_missing=table.reading.keep_missing,
    )
    binned, ranked, singles = _bin_and_rank(source, table, booleans, spec, engine)
    sweeps = _sweep(binned, ranked, table, booleans, spec, engine)
    chosen = [chosen.chosen.attributes for chosen in sweeps] + [(single,) for single in singles]
    wholes, tests = _count_chosen(binned, chosen, table, booleans, engine)
    n_folds = table.splits.n_folds
    minimized = _minimize(wholes[:n_folds], spec, engine)
    folds = tuple(
        LearnedFold(
            fold=fold,
            train_rows=table.splits.rows_of(fold, [TRAIN]),
            validation_rows=table.splits.rows_of(fold, [VALIDATION]),
            test_rows=table.splits.rows_of(fold, [TEST]),
            rank=sweeps[fold].chosen.rank,
            sweep=sweeps[fold],
            tau=booleans.vocabulary(fold, sweeps[fold].chosen.attributes),
            whole=wholes[fold],
            test=tests[fold],
            minimized=minimized[fold],
            single=SingleRule(booleans.attributes[singles[fold]].name, wholes[n_folds + fold], tests[n_folds + fold]),
        )
        for fold in range(n_folds)
    )
    return Learned(
        rows=table.summary.n_rows,
        rows_dropped=table.summary.rows_read - table.summary.n_rows,
        columns=table.columns,
        attribute_names=tuple(attribute.name for attribute in booleans.attributes),
        positive=table.positive,
        positive_rows=sum(table.summary.target.counts.get(label, 0) for label in table.positive),
        folds=folds[:-1],
        model=folds[-1],
        table=table,
    )


def features(source: Source, spec: LearnSpec) -> tuple[Column, ...]:
    """Return the feature columns of a source; a spec that names a column that is not there is an error."""
    for key, names in (
        ("target", (spec.target,)),
        ("drop", spec.drop),
        ("categorical", spec.categorical),
        ("boolean", spec.boolean),
    ):
        for name in names:
            if name not in source.types:
                raise SpecError(
                    f"data.{key} must name columns of {source.path}, got {name!r}; it has "
                    f"{_listed([known for known in source.types if known != spec.target])}",
                    f"data.{key}",
                )
    if role_of(source.types[spec.target]) is None:
        raise DataError(
            f"{source.path}: the target must hold labels (numbers, booleans or strings), but {spec.target!r} has the "
            f"type {source.types[spec.target]}; convert it, or choose another data.target",
            "data.target",
        )
    for name in spec.boolean:
        if name in spec.categorical:
            raise SpecError(
                f"a column has one role, but {name!r} is in data.categorical and in data.boolean; take it out of one",
                "data.boolean",
            )
    columns = feature_columns(
        source, target=spec.target, drop=spec.drop, categorical=spec.categorical, boolean=spec.boolean
    )
    if not columns:
        raise SpecError(
            f"expected at least one feature column besides the target {spec.target!r}, but none is left; "
            "shorten data.drop",
            "data.drop",
        )
    return columns


def _summarize(source: Source, spec: LearnSpec, engine: Engine) -> Table:
    columns = features(source, spec)
    if not source.n_rows:
        raise DataError(f"{source.path}: expected rows to learn from, but the dataset has none", "data.path")
    reading = Reading(columns, spec.target, keep_missing=spec.missing == "indicator")
    scan = SummarizeColumns(reading, _sampled_share(source.n_rows, columns), spec.max_categories)
    summary = engine.reduce("summarize columns", source.partitions, scan, scan.merge)
    _check_rows(source, summary, columns, spec)
    _check_flags(summary, columns)
    positive = _positive(summary.target, spec)
    outer = _outer(summary.n_rows, spec)
    return Table(columns, reading, summary, positive, Splits(summary.n_rows, outer, spec.validation, spec.seed))


def _locate_medians(source: Source, table: Table, engine: Engine) -> dict[str, FoldCuts]:
    """Find the exact medians of every fold's W_train and W_0; columns whose bracket missed are scanned again."""
    splits = table.splits
    members = np.concatenate([splits.members([TRAIN]), splits.members([TRAIN, VALIDATION])])
    summaries = dict(zip(table.columns, table.summary.columns, strict=True))
    open_columns = [column for column in table.columns if column.role is Role.NUMBER]
    cuts: dict[str, FoldCuts] = {}
    widening = 0
    while open_columns:
        brackets = tuple(
            medians.bracket(summaries[column].sample, n_rows=splits.n_rows, widening=widening)  # type: ignore[union-attr]
            for column in open_columns
        )
        # A row is dropped for any column's missing value, so those that have some are read along.
        guards = tuple(c for c in table.columns if summaries[c].missing and c not in open_columns)
        reading = Reading(
            tuple(open_columns),
            table.reading.target,
            () if table.reading.keep_missing else guards,
            table.reading.keep_missing,
        )
        scan = LocateMedians(reading, brackets, table.summary.row_numbers(), splits)
        located = engine.reduce("locate medians", source.partitions, scan, merge_located)
        missed: list[Column] = []
        for column, found in zip(open_columns, located, strict=True):
            part_cuts = medians.cuts(found, members)
            if any(cut is None for cut in part_cuts):
                missed.append(column)
                continue
            known: list[Cut] = [cut for cut in part_cuts if cut is not None]
            cuts[column.name] = FoldCuts(tuple(known[: splits.n_folds]), tuple(known[splits.n_folds :]))
        open_columns = missed
        widening += 2
    return cuts


def _bin_and_rank(
    source: Source, table: Table, booleans: Booleanization, spec: LearnSpec, engine: Engine
) -> tuple[Sequence[object], list[dict[str, tuple[int, ...]]], list[int]]:
    """Bin the rows, leaving them on the workers; rank the attributes of each fold, and name its best single one."""
    scan = BinRows(table.reading, table.positive, booleans.bins, table.summary.row_numbers(), table.splits)
    check_merge(
        f"2 x 2 tables of {len(booleans.attributes):,} attributes in {table.splits.n_folds:,} folds",
        16 * len(booleans.attributes) * table.splits.n_folds,
        fan_in=engine.fan_in,
        worker_bytes=engine.worker_bytes,
        advice="lower folds.outer or data.max_categories, or raise cluster.memory_limit",
        key="folds.outer",
    )
    binned = engine.keep("bin rows", source.partitions, scan)
    tables = engine.reduce(
        "associate attributes",
        binned,
        Associate(booleans.bins, booleans.train, table.splits.members([TRAIN])),
        associations.merge,
    )
    best = {rank: rankings(SCORES[rank](tables), spec.max_ell) for rank in spec.rank}
    ranked = [
        {rank: tuple(order[fold].tolist()) for rank, order in best.items()} for fold in range(table.splits.n_folds)
    ]
    return binned, ranked, best_single(tables).tolist()


def _sweep(
    binned: Sequence[object],
    ranked: Sequence[Mapping[str, tuple[int, ...]]],
    table: Table,
    booleans: Booleanization,
    spec: LearnSpec,
    engine: Engine,
) -> list[Sweep]:
    """Count every fold's rankings on W_train and W_val, and choose ell.

    Rankings that agree on which attributes are best, in whatever order, share one count.
    """
    wanted: dict[tuple[int, tuple[int, ...]], int] = {}
    for fold, by_rank in enumerate(ranked):
        for attributes in by_rank.values():
            wanted.setdefault((fold, tuple(sorted(attributes))), len(wanted))
    tallies = _count(
        "count types",
        binned,
        [(fold, attributes) for fold, attributes in wanted],
        spans=booleans.train,
        booleans=booleans,
        groups=table.splits.parts,
        engine=engine,
    )
    sweeps = []
    for fold, by_rank in enumerate(ranked):
        ranked_counts = {}
        for rank, attributes in by_rank.items():
            counted = tuple(sorted(attributes))
            train, validation = tallies[wanted[fold, counted]]
            order = [counted.index(attribute) for attribute in attributes]
            ranked_counts[rank] = RankedCounts(
                attributes,
                counts.project(counts.from_dense(*train), order),
                counts.project(counts.from_dense(*validation), order),
            )
        sweeps.append(sweep(ranked_counts, tolerance=spec.tolerance))
    return sweeps


def _count_chosen(
    binned: Sequence[object],
    chosen: Sequence[tuple[int, ...]],
    table: Table,
    booleans: Booleanization,
    engine: Engine,
) -> tuple[list[TypeCounts], list[TypeCounts]]:
    """Count chosen attributes, cut at the medians of W_0, on W_0 and on the test part; folds come round in order."""
    groups = np.array([0, 0, 1], dtype=np.uint8)[table.splits.parts]
    tallies = _count(
        "count chosen types",
        binned,
        [(number % table.splits.n_folds, attributes) for number, attributes in enumerate(chosen)],
        spans=booleans.whole,
        booleans=booleans,
        groups=groups,
        engine=engine,
    )
    return [counts.from_dense(*tally[0]) for tally in tallies], [counts.from_dense(*tally[1]) for tally in tallies]


def _count(
    phase: str,
    binned: Sequence[object],
    wanted: Sequence[tuple[int, tuple[int, ...]]],
    *,
    spans: Spans,
    booleans: Booleanization,
    groups: Codes,
    engine: Engine,
) -> Tallies:
    check_merge(
        f"type counts of {len(wanted)} tables",
        sum(8 * 4 << len(attributes) for _, attributes in wanted),
        fan_in=engine.fan_in,
        worker_bytes=engine.worker_bytes,
        advice="lower select.max_ell, folds.outer or cluster.fan_in, or raise cluster.memory_limit",
        key="select.max_ell",
    )
    requests = tuple(TypeRequest(fold, spans.of(fold, attributes)) for fold, attributes in wanted)
    return engine.reduce(phase, binned, CountTypes(booleans.bins, requests, groups), counts.merge_tallies)


def _minimize(wholes: Sequence[TypeCounts], spec: LearnSpec, engine: Engine) -> list[Minimized]:
    """Write the ideal classifier of each fold as a short formula; folds that agree are written once."""
    truths = [_truth(whole, spec.unseen) for whole in wholes]
    distinct = list(dict.fromkeys(truths))
    if spec.minimize == "sympy":
        # SymPy takes half a second to import, and only this choice needs it.
        from dnfscale.method.simplify import simplify

        written = engine.map("simplify formulas", distinct, simplify)
    else:
        written = engine.map("minimize formulas", distinct, minimize if spec.minimize == "exact" else as_types)
    by_truth = dict(zip(distinct, written, strict=True))
    return [by_truth[truth] for truth in truths]


def _truth(whole: TypeCounts, unseen: str) -> Truth:
    required = tuple(ideal_types(whole).tolist())
    if unseen == "negative":
        return Truth(whole.ell, required)
    return Truth(whole.ell, required, tuple(np.setdiff1d(np.arange(1 << whole.ell), whole.codes).tolist()))


def _sampled_share(n_rows: int, columns: Sequence[Column]) -> float:
    """Return the share of rows to sample: enough for narrow brackets, at most 64 MiB over all columns."""
    n_numbers = sum(column.role is Role.NUMBER for column in columns)
    sampled = max(20_000.0, 4 * float(n_rows) ** (2 / 3))
    return float(min(1.0, sampled / n_rows, (64 << 20) / (8 * max(1, n_numbers) * n_rows)))


def _check_rows(source: Source, summary: TableSummary, columns: Sequence[Column], spec: LearnSpec) -> None:
    dropped = summary.rows_read - summary.n_rows
    missing = {c.name: s.missing for c, s in zip(columns, summary.columns, strict=True) if s.missing}
    if spec.missing == "error" and dropped:
        listed = ", ".join(f"{name!r} ({count:,})" for name, count in missing.items()) or f"{spec.target!r}"
        raise DataError(
            f"{source.path}: expected no missing values, but {dropped:,} of {summary.rows_read:,} rows have some, "
            f'in {listed}; fill them, or set data.missing = "drop"',
            "data.missing",
        )
    if not summary.n_rows and summary.target.missing == summary.rows_read:
        raise DataError(
            f"{source.path}: expected labels to learn from, but the target {spec.target!r} has no value at all; "
            "choose another data.target",
            "data.target",
        )
    if not summary.n_rows:
        empty = [name for name, count in missing.items() if count == summary.rows_read]
        reason = (
            f"{_listed(empty)} have no value at all; add them to data.drop"
            if empty
            else ('none has a value in every column; drop the emptiest columns, or set data.missing = "indicator"')
        )
        raise DataError(f"{source.path}: expected rows without missing values, but {reason}", "data.missing")


def _check_flags(summary: TableSummary, columns: Sequence[Column]) -> None:
    for column, found in zip(columns, summary.columns, strict=True):
        if column.role is Role.FLAG and isinstance(found, CategorySummary) and len(found.values) > 2:
            raise SpecError(
                f"data.boolean must name columns of two values, but {column.name!r} has {len(found.values):,}: "
                f"{_listed(found.values)}; leave it out, or put it in data.categorical",
                "data.boolean",
            )


def _positive(target: CategorySummary, spec: LearnSpec) -> tuple[Scalar, ...]:
    """Return the labels that count as true, making sure that both classes occur."""
    values = target.values
    if len(values) < 2:
        raise DataError(
            f"expected two classes to tell apart, but the target {spec.target!r} has only the value {_listed(values)}; "
            "choose another data.target",
            "data.target",
        )
    if spec.positive is None:
        if len(values) > 2:
            raise SpecError(
                f"data.positive must say which labels are the positive class, because the target {spec.target!r} has "
                f"{len(values):,} values: {_listed(values)}",
                "data.target",
            )
        return (values[-1],)
    for label in spec.positive:
        if not any(label == value and isinstance(label, bool) == isinstance(value, bool) for value in values):
            raise SpecError(
                f"data.positive must list values of the target {spec.target!r}, which are {_listed(values)}; "
                f"got {label!r}, which never occurs",
                "data.positive",
            )
    if all(value in spec.positive for value in values):
        raise SpecError(
            f"data.positive must leave some label for the negative class, but it lists all values of "
            f"{spec.target!r}: {_listed(values)}",
            "data.positive",
        )
    return tuple(value for value in values if value in spec.positive)


def _outer(n_rows: int, spec: LearnSpec) -> int:
    if spec.outer == 0:
        return 0
    if n_rows < 2:
        raise DataError(f'expected at least 2 rows to cross-validate, got {n_rows}; use kind = "fit"', "folds.outer")
    if spec.outer is None:
        return 10 if n_rows >= _FEW_ROWS else n_rows
    if spec.outer != "leave-one-out" and int(spec.outer) > n_rows:
        raise SpecError(
            f"folds.outer must be at most the number of rows, {n_rows:,}, got {spec.outer}; lower it", "folds.outer"
        )
    outer = n_rows if spec.outer == "leave-one-out" else int(spec.outer)
    if outer > _MOST_FOLDS:
        raise LimitError(
            f"folds.outer may give at most {_MOST_FOLDS:,} folds at once, got {outer:,}; lower it", "folds.outer"
        )
    return outer


def _listed(values: Sequence[Scalar] | Mapping[str, object]) -> str:
    """Write out some values, the first ten of them."""
    written = [repr(value) for value in values]
    return ", ".join(written[:10]) + (f" and {len(written) - 10:,} more" if len(written) > 10 else "")
