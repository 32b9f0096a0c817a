"""Searches terms in every learning part: the most accurate formula of every length, on drawn rows.

Each search sees the drawn rows of its part as codes of the fold's own cuts and values
(`coded_columns`), and its formulas come back as questions about attributes (`Asked`), which mean
the same wherever the fold's rows are. One scan of all rows then counts what every formula found
answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dnfscale.core.arrays import Bools, Codes, Ints, Scalar
from dnfscale.core.bins import Bins, CategoryBins, Spans
from dnfscale.core.counts import TypeCounts
from dnfscale.core.formula import Dnf
from dnfscale.core.model import formula_of
from dnfscale.core.parts import label_of
from dnfscale.core.sample import SampledRows
from dnfscale.core.vocabulary import (
    Above,
    Attribute,
    Between,
    Equals,
    IsIn,
    IsMissing,
    IsTrue,
    Vocabulary,
)
from dnfscale.engine.api import Engine
from dnfscale.learn.keeping import KeptRows
from dnfscale.learn.phases import Layout, Phase, PlannedPhase, Reads
from dnfscale.learn.places import (
    LEARNED,
    Groups,
    LearningPart,
    Place,
    has_many_rows,
    whole_parts,
)
from dnfscale.learn.rank import allowed_attributes
from dnfscale.learn.scans import Read
from dnfscale.method.booleanize import Booleanization
from dnfscale.method.checklists.search import checklists
from dnfscale.method.terms.answers import AnswerCounts, count_answers
from dnfscale.method.terms.codes import CodeColumn, CodeFormula, Condition, Sample, one_of
from dnfscale.method.terms.search import FEW_ROWS, effort_for, frontiers
from dnfscale.method.terms.soften import softened
from dnfscale.spec.learn import LearnSpec

SEARCH_TERMS = Phase("search terms", Reads.DRAWN_ROWS, "search formulas")
COUNT_FORMULAS = Phase("count formulas", Reads.KEPT_ROWS, "test formulas on all rows")
_MOST_VALUES = 200
"""The most values of a column that a term may name, the most frequent; a code has one byte."""
_LARGEST_COST = 1_000
"""Costs of errors are whole numbers up to this."""
_LONGEST = 64
"""The most literals of a formula where there is no budget."""
_MOST_LINES = 16
"""The most lines of a formula: all patterns of them are counted in one table, and nobody reads
more.
"""
_BLOCK = 1 << 17
"""Rows whose answers are counted at a time: the bits of all conditions stay in the cache."""


class Asked(NamedTuple):
    """A literal: an attribute, the interval between two cuts, or a set of values; or a negation."""

    attributes: tuple[int, ...]
    holds: bool


_WEIGHT_BITS = 31
"""Of the sum of the weights that a search sees."""

Line = tuple[Asked, ...]
"""Literals that must all be true."""


class Lines(NamedTuple):
    """A formula: one of its lines must be true; or a checklist, lines of one literal of which
    several must be.
    """

    lines: tuple[Line, ...]
    at_least: int | None = None
    """How many literals of a checklist must hold: more than one, and not all."""

    @property
    def n_literals(self) -> int:
        return sum(len(line) for line in self.lines)

    @property
    def n_terms(self) -> int:
        """How many lines there are; a checklist is one."""
        return len(self.lines) if self.at_least is None else 1

    @property
    def types(self) -> str:
        """What tells types apart, as models name it."""
        if self.at_least is not None:
            return "signs"
        return "lines" if self.n_literals else "attributes"


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumn:
    """A column as a search sees it in a fold."""

    number: int
    """Its number among the columns of the table."""
    codes: CodeColumn
    attributes: tuple[int, ...]
    """Of numbers the cuts, increasing; of categories the values that can be named; of a two-valued
    column the one attribute.
    """
    missing: int | None
    """The attribute that says that the value is missing."""
    recoded: Codes
    """The code in the search for each code of the table."""

    def asked(self, condition: Condition) -> Asked:
        """Return a condition on the column as a question about attributes."""
        match condition.test(self.codes):
            case "missing":
                assert self.missing is not None
                return Asked((self.missing,), condition.holds)
            case "above":
                return Asked((self.attributes[condition.runs[0][0] - 1],), condition.holds)
            case "between":
                first, last = condition.runs[0]
                return Asked((self.attributes[first - 1], self.attributes[last]), condition.holds)
        values = condition.values()
        return Asked(tuple(self.attributes[value] for value in values), condition.holds)


def coded_columns(
    booleans: Booleanization, spans: Spans, fold: int, allowed: Bools, holds: Ints
) -> tuple[CodedColumn, ...]:
    """Return the columns that terms may ask in a fold, given its spans.

    allowed[attribute] says which attributes may occur, and holds[attribute] in how many rows each
    is true.
    """
    fits = allowed & (spans.first[fold] <= spans.last[fold])
    asked = _Asking(allowed.tolist(), fits.tolist(), spans.first[fold].tolist(), holds)
    telling = set(spans.column[allowed].tolist())
    ladders: dict[tuple[int, ...], Codes] = {}
    found = (
        _coded(kinds, booleans.bins[kinds.number], asked, ladders)
        for kinds in _kinds_of(booleans)
        if kinds.number in telling
    )
    return tuple(column for column in found if column is not None)


class _Kinds(NamedTuple):
    """The attributes of a column, by their kind."""

    number: int
    missing: tuple[int, ...]
    cuts: tuple[int, ...]
    values: tuple[int, ...]
    flags: tuple[int, ...]


class _Asking(NamedTuple):
    """What is known of every attribute in a fold."""

    allowed: list[bool]
    fits: list[bool]
    """Whether it is allowed, and some code is in its span."""
    first: list[int]
    """The first code of its span."""
    holds: Ints


@lru_cache(maxsize=2)
def _kinds_of(booleans: Booleanization) -> tuple[_Kinds, ...]:
    """Return the columns with their attributes: the same for every fold and part."""
    by_column: dict[int, list[int]] = {}
    for attribute, column in enumerate(booleans.whole.column.tolist()):
        by_column.setdefault(column, []).append(attribute)

    def those(own: Sequence[int], kind: type[Attribute]) -> tuple[int, ...]:
        return tuple(a for a in own if isinstance(booleans.attributes[a], kind))

    return tuple(
        _Kinds(number, *(those(own, kind) for kind in (IsMissing, Above, Equals, IsTrue)))
        for number, own in by_column.items()
    )


def _coded(
    kinds: _Kinds, bins: Bins, asking: _Asking, ladders: dict[tuple[int, ...], Codes]
) -> CodedColumn | None:
    """Return a column as it is asked; `ladders` keeps what columns with the same cuts share."""
    allowed, first = asking.allowed, asking.first
    missing = next((a for a in kinds.missing if allowed[a]), None)
    # Of cuts with the same first code, the first attribute stands for all.
    cuts = {first[a]: a for a in reversed(kinds.cuts) if asking.fits[a]}
    values = [a for a in kinds.values if allowed[a]]
    flags = [a for a in kinds.flags if allowed[a]]
    if isinstance(bins, CategoryBins) and flags:
        attributes, size = tuple(flags), 2
        recoded = (np.arange(bins.n_codes) == first[flags[0]]).astype(np.uint8)
    elif isinstance(bins, CategoryBins):
        if len(values) > _MOST_VALUES:
            values = sorted(sorted(values, key=lambda a: -int(asking.holds[a]))[:_MOST_VALUES])
        attributes, size = tuple(values), len(values)
        recoded = np.full(bins.n_codes, size + 1, dtype=np.uint8)
        recoded[[first[a] for a in values]] = np.arange(size)
    else:
        ladder = sorted(cuts)
        attributes, size = tuple(cuts[code] for code in ladder), len(ladder) + 1
        key = (bins.n_codes, *ladder)
        if key not in ladders:
            every = np.arange(bins.n_codes)
            ladders[key] = np.searchsorted(ladder, every, side="right").astype(np.uint8)
        recoded = ladders[key]
    if not attributes and missing is None:
        return None
    if bins.missing_code < bins.n_codes:
        recoded = recoded.copy()
        recoded[bins.missing_code] = size
    # Missing values of a part of a date, and values that cannot be named, have codes that no
    # condition asks for.
    named = isinstance(bins, CategoryBins) and not flags
    codes = CodeColumn(
        size, ordered=not named, missing=missing is not None, other=missing is None or named
    )
    return CodedColumn(kinds.number, codes, attributes, missing, recoded)


class TermJob(NamedTuple):
    """A target and a learning part to search terms in."""

    target: int
    part: LearningPart
    threshold: Fraction
    """The share of positives from which on a «yes» costs less than a «no»."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SearchTerms:
    """Searches terms in a learning part, on its drawn rows."""

    rows: SampledRows
    booleans: Booleanization
    parts: Groups
    targets: Bools
    allowed: tuple[Mapping[LearningPart, Bools], ...]
    """allowed[target][part][attribute]."""
    holds: tuple[Mapping[LearningPart, Ints], ...]
    """holds[target][part][attribute]: how many rows of the part have the attribute."""
    forms: tuple[str, ...]
    max_literals: int
    max_terms: int
    seed: int
    again: bool
    """Whether all of W_0 is searched too, from what is found in W_train."""

    def __call__(self, job: TermJob) -> tuple[ByForm, ...]:
        """Return what is found in the part, and what in all of W_0 if that is searched too."""
        spans = self.booleans.whole if job.part.split is None else self.booleans.train
        columns = coded_columns(
            self.booleans,
            spans,
            job.part.fold,
            self.allowed[job.target][job.part],
            self.holds[job.target][job.part],
        )
        samples = [
            self._sample(job, part, columns) for part in searched_parts(job.part, self.again)
        ]
        effort = effort_for(
            samples[0].n_rows, max_literals=self.max_literals, max_terms=self.max_terms
        )
        found: list[dict[str, tuple[Lines, ...]]] = [{} for _ in samples]
        if "lines" in self.forms:
            for own, by_length in zip(found, frontiers(samples, effort), strict=True):
                own["lines"] = tuple(lines_of_codes(one.formula, columns) for one in by_length)
        if "checklist" in self.forms:
            lists = checklists(samples[0], longest=self.max_literals)
            for own in found:
                own["checklist"] = tuple(lines_of_codes(one.formula, columns) for one in lists)
        return tuple(found)

    def _sample(self, job: TermJob, part: LearningPart, columns: Sequence[CodedColumn]) -> Sample:
        """Return the drawn rows of a part as codes, with what each error costs."""
        drawn = learned_rows(self.rows, self.parts[part], self.targets[job.target])
        sample = Sample(
            columns=tuple(column.codes for column in columns),
            codes=codes_of(self.rows, drawn, columns),
            positive=np.where(drawn.is_true, drawn.weights, 0),
            negative=np.where(drawn.is_true, 0, drawn.weights),
        )
        if sample.n_rows < FEW_ROWS:
            sample = softened(sample, self.seed)
        # Labels are softened as they are, and then weighed by what an error costs.
        wrong_yes, wrong_no = costs_of(job.threshold)
        return replace(
            sample, positive=wrong_no * sample.positive, negative=wrong_yes * sample.negative
        )


