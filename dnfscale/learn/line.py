"""The straight line: from a source to the formulas of all folds.

One read of the dataset leaves rough rows on the workers; the scans after it read those. Below them there are no rows,
only counts.

    read rows, locate cuts -> bin rows, associate -> rank
                           -> count types -> sweep -> count chosen types -> minimize
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from dnfscale.core import counts
from dnfscale.core.arrays import Codes, Scalar
from dnfscale.core.associations import Associations
from dnfscale.core.bins import Spans
from dnfscale.core.columns import Column
from dnfscale.core.counts import Tallies, TypeCounts, TypeRequest
from dnfscale.core.formula import Dnf
from dnfscale.core.lookalikes import lookalikes
from dnfscale.core.model import Model
from dnfscale.core.splits import TEST, TRAIN, VALIDATION, Splits
from dnfscale.core.vocabulary import Vocabulary
from dnfscale.data.source import Source
from dnfscale.engine.api import Engine
from dnfscale.engine.budget import check_merge
from dnfscale.learn.keeping import KeptRows, keep_rows
from dnfscale.learn.scans import CountTypes
from dnfscale.learn.selecting import Ranked, rank_units
from dnfscale.learn.spec import LearnSpec
from dnfscale.learn.table import Table
from dnfscale.method.booleanize import Booleanization
from dnfscale.method.freedom import truth_of
from dnfscale.method.minimize import EFFORT, Effort, Minimized, as_types, minimize
from dnfscale.method.one_rule import best_single
from dnfscale.method.select import SCORES, rankings
from dnfscale.method.shrink import Shrink
from dnfscale.method.sweep import Judging, RankedCounts, Sweep, sweep


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
    threshold: Fraction
    """The share of positives from which a type is accepted."""
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
    n_attributes: int
    """Without intervals."""
    attribute_names: tuple[str, ...]
    """With the intervals that were found."""
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
    """Or the unit of it: see selecting.py."""
    attributes: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class LearnedTargets:
    """What was learned from a source."""

    targets: tuple[Learned, ...]
    kept: KeptRows
    booleans: Booleanization
    """The attributes, and after them the intervals that were found."""
    chosen: tuple[tuple[int, ...], ...]
    """The attributes chosen for each target and fold; folds come round in order."""


def learn(source: Source, spec: LearnSpec, engine: Engine) -> Learned:
    """Learn the formula of every fold, and that of all rows."""
    [learned] = learn_targets(source, spec, engine).targets
    return learned


def learn_targets(source: Source, spec: LearnSpec, engine: Engine) -> LearnedTargets:
    """Learn the formulas of every target of a table, one or as many as it has classes, in the same scans."""
    kept = keep_rows(source, spec, engine)
    table, rows, associated = kept.table, kept.rows, kept.associations
    n_folds = table.splits.n_folds
    ranked, booleans = rank_units(rows, associated, table, kept.booleans, spec, engine)
    sweeps = _sweep(rows, ranked, table, booleans, spec, engine)
    chosen = [step.chosen.attributes for step in sweeps]
    singles = [(single,) for tables in associated for single in best_single(tables)[:n_folds].tolist()]
    wholes, tests, others = count_chosen(rows, [*chosen, *singles], table, booleans, engine)
    taus = [booleans.vocabulary(place % n_folds, attributes) for place, attributes in enumerate(chosen)]
    thresholds = [spec.judging.objective.threshold_of(whole) for whole in wholes[: len(chosen)]]
    shrinks = [step.chosen.shrink for step in sweeps]
    minimized = write_formulas(wholes[: len(chosen)], taus, thresholds, shrinks, spec, engine)
    folds = [
        LearnedFold(
            fold=fold,
            train_rows=table.splits.rows_of(fold, [TRAIN]),
            validation_rows=table.splits.rows_of(fold, [VALIDATION]),
            test_rows=table.splits.rows_of(fold, [TEST]),
            rank=sweeps[place].chosen.rank,
            sweep=sweeps[place],
            tau=taus[place],
            threshold=thresholds[place],
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
            n_attributes=len(kept.booleans.attributes),
            attribute_names=tuple(attribute.name for attribute in booleans.attributes),
            positive=positive,
            positive_rows=sum(table.summary.target.counts.get(label, 0) for label in positive),
            folds=tuple(folds[target * n_folds : (target + 1) * n_folds - 1]),
            model=folds[(target + 1) * n_folds - 1],
            table=table,
        )
        for target, positive in enumerate(table.positives)
    )
    return LearnedTargets(targets, kept, booleans, tuple(chosen))


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
        threshold=fold.threshold,
        unit=spec.unit,
        weighted=spec.weight is not None,
        lookalikes=lookalikes(fold.tau, learned.table.alike),
    )


def _sweep(
    rows: Sequence[object],
    ranked: Sequence[Sequence[Ranked]],
    table: Table,
    booleans: Booleanization,
    spec: LearnSpec,
    engine: Engine,
) -> list[Sweep]:
    """Count the rankings of every target and split on W_train and W_val, and choose ell; folds come round in order.

    Rankings that agree on which attributes are best, in whatever order, share one count.
    """
    splits = table.splits
    n_folds = splits.n_folds
    wanted: dict[Wanted, int] = {}
    for target, units in enumerate(ranked):
        for unit, by_rank in enumerate(units[: n_folds * splits.inner]):
            for attributes in by_rank.values():
                wanted.setdefault(Wanted(target, unit, tuple(sorted(attributes))), len(wanted))
    parts = np.concatenate([splits.inner_parts(split) for split in range(splits.inner)])
    validated = _validated_rows(parts, splits)
    tallies = _count(
        "count types",
        rows,
        list(wanted),
        spans=booleans.train,
        booleans=booleans,
        groups=parts,
        table=table,
        engine=engine,
    )

    def counted(target: int, unit: int, attributes: tuple[int, ...]) -> RankedCounts:
        known = tuple(sorted(attributes))
        order = [known.index(attribute) for attribute in attributes]
        train, validation = (
            counts.project(counts.from_dense(*part), order) for part in tallies[wanted[Wanted(target, unit, known)]]
        )
        return RankedCounts(attributes, train, validation)

    tried = [
        Tried(
            {
                rank: tuple(
                    counted(target, unit, units[unit][rank]) for unit in range(fold, n_folds * splits.inner, n_folds)
                )
                for rank in spec.rank
            },
            # Where several splits chose, what they chose is carried out on all rows learned from.
            units[fold - n_folds] if splits.inner > 1 else units[fold],
            validated[fold],
        )
        for target, units in enumerate(ranked)
        for fold in range(n_folds)
    ]
    choose = ChooseEll(spec.judging)
    # Rules that only compare counts are done before they could be sent.
    return (
        [choose(of_fold) for of_fold in tried] if spec.shrink == "none" else engine.map("try prefixes", tried, choose)
    )


@dataclass(frozen=True, slots=True, eq=False)
class Tried:
    """What the rankings of a fold are worth in each inner split."""

    ranked: Mapping[str, tuple[RankedCounts, ...]]
    final: Ranked
    """The rankings to choose from."""
    distinct_rows: int
    """How many different rows validate."""


@dataclass(frozen=True, slots=True)
class ChooseEll:
    """Chooses a ranking and ell."""

    judging: Judging

    def __call__(self, tried: Tried) -> Sweep:
        return sweep(tried.ranked, self.judging, final=tried.final, distinct_rows=tried.distinct_rows)


def _validated_rows(parts: Codes, splits: Splits) -> list[int]:
    """Return how many different rows of each fold validate in some inner split."""
    validate = (parts == VALIDATION).reshape(splits.inner, splits.n_folds, -1).any(axis=0)
    return [int(splits.arc_rows[own].sum()) for own in validate]


def count_chosen(
    rows: Sequence[object],
    chosen: Sequence[tuple[int, ...]],
    table: Table,
    booleans: Booleanization,
    engine: Engine,
) -> tuple[list[TypeCounts], list[TypeCounts], list[tuple[TypeCounts, ...]]]:
    """Count chosen attributes, as W_0 cuts them, on W_0 and on the test part; targets and folds come round.

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
    requests = tuple(
        TypeRequest(want.fold, spans.of(want.fold % spans.n_folds, want.attributes), want.attributes, want.target)
        for want in wanted
    )
    scan = CountTypes(booleans.bins, table.classes, requests, groups, np.concatenate([table.targets, table.others]))
    return engine.reduce(phase, rows, scan, counts.merge_tallies)


def write_formulas(
    wholes: Sequence[TypeCounts],
    taus: Sequence[Vocabulary],
    thresholds: Sequence[Fraction],
    shrinks: Sequence[Shrink],
    spec: LearnSpec,
    engine: Engine,
    effort: Effort = EFFORT,
) -> list[Minimized]:
    """Write the classifier of each fold as a short formula; folds that agree are written once."""
    truths = [
        truth_of(whole, tau, shrink=shrink, threshold=threshold, freedom=spec.free)
        for whole, tau, threshold, shrink in zip(wholes, taus, thresholds, shrinks, strict=True)
    ]
    distinct = list(dict.fromkeys(truths))
    if spec.minimize == "sympy":
        # SymPy takes half a second to import, and only this choice needs it.
        from dnfscale.method.simplify import simplify

        written = engine.map("simplify formulas", distinct, simplify)
    else:
        shortest = partial(minimize, effort=effort)
        written = engine.map("minimize formulas", distinct, shortest if spec.minimize == "exact" else as_types)
    by_truth = dict(zip(distinct, written, strict=True))
    return [by_truth[truth] for truth in truths]
