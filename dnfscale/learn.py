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
from dnfscale.core.columns import Column, Reading, Role
from dnfscale.core.counts import Tallies, TypeCounts, TypeRequest
from dnfscale.core.formula import Dnf
from dnfscale.core.medians import Cut
from dnfscale.core.splits import TEST, TRAIN, VALIDATION
from dnfscale.core.vocabulary import Vocabulary
from dnfscale.data.source import Source
from dnfscale.engine.api import Engine
from dnfscale.engine.budget import check_merge
from dnfscale.method.booleanize import Booleanization, FoldCuts, booleanize
from dnfscale.method.ideal import ideal_types
from dnfscale.method.minimize import Minimized, Truth, as_types, minimize
from dnfscale.method.one_rule import best_single
from dnfscale.method.select import SCORES, rankings
from dnfscale.method.sweep import RankedCounts, Sweep, sweep
from dnfscale.scans import Associate, BinRows, CountTypes, LocateMedians, merge_located
from dnfscale.table import LearnSpec, Table, summarize_table


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
    table = summarize_table(source, spec, engine)
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