@dataclass(frozen=True, slots=True, eq=False)
class LearnedRows:
    """The drawn rows that a part learns from."""

    own: Ints
    """Their places among all drawn rows."""
    is_true: Bools
    weights: Ints


def learned_rows(rows: SampledRows, groups: Codes, positive: Bools) -> LearnedRows:
    """Return the drawn rows of a part, given the groups of its arcs and which classes are
    positive.
    """
    arcs, classes = np.divmod(rows.labels.astype(np.int64), len(positive))
    own = np.flatnonzero(groups[arcs] == LEARNED)
    weights = np.ones(len(own), dtype=np.int64) if rows.weights is None else rows.weights[own]
    return LearnedRows(own, positive[classes[own]], _searched_weights(weights))


def _searched_weights(weights: Ints) -> Ints:
    """Return weights in their greatest common unit, so that what a row of weight one counts does
    not matter, and rounded down where their sum would not leave room for shares of rows.
    """
    if not len(weights):
        return weights
    weights = weights // max(1, int(np.gcd.reduce(weights)))
    return weights >> max(0, int(weights.sum()).bit_length() - _WEIGHT_BITS)


def codes_of(rows: SampledRows, learned: LearnedRows, columns: Sequence[CodedColumn]) -> Codes:
    """Return codes[column, row] of some drawn rows, as a search sees them."""
    return np.array(
        [column.recoded.take(rows.columns[column.number][learned.own]) for column in columns],
        dtype=np.uint8,
    ).reshape(len(columns), len(learned.own))


