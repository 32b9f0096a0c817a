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

import numpy as np

from dnfscale.core.arrays import Bools, Scalar
from dnfscale.core.columns import CategorySummary, Column
from dnfscale.core.counts import TypeCounts
from dnfscale.core.formula import Dnf
from dnfscale.core.lookalikes import lookalikes
from dnfscale.core.model import Model, formula_over
from dnfscale.core.parts import ColumnName
from dnfscale.core.splits import TEST, TRAIN, VALIDATION
from dnfscale.core.vocabulary import Above, Vocabulary, cuts_of
from dnfscale.data.source import Source
from dnfscale.engine.api import Engine
from dnfscale.learn import terms
from dnfscale.learn.choose import choose_ells, objective_of, plan_choosing
from dnfscale.learn.count import COUNT_CHOSEN, Chosen, Counted, count_chosen
from dnfscale.learn.dropped import Warn, silent
from dnfscale.learn.keeping import KeptRows, keep_rows, plan_keeping
from dnfscale.learn.lengths import Decision, decide, plan_lengths, writes_steps
from dnfscale.learn.phases import Layout, PlannedPhase
from dnfscale.learn.places import Place, first_part
from dnfscale.learn.rank import Rankings, draw_rows, plan_ranking, rank_attributes
from dnfscale.learn.seen import seen_columns
from dnfscale.learn.table import Table
from dnfscale.learn.terms import Lines
from dnfscale.learn.write import Classifier, form_classifier, plan_writing, write_formulas
from dnfscale.method.booleanize import Booleanization
from dnfscale.method.intervals import term_supports
from dnfscale.method.literals import CutValue, Line, ends_of, lines_of, terms_as_lines
from dnfscale.method.minimize.minimal import Minimized, Status
from dnfscale.method.one_rule import best_single
from dnfscale.method.stability import Conditions
from dnfscale.method.sweep import Sweep
from dnfscale.spec.learn import LearnSpec


@dataclass(frozen=True, slots=True, eq=False)
class SingleRule:
    """The best single attribute of a fold, with which its formula is compared."""

    attribute: str
    whole: TypeCounts
    test: TypeCounts


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """A formula, and what its types are."""

    tau: Vocabulary
    minimized: Minimized
    threshold: Fraction
    """The share of positives from which a type is accepted."""
    types: str
    """What tells types apart, as in a model: attributes, which lines hold, or how many signs."""

    @property
    def over_types(self) -> Dnf:
        """The formula over the types."""
        return formula_over(self.types, self.minimized.dnf)


@dataclass(frozen=True, slots=True, eq=False)
class LearnedFold:
    """What was learned from one fold."""

    fold: int
    train_rows: int
    validation_rows: int
    test_rows: int
    sweep: Sweep
    decision: Decision | None
    """What was chosen by its length; None if the sweep alone decided."""
    written: Written
    whole: TypeCounts
    """Counts of the types on W_0."""
    test: TypeCounts
    """Counts of the types on the test part."""
    others: tuple[TypeCounts, ...]
    """Counts of the types on the test part for the other readings of the target, if there are any.
    """
    single: SingleRule
    above: Mapping[tuple[ColumnName, CutValue], Fraction]
    """The share of the fold's rows, learned from and tested, above each cut that may occur."""

    @property
    def tau(self) -> Vocabulary:
        return self.written.tau

    @property
    def threshold(self) -> Fraction:
        """The share of positives from which a type is accepted."""
        return self.written.threshold

    @property
    def minimized(self) -> Minimized:
        return self.written.minimized

    @property
    def dnf(self) -> Dnf:
        return self.minimized.dnf

    @property
    def lines(self) -> tuple[Line, ...]:
        """The formula as people read it."""
        read = lines_of if self.written.types == "attributes" else terms_as_lines
        return read(self.tau, self.dnf)

    @property
    def conditions(self) -> Conditions:
        """What the formula says, to be compared with what others say."""
        return Conditions(tuple(said for line in self.lines for said in line.literals), self.above)

    @property
    def search(self) -> str:
        """What was searched: "attributes" or "terms"."""
        return "attributes" if self.decision is None else self.decision.chosen.point.search

    @property
    def rank(self) -> str | None:
        """The ranking of the attributes; None if terms were searched."""
        return self.sweep.chosen.rank if self.search == "attributes" else None

    def accepts(self, counts: TypeCounts) -> Bools:
        """Return the formula's answer for each of the types counted."""
        return self.written.over_types.accepts(counts.codes)

    def supports(self) -> list[tuple[int, int]]:
        """Return for each line how many rows of W_0 satisfy it, and how many of these are
        positive.
        """
        return term_supports(self.written.over_types, self.whole)


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
    chosen: Mapping[Place, Chosen]
    """The attributes or lines chosen in each place."""


def learn(source: Source, spec: LearnSpec, engine: Engine) -> Learned:
    """Learn the formula of every fold, and that of all rows."""
    [learned] = learn_targets(source, spec, engine).targets
    return learned


