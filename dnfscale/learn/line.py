"""The straight line: from a source to the formulas of all folds.

One read of the dataset leaves rough rows on the workers, and the later scans read those. After the
last scan there are only counts.

    keeping    read rows, locate cuts -> bin rows, associate
    selecting                         -> rank
    choosing                          -> count types -> sweep
    line                              -> count chosen types -> form classifiers -> minimize
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TypeVar

import numpy as np

from dnfscale.core.arrays import Scalar
from dnfscale.core.columns import CategorySummary, Column
from dnfscale.core.counts import TypeCounts
from dnfscale.core.formula import Dnf
from dnfscale.core.lookalikes import lookalikes
from dnfscale.core.model import Model
from dnfscale.core.splits import TEST, TRAIN, VALIDATION, Splits
from dnfscale.core.vocabulary import Vocabulary
from dnfscale.data.source import Source
from dnfscale.engine.api import Engine
from dnfscale.learn.choose import choose_ells, objective_of, plan_choosing
from dnfscale.learn.count import COUNT_CHOSEN, Chosen, Counted, count_chosen
from dnfscale.learn.keeping import KeptRows, keep_rows, plan_keeping
from dnfscale.learn.phases import Layout, Phase, PlannedPhase, Reads
from dnfscale.learn.places import Place, first_part
from dnfscale.learn.rank import Rankings, plan_ranking, rank_attributes
from dnfscale.learn.table import Table
from dnfscale.method.booleanize import Booleanization
from dnfscale.method.freedom import Freedom, truth_of
from dnfscale.method.literals import Line, lines_of
from dnfscale.method.minimize.minimal import EFFORT, Effort, Minimized, Truth, as_types, minimize
from dnfscale.method.minimize.possible import ColumnStates, axes_of, row_states
from dnfscale.method.one_rule import best_single
from dnfscale.method.shrink import Shrink
from dnfscale.method.sweep import Step, Sweep
from dnfscale.spec.learn import LearnSpec

MINIMIZE = Phase("minimize formulas", Reads.COUNTS)
SIMPLIFY = Phase("simplify formulas", Reads.COUNTS)


@dataclass(frozen=True, slots=True, eq=False)
class SingleRule:
    """The best single attribute of a fold, with which its formula is compared."""

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

    @property
    def lines(self) -> tuple[Line, ...]:
        """The formula as people read it."""
        return lines_of(self.tau, self.dnf)


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What was learned about one target."""

    rows: int
    """Rows used: N."""
    rows_dropped: int
    columns: tuple[Column, ...]
    n_attributes: int
    """The number of attributes, without intervals."""
    attribute_names: tuple[str, ...]
    """The names of the attributes, with the intervals that were found."""
    positive: tuple[Scalar, ...]
    positive_rows: int
    silent_columns: tuple[str, ...]
    """Columns that tell no rows apart, and which the formula of all rows does not use."""
    folds: tuple[LearnedFold, ...]
    model: LearnedFold
    """The fold of all rows."""
    table: Table


@dataclass(frozen=True, slots=True, eq=False)
class LearnedTargets:
    """What was learned from a source."""

    targets: tuple[Learned, ...]
    kept: KeptRows
    booleans: Booleanization
    """The attributes, and after them the intervals that were found."""
    chosen: Mapping[Place, tuple[int, ...]]
    """The attributes chosen in each place."""


def learn(source: Source, spec: LearnSpec, engine: Engine) -> Learned:
    """Learn the formula of every fold, and that of all rows."""
    [learned] = learn_targets(source, spec, engine).targets
    return learned


def learn_targets(source: Source, spec: LearnSpec, engine: Engine) -> LearnedTargets:
    """Learn the formulas of every target of a table, one or as many as it has classes, in the same
    scans.
    """
    kept = keep_rows(source, spec, engine)
    rankings = rank_attributes(kept, spec, engine)
    sweeps = choose_ells(kept, rankings, spec, engine)
    chosen = {place: Chosen(place, found.chosen.attributes) for place, found in sweeps.items()}
    singles = _best_singles(kept)
    counted = count_chosen([*chosen.values(), *singles.values()], kept, rankings.booleans, engine)
    # No rows below this line.
    classifiers = {
        place: form_classifier(
            place.fold, sweeps[place].chosen, counted[own], rankings.booleans, spec
        )
        for place, own in chosen.items()
    }
    written = write_formulas(classifiers, spec, engine)
    rules = {
        place: _single_rule(own, counted[own], rankings.booleans) for place, own in singles.items()
    }
    folds = {
        place: _learned_fold(
            place.fold,
            sweeps[place],
            classifiers[place],
            written[place],
            rules[place],
            kept.table.splits,
        )
        for place in kept.places
    }
    return LearnedTargets(
        targets=tuple(
            _learned(target, folds, kept, rankings) for target in range(len(kept.table.targets))
        ),
        kept=kept,
        booleans=rankings.booleans,
        chosen={place: own.attributes for place, own in chosen.items()},
    )