def lines_of_codes(formula: CodeFormula, columns: Sequence[CodedColumn]) -> Lines:
    """Return a formula over codes as questions about attributes."""
    return Lines(
        tuple(
            tuple(columns[condition.column].asked(condition) for condition in term)
            for term in formula.terms
        ),
        formula.at_least if formula.at_least > 1 else None,
    )


def costs_of(threshold: Fraction) -> tuple[int, int]:
    """Return what a wrong «yes» and a wrong «no» cost: with the threshold a / b, a and b - a."""
    near = threshold.limit_denominator(_LARGEST_COST)
    return max(1, near.numerator), max(1, near.denominator - near.numerator)


ByForm = Mapping[str, tuple[Lines, ...]]
"""The formulas found of each form, by increasing length."""
Found = Mapping[tuple[int, LearningPart], ByForm]
"""For each target and learning part the formulas found."""


def searched_parts(part: LearningPart, again: bool) -> tuple[LearningPart, ...]:
    """Return the parts that are searched one after the other."""
    return (part, LearningPart(part.fold, None)) if again else (part,)


def search_terms(
    kept: KeptRows,
    drawn: SampledRows,
    thresholds: Mapping[Place, Fraction],
    spec: LearnSpec,
    engine: Engine,
) -> Found:
    """Search terms for every target in every part that ranks attributes."""
    allowed = [allowed_attributes(tables, kept, spec) for tables in kept.associations]
    splits = kept.table.splits
    # Where the sample leaves rows out, W_val validates without a cost: more rows could be drawn.
    again = has_many_rows(splits) and len(drawn.numbers) == splits.n_rows
    scan = SearchTerms(
        rows=drawn,
        booleans=kept.booleans,
        parts={**kept.parts, **whole_parts(splits)} if again else kept.parts,
        targets=kept.table.targets,
        allowed=tuple(dict(zip(kept.parts, own, strict=True)) for own in allowed),
        holds=tuple(
            dict(zip(kept.parts, tables.holds, strict=True)) for tables in kept.associations
        ),
        forms=spec.forms,
        max_literals=_LONGEST if spec.most_literals is None else spec.most_literals,
        max_terms=min(_MOST_LINES, spec.max_terms or _MOST_LINES),
        seed=spec.seed,
        again=again,
    )
    jobs = [
        TermJob(target, part, thresholds[Place(target, part.fold)])
        for target in range(len(kept.table.targets))
        for part in kept.parts
    ]
    found = engine.map(SEARCH_TERMS.name, jobs, scan)
    return {
        (job.target, part): own
        for job, by_part in zip(jobs, found, strict=True)
        for part, own in zip(searched_parts(job.part, again), by_part, strict=True)
    }