def learn_targets(
    source: Source, spec: LearnSpec, engine: Engine, warn: Warn = silent
) -> LearnedTargets:
    """Learn the formulas of every target of a table, one or as many as it has classes, in the same
    scans.
    """
    kept = keep_rows(source, spec, engine, warn)
    drawn = draw_rows(kept, spec, engine)
    rankings = rank_attributes(kept, drawn, spec, engine)
    swept = choose_ells(kept, rankings, spec, engine)
    sweeps = {place: own.sweep for place, own in swept.items()}
    decisions: Mapping[Place, Decision] = {}
    if drawn is not None and spec.by_length:
        decisions = decide(kept, rankings, drawn, swept, spec, engine)
        sweeps = {place: _decided(swept, decisions[place]) for place, swept in sweeps.items()}
    chosen = {place: _chosen(place, swept, decisions.get(place)) for place, swept in sweeps.items()}
    singles = _best_singles(kept)
    cuts = {place: _cuts_asked(own, rankings) for place, own in chosen.items()}
    wanted = [*chosen.values(), *singles.values(), *(cut for own in cuts.values() for cut in own)]
    counted = count_chosen(wanted, kept, rankings.booleans, engine)
    # No rows below this line.
    classifiers = {
        place: form_classifier(
            place.fold, sweeps[place].chosen, counted[own], rankings.booleans, spec
        )
        for place, own in chosen.items()
        if place not in decisions or decisions[place].chosen.lines is None
    }
    written = write_formulas(classifiers, spec, engine)
    formulas = {
        place: _of_classifier(classifiers[place], written[place])
        if place in classifiers
        else of_lines(
            decisions[place].chosen.lines, place.fold, counted[own], rankings.booleans, spec
        )
        for place, own in chosen.items()
    }
    folds = {
        place: LearnedFold(
            fold=place.fold,
            train_rows=kept.table.splits.rows_of(place.fold, [TRAIN]),
            validation_rows=kept.table.splits.rows_of(place.fold, [VALIDATION]),
            test_rows=kept.table.splits.rows_of(place.fold, [TEST]),
            sweep=sweeps[place],
            decision=decisions.get(place),
            written=formulas[place],
            whole=counted[own].whole,
            test=counted[own].test,
            others=counted[own].others,
            single=_single_rule(singles[place], counted[singles[place]], rankings.booleans),
            above=_shares_above(
                {cut: counted[cut] for cut in cuts[place]}, place.fold, rankings.booleans
            ),
        )
        for place, own in chosen.items()
    }
    return LearnedTargets(
        targets=tuple(
            _learned(target, folds, kept, rankings) for target in range(len(kept.table.targets))
        ),
        kept=kept,
        booleans=rankings.booleans,
        chosen=chosen,
    )


def _decided(swept: Sweep, decision: Decision) -> Sweep:
    """Return a sweep with the step that was chosen by its length, if one was."""
    step = decision.chosen.step
    return swept if step is None else replace(swept, chosen=step)


def _chosen(place: Place, swept: Sweep, decision: Decision | None) -> Chosen:
    """Return what a place has chosen: the attributes of a step, or lines; none of either if it is a
    constant answer.
    """
    lines = None if decision is None else decision.chosen.lines
    if lines is None:
        return Chosen(place, swept.chosen.attributes)
    return Chosen(place, (), lines if lines.n_literals else None)


def _of_classifier(classifier: Classifier, minimized: Minimized) -> Written:
    return Written(classifier.tau, minimized, classifier.threshold, types="attributes")


def of_lines(
    lines: Lines | None, fold: int, counted: Counted, booleans: Booleanization, spec: LearnSpec
) -> Written:
    """Return lines as a formula over the attributes that they ask."""
    assert lines is not None
    tau, dnf = terms.written(lines, fold, booleans)
    return Written(
        tau,
        Minimized(dnf, Status.HEURISTIC, None),
        objective_of(spec).threshold_of(counted.whole),
        types=lines.types,
    )


def plan_line(layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the phases of learn_targets."""
    yield from plan_keeping(layout)
    yield from plan_ranking(layout)
    yield from plan_choosing(layout)
    if layout.spec.by_length:
        yield from plan_lengths(layout)
    yield layout.scan(COUNT_CHOSEN)
    if not layout.spec.by_length or writes_steps(layout.spec):
        yield plan_writing(layout, layout.folds)


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
        types=fold.written.types,
        lookalikes=lookalikes(fold.tau, learned.table.alike),
        seen=seen_columns(fold.tau, learned.table, spec),
        about=spec.about([spec.target, *fold.tau.stored]),
    )


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


def _cuts_asked(chosen: Chosen, rankings: Rankings) -> list[Chosen]:
    """Return each cut that the formula of a place may name, to be counted by itself."""
    lines = () if chosen.lines is None else chosen.lines.lines
    asked = [*chosen.attributes, *(a for line in lines for one in line for a in one.attributes)]
    cuts = dict.fromkeys(cut for own in asked for cut in rankings.ends.get(own, (own,)))
    kinds = rankings.booleans.attributes
    return [Chosen(chosen.place, (cut,)) for cut in cuts if isinstance(kinds[cut], Above)]


def _shares_above(
    counted: Mapping[Chosen, Counted], fold: int, booleans: Booleanization
) -> dict[tuple[ColumnName, CutValue], Fraction]:
    """Return the share of a fold's rows above each of some cuts, as conditions name them."""
    found: dict[tuple[ColumnName, CutValue], Fraction] = {}
    for cut, own in counted.items():
        [attribute] = booleans.vocabulary(fold, cut.attributes).attributes
        assert isinstance(attribute, Above)
        parts = (own.whole, own.test)
        rows = sum(part.n_rows for part in parts)
        over = sum(int(part.n[part.codes == 1].sum()) for part in parts)
        for end in {*cuts_of(attribute), *ends_of(attribute)}:
            found[attribute.column, end] = Fraction(over, max(1, rows))
    return found


def _single_rule(single: Chosen, counted: Counted, booleans: Booleanization) -> SingleRule:
    [attribute] = single.attributes
    return SingleRule(booleans.attributes[attribute].name, counted.whole, counted.test)


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