def plan_line(layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the phases of learn_targets."""
    yield from plan_keeping(layout)
    yield from plan_ranking(layout)
    yield from plan_choosing(layout)
    yield layout.scan(COUNT_CHOSEN)
    yield plan_writing(layout, layout.folds)


def plan_writing(layout: Layout, formulas: int) -> PlannedPhase:
    """Return the phase that writes so many formulas."""
    return (SIMPLIFY if layout.spec.minimize == "sympy" else MINIMIZE).planned(formulas)


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


@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """The ideal classifier of some attributes in a fold, before it is written as a formula."""

    tau: Vocabulary
    counted: Counted
    threshold: Fraction
    """The share of positives from which a type is accepted."""
    shrink: Shrink
    """The rule for types of few rows."""
    columns: tuple[ColumnStates, ...]
    """The columns of tau with the states that a row can be in."""

    def truth(self, freedom: Freedom) -> Truth:
        """Return the types that a formula of this classifier must accept, and those that it is free
        to accept.
        """
        truth = truth_of(
            self.counted.whole,
            self.columns,
            shrink=self.shrink,
            threshold=self.threshold,
            freedom=freedom,
        )
        return replace(truth, axes=axes_of(self.tau, self.columns))


def form_classifier(
    fold: int, step: Step, counted: Counted, booleans: Booleanization, spec: LearnSpec
) -> Classifier:
    """Form the classifier of a step of a fold's sweep, given the counts over the step's
    attributes.
    """
    threshold = objective_of(spec).threshold_of(counted.whole)
    return Classifier(
        tau=booleans.vocabulary(fold, step.attributes),
        counted=counted,
        threshold=threshold,
        shrink=step.shrink,
        columns=row_states(booleans.edges(fold, step.attributes)),
    )


Key = TypeVar("Key")


def write_formulas(
    classifiers: Mapping[Key, Classifier], spec: LearnSpec, engine: Engine, effort: Effort = EFFORT
) -> dict[Key, Minimized]:
    """Write each classifier as a short formula; those with the same truth are written once."""
    # With "negative", SymPy writes the formula as the paper does.
    impossible = spec.minimize != "sympy" or spec.unseen != "negative"
    freedom = Freedom(spec.unseen, spec.freedom, spec.unit, impossible)
    truths = {key: classifier.truth(freedom) for key, classifier in classifiers.items()}
    distinct = list(dict.fromkeys(truths.values()))
    if spec.minimize == "sympy":
        # SymPy takes half a second to import, and only this choice needs it.
        from dnfscale.method.minimize.simplify import simplify

        written = engine.map(SIMPLIFY.name, distinct, simplify)
    else:
        shortest = partial(minimize, effort=effort)
        written = engine.map(
            MINIMIZE.name, distinct, shortest if spec.minimize == "exact" else as_types
        )
    by_truth = dict(zip(distinct, written, strict=True))
    return {key: by_truth[truth] for key, truth in truths.items()}


def _silent_columns(kept: KeptRows, used: Vocabulary) -> tuple[str, ...]:
    """Return the columns of which no attribute tells rows apart: of one value, or whose cuts
    nothing exceeds.

    The latter is known of the rows that rank attributes in any fold; an attribute that is used all
    the same is none.
    """
    tables = kept.associations[0]
    varies = ((tables.holds > 0) & (tables.holds < tables.n[:, None])).any(axis=0)
    telling = {
        str(kept.booleans.attributes[place].column) for place in np.flatnonzero(varies).tolist()
    }
    telling |= {str(attribute.column) for attribute in used.attributes}
    return tuple(
        str(column.name)
        for column, found in zip(kept.table.columns, kept.table.summary.columns, strict=True)
        if str(column.name) not in telling
        and not (isinstance(found, CategorySummary) and len(found.counts) > 1)
    )


def _best_singles(kept: KeptRows) -> dict[Place, Chosen]:
    """Return the best single attribute of every place, by its W_train."""
    by_part = [
        dict(zip(kept.parts, best_single(tables).tolist(), strict=True))
        for tables in kept.associations
    ]
    return {
        place: Chosen(place, (by_part[place.target][first_part(place.fold)],))
        for place in kept.places
    }


def _single_rule(single: Chosen, counted: Counted, booleans: Booleanization) -> SingleRule:
    [attribute] = single.attributes
    return SingleRule(booleans.attributes[attribute].name, counted.whole, counted.test)


def _learned_fold(
    fold: int,
    swept: Sweep,
    classifier: Classifier,
    minimized: Minimized,
    single: SingleRule,
    splits: Splits,
) -> LearnedFold:
    return LearnedFold(
        fold=fold,
        train_rows=splits.rows_of(fold, [TRAIN]),
        validation_rows=splits.rows_of(fold, [VALIDATION]),
        test_rows=splits.rows_of(fold, [TEST]),
        rank=swept.chosen.rank,
        sweep=swept,
        tau=classifier.tau,
        threshold=classifier.threshold,
        whole=classifier.counted.whole,
        test=classifier.counted.test,
        others=classifier.counted.others,
        minimized=minimized,
        single=single,
    )


def _learned(
    target: int, folds: Mapping[Place, LearnedFold], kept: KeptRows, rankings: Rankings
) -> Learned:
    """Return what was learned about a target from its folds, the last of which is the fold of all
    rows.
    """
    table = kept.table
    positive = table.positives[target]
    *tested, model = (folds[place] for place in kept.places if place.target == target)
    return Learned(
        rows=table.summary.n_rows,
        rows_dropped=table.summary.rows_read - table.summary.n_rows,
        columns=table.columns,
        n_attributes=len(kept.booleans.attributes),
        attribute_names=tuple(attribute.name for attribute in rankings.booleans.attributes),
        positive=positive,
        positive_rows=sum(table.summary.target.counts.get(label, 0) for label in positive),
        silent_columns=_silent_columns(kept, model.tau),
        folds=tuple(tested),
        model=model,
        table=table,
    )