def plan_terms(layout: Layout) -> PlannedPhase:
    """Return the phase of searching terms."""
    return SEARCH_TERMS.planned(layout.ranking_parts)


@dataclass(frozen=True, slots=True)
class BinnedLine:
    """A line of a formula as a question about binned rows."""

    conditions: tuple[Condition, ...]

    @property
    def columns(self) -> tuple[int, ...]:
        return tuple(condition.column for condition in self.conditions)

    def true_in(self, codes: Mapping[int, Codes], bins: Sequence[Bins]) -> Bools:
        del bins
        # A line has a condition: an empty one would be the constant answer, which has no lines.
        first, *others = (
            condition.accepts(codes[condition.column]) for condition in self.conditions
        )
        for other in others:
            np.logical_and(first, other, out=first)
        return first


def binned_lines(formula: Lines, fold: int, spans: Spans) -> tuple[BinnedLine, ...]:
    """Return the lines of a formula as questions about binned rows, with the fold's spans."""
    return tuple(
        BinnedLine(tuple(_binned(asked, fold, spans) for asked in line)) for line in formula.lines
    )


def _binned(asked: Asked, fold: int, spans: Spans) -> Condition:
    """Return a question about attributes as a condition on the codes of the table."""
    column = int(spans.column[asked.attributes[0]])
    own = [(int(spans.first[fold, a]), int(spans.last[fold, a])) for a in asked.attributes]
    (first, last), *others = own
    if not others:
        return Condition(column, ((first, last),), asked.holds)
    if first != last:
        # Two cuts of numbers: what lies between them.
        [(above, _)] = others
        return Condition(column, ((first, above - 1),), asked.holds)
    return one_of(column, [code for code, _ in own], holds=asked.holds)


