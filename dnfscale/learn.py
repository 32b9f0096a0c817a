"""The straight line: from a source to the formulas of all folds.

One read of the dataset leaves rough rows on the workers; the scans after it read those. Below them there are no rows,
only counts.

    read rows, locate medians -> bin rows, associate -> rank
                              -> count types -> sweep -> count chosen types -> minimize
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dnfscale.core import associations, counts
from dnfscale.core.arrays import Codes, Scalar
from dnfscale.core.associations import Associations
from dnfscale.core.bins import Spans
from dnfscale.core.columns import Column
from dnfscale.core.counts import Tallies, TypeCounts, TypeRequest
from dnfscale.core.formula import Dnf
from dnfscale.core.model import Model
from dnfscale.core.splits import TEST, TRAIN, VALIDATION
from dnfscale.core.vocabulary import Vocabulary
from dnfscale.data.source import Source
from dnfscale.engine.api import Engine
from dnfscale.engine.budget import check_merge
from dnfscale.method.booleanize import Booleanization, booleanize
from dnfscale.method.ideal import ideal_types, weighed
from dnfscale.method.minimize import Minimized, Truth, as_types, minimize
from dnfscale.method.one_rule import best_single
from dnfscale.method.select import SCORES, rankings
from dnfscale.method.sweep import RankedCounts, Sweep, sweep
from dnfscale.reading import read_table
from dnfscale.scans import Associate, CountTypes
from dnfscale.table import LearnSpec, Table


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
    others: tuple[TypeCounts, ...]
    """Counts over tau on the test part for the other readings of the target, if there are any."""
    minimized: Minimized
    single: SingleRule

    @property
    def dnf(self) -> Dnf:
        return self.minimized.dnf


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What was learned of one target."""

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


class Wanted(NamedTuple):
    """Attributes whose types are to be counted, with a target, in a fold."""

    target: int
    fold: int
    attributes: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class BinnedTargets:
    """The rows that a read leaves on the workers, and what is needed to ask more of them."""

    table: Table
    rows: Sequence[object]
    booleans: Booleanization
    associations: tuple[Associations, ...]
    """Of the attributes with each target, on W_train of every fold."""


@dataclass(frozen=True, slots=True, eq=False)
class LearnedTargets:
    """What was learned from a source."""

    targets: tuple[Learned, ...]
    binned: BinnedTargets
    chosen: tuple[tuple[int, ...], ...]
    """The attributes chosen for each target and fold; folds come round in order."""


def learn(source: Source, spec: LearnSpec, engine: Engine) -> Learned:
    """Learn the formula of every fold, and that of all rows."""
    [learned] = learn_targets(source, spec, engine).targets
    return learned


def learn_targets(source: Source, spec: LearnSpec, engine: Engine) -> LearnedTargets:
    """Learn the formulas of every target of a table, one or as many as it has classes, in the same scans."""
    binned = bin_targets(source, spec, engine)
    table, rows, booleans, associated = binned.table, binned.rows, binned.booleans, binned.associations
    sweeps = _sweep(rows, [_ranked(tables, spec) for tables in associated], table, booleans, spec, engine)
    chosen = [step.chosen.attributes for step in sweeps]
    singles = [(single,) for tables in associated for single in best_single(tables).tolist()]
    wholes, tests, others = _count_chosen(rows, [*chosen, *singles], table, booleans, engine)
    minimized = _minimize(wholes[: len(chosen)], spec, engine)
    n_folds = table.splits.n_folds
    folds = [
        LearnedFold(
            fold=fold,
            train_rows=table.splits.rows_of(fold, [TRAIN]),
            validation_rows=table.splits.rows_of(fold, [VALIDATION]),
            test_rows=table.splits.rows_of(fold, [TEST]),
            rank=sweeps[place].chosen.rank,
            sweep=sweeps[place],
            tau=booleans.vocabulary(fold, chosen[place]),
            whole=wholes[place],
            test=tests[place],
            others=others[place],
            minimized=minimized[place],
            single=SingleRule(
                booleans.attributes[singles[place][0]].name, wholes[len(chosen) + place], tests[len(chosen) + place]
            ),
        )
        for place, fold in enumerate(list(range(n_folds)) * len(table.targets))
    ]
    targets = tuple(
        Learned(
            rows=table.summary.n_rows,
            rows_dropped=table.summary.rows_read - table.summary.n_rows,
            columns=table.columns,
            attribute_names=tuple(attribute.name for attribute in booleans.attributes),
            positive=positive,
            positive_rows=sum(table.summary.target.counts.get(label, 0) for label in positive),
            folds=tuple(folds[target * n_folds : (target + 1) * n_folds - 1]),
            model=folds[(target + 1) * n_folds - 1],
            table=table,
        )
        for target, positive in enumerate(table.positives)
    )
    return LearnedTargets(targets, binned, tuple(chosen))


def bin_targets(source: Source, spec: LearnSpec, engine: Engine) -> BinnedTargets:
    """Read a source, lay out its attributes, and associate them with every target."""
    read = read_table(source, spec, engine)
    table = read.table
    booleans = booleanize(
        table.columns,
        table.summary.columns,
        read.cuts,
        n_folds=table.splits.n_folds,
        keep_missing=table.reading.keep_missing,
    )
    return BinnedTargets(table, read.rows, booleans, _associate(read.rows, table, booleans, engine))


def rank_attributes(tables: Associations, rank: str, length: int) -> list[tuple[int, ...]]:
    """Return the best attributes of each fold by a ranking, best first."""
    return [tuple(order.tolist()) for order in rankings(SCORES[rank](tables), length)]