@dataclass(frozen=True, slots=True, eq=False)
class CountFormulas:
    """A scan that counts the answers of formulas by the arc and the class of a row."""

    bins: tuple[Bins, ...]
    classes: tuple[tuple[Scalar, ...], ...]
    formulas: tuple[CodeFormula, ...]
    n_arcs: int

    def __call__(self, read: Read) -> AnswerCounts:
        needed = {
            condition.column
            for formula in self.formulas
            for term in formula.terms
            for condition in term
        }
        table = read.rough.binned(self.bins, self.classes, n_arcs=self.n_arcs, only=needed)
        n_cells = self.n_arcs * len(self.classes)
        total = AnswerCounts(
            np.zeros((len(self.formulas), n_cells), dtype=np.int64),
            np.zeros(n_cells, dtype=np.int64),
        )
        for start in range(0, table.n_rows, _BLOCK):
            rows = slice(start, start + _BLOCK)
            total += count_answers(
                {column: codes[rows] for column, codes in table.columns.items()},
                self.formulas,
                table.labels[rows],
                n_cells,
                weights=None if table.weights is None else table.weights[rows],
            )
        return total


def _merge(parts: Sequence[AnswerCounts]) -> AnswerCounts:
    return AnswerCounts(
        np.sum([part.accepted for part in parts], axis=0),
        np.sum([part.rows for part in parts], axis=0),
    )


class Placed(NamedTuple):
    """A formula of a fold that is to be counted, with the cuts of a learning part."""

    fold: int
    whole: bool
    """Whether it has the cuts of W_0, not those of W_train."""
    lines: Lines


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """What formulas answer to all rows."""

    counts: AnswerCounts
    numbers: Mapping[Placed, int]
    targets: Bools

    def of(self, formula: Placed, place: Place, arcs: Bools) -> TypeCounts:
        """Return the answers of a formula to the rows of some arcs: type 1 is yes, type 0 no."""
        counted = np.repeat(arcs, self.targets.shape[1])
        is_true = np.tile(self.targets[place.target], len(arcs))
        accepted, rows = self.counts.accepted[self.numbers[formula]], self.counts.rows
        yes, yes_true = accepted[counted].sum(), accepted[counted & is_true].sum()
        every, every_true = rows[counted].sum(), rows[counted & is_true].sum()
        n, c = np.array([every - yes, yes]), np.array([every_true - yes_true, yes_true])
        codes = np.flatnonzero(n)
        return TypeCounts(1, codes, n[codes], c[codes])


def count_formulas(formulas: Iterable[Placed], kept: KeptRows, engine: Engine) -> Answered:
    """Count what formulas answer to all rows, each once, in one scan."""
    booleans, table = kept.booleans, kept.table
    numbers = {formula: number for number, formula in enumerate(dict.fromkeys(formulas))}
    scan = CountFormulas(
        booleans.bins,
        table.classes,
        tuple(
            CodeFormula(
                tuple(
                    line.conditions
                    for line in binned_lines(
                        own.lines, own.fold, booleans.whole if own.whole else booleans.train
                    )
                ),
                at_least=own.lines.at_least or 1,
            )
            for own in numbers
        ),
        table.splits.n_arcs,
    )
    counts = engine.reduce(COUNT_FORMULAS.name, kept.rows, scan, _merge)
    return Answered(counts, numbers, table.targets)


def written(formula: Lines, fold: int, booleans: Booleanization) -> tuple[Vocabulary, Dnf]:
    """Return lines as a formula over the attributes that they ask, with the cuts of W_0."""
    lines = [
        [(_attribute(asked.attributes, fold, booleans), asked.holds) for asked in line]
        for line in formula.lines
    ]
    if formula.at_least is None:
        return formula_of(lines)
    return formula_of([[literal for line in lines for literal in line]], [formula.at_least])


def _attribute(attributes: tuple[int, ...], fold: int, booleans: Booleanization) -> Attribute:
    """Return what a literal asks as an attribute of a model."""
    first, *others = booleans.vocabulary(fold, attributes).attributes
    if not others:
        return first
    label = label_of(first.column)
    if isinstance(first, Above):
        [high] = others
        assert isinstance(high, Above)
        [lower], [higher] = (booleans.cuts[a] for a in attributes)
        name = f"{label}_{lower.place}_to_{higher.place}"
        return Between(name, first.column, first.value, high.value)
    values = tuple(own.value for own in (first, *others) if isinstance(own, Equals))
    return IsIn(f"{label}_{'_or_'.join(map(str, values))}", first.column, values)