def fold_model(fold: LearnedFold, learned: Learned, spec: LearnSpec) -> Model:
    """Return the formula of a fold as a model that can be used without the data."""
    return Model(
        target=spec.target,
        positive=learned.positive,
        tau=fold.tau,
        dnf=fold.dnf,
        counts=fold.whole,
        missing=spec.missing,
        unseen=spec.unseen,
        threshold=spec.threshold,
    )


def _associate(
    rows: Sequence[object], table: Table, booleans: Booleanization, engine: Engine
) -> tuple[Associations, ...]:
    """Associate the attributes with every target in each fold."""
    n_tables = len(table.targets) * table.splits.n_folds
    check_merge(
        f"2 x 2 tables of {len(booleans.attributes):,} attributes in {n_tables:,} folds",
        16 * len(booleans.attributes) * n_tables,
        fan_in=engine.fan_in,
        worker_bytes=engine.worker_bytes,
        advice="lower folds.outer or data.max_categories, or raise cluster.memory_limit",
        key="folds.outer",
    )
    scan = Associate(booleans.bins, table.classes, booleans.train, table.splits.members([TRAIN]), table.targets)
    return engine.reduce("associate attributes", rows, scan, associations.merge)


def _ranked(tables: Associations, spec: LearnSpec) -> list[dict[str, tuple[int, ...]]]:
    """Return the best attributes of each fold, by each ranking."""
    best = {rank: rank_attributes(tables, rank, spec.max_ell) for rank in spec.rank}
    return [{rank: orders[fold] for rank, orders in best.items()} for fold in range(len(tables.n))]


def _sweep(
    rows: Sequence[object],
    ranked: Sequence[Sequence[Mapping[str, tuple[int, ...]]]],
    table: Table,
    booleans: Booleanization,
    spec: LearnSpec,
    engine: Engine,
) -> list[Sweep]:
    """Count the rankings of every target and fold on W_train and W_val, and choose ell; folds come round in order.

    Rankings that agree on which attributes are best, in whatever order, share one count.
    """
    wanted: dict[Wanted, int] = {}
    places = [(target, fold, by_rank) for target, folds in enumerate(ranked) for fold, by_rank in enumerate(folds)]
    for target, fold, by_rank in places:
        for attributes in by_rank.values():
            wanted.setdefault(Wanted(target, fold, tuple(sorted(attributes))), len(wanted))
    tallies = _count(
        "count types",
        rows,
        list(wanted),
        spans=booleans.train,
        booleans=booleans,
        groups=table.splits.parts,
        table=table,
        engine=engine,
    )
    sweeps = []
    for target, fold, by_rank in places:
        ranked_counts = {}
        for rank, attributes in by_rank.items():
            counted = tuple(sorted(attributes))
            order = [counted.index(attribute) for attribute in attributes]
            train, validation = (
                weighed(counts.project(counts.from_dense(*part), order), spec.threshold)
                for part in tallies[wanted[Wanted(target, fold, counted)]]
            )
            ranked_counts[rank] = RankedCounts(attributes, train, validation)
        sweeps.append(sweep(ranked_counts, tolerance=spec.tolerance))
    return sweeps


def _count_chosen(
    rows: Sequence[object],
    chosen: Sequence[tuple[int, ...]],
    table: Table,
    booleans: Booleanization,
    engine: Engine,
) -> tuple[list[TypeCounts], list[TypeCounts], list[tuple[TypeCounts, ...]]]:
    """Count chosen attributes, cut at the medians of W_0, on W_0 and on the test part; targets and folds come round.

    What comes last is counted on the test part for the other readings of the target.
    """
    n_targets, n_folds = len(table.targets), table.splits.n_folds
    wanted = [
        Wanted(place // n_folds % n_targets, place % n_folds, attributes) for place, attributes in enumerate(chosen)
    ]
    beside = [want._replace(target=n_targets + other) for want in wanted for other in range(len(table.others))]
    groups = np.array([0, 0, 1], dtype=np.uint8)[table.splits.parts]
    tallies = _count(
        "count chosen types",
        rows,
        [*wanted, *beside],
        spans=booleans.whole,
        booleans=booleans,
        groups=groups,
        table=table,
        engine=engine,
    )
    wholes, tests = ([counts.from_dense(*tally[part]) for tally in tallies[: len(chosen)]] for part in (0, 1))
    others = [counts.from_dense(*tally[1]) for tally in tallies[len(chosen) :]]
    n_others = len(table.others)
    return wholes, tests, [tuple(others[i * n_others : (i + 1) * n_others]) for i in range(len(chosen))]


def _count(
    phase: str,
    rows: Sequence[object],
    wanted: Sequence[Wanted],
    *,
    spans: Spans,
    booleans: Booleanization,
    groups: Codes,
    table: Table,
    engine: Engine,
) -> Tallies:
    check_merge(
        f"type counts of {len(wanted)} tables",
        sum(8 * 4 << len(want.attributes) for want in wanted),
        fan_in=engine.fan_in,
        worker_bytes=engine.worker_bytes,
        advice="lower select.max_ell, folds.outer or cluster.fan_in, or raise cluster.memory_limit",
        key="select.max_ell",
    )
    requests = tuple(TypeRequest(want.fold, spans.of(want.fold, want.attributes), want.target) for want in wanted)
    scan = CountTypes(booleans.bins, table.classes, requests, groups, np.concatenate([table.targets, table.others]))
    return engine.reduce(phase, rows, scan, counts.merge_tallies)


def _minimize(wholes: Sequence[TypeCounts], spec: LearnSpec, engine: Engine) -> list[Minimized]:
    """Write the ideal classifier of each fold as a short formula; folds that agree are written once."""
    truths = [_truth(weighed(whole, spec.threshold), spec.unseen) for whole in wholes]
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
