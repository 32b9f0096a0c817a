"""Chooses by length: the formulas of all searches on one curve, judged on the same rows.

In every place each search has found a formula of every length. A point of the curve is how good
the formulas of a length are on W_val, each found anew in each inner split; the shortest point that
is close enough to the best is chosen, and of the formulas for it that W_0 cannot tell apart the one
whose conditions recur in the inner splits (`method/terms/recurring.py`). Without a budget, the best
step of each ell is written as a formula too. The test rows choose nothing: they show what every
point would have come to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dnfscale.core.arrays import Bools, Ints
from dnfscale.core.splits import TEST, Splits
from dnfscale.engine.api import Engine
from dnfscale.learn.choose import Swept, judging_of, objective_of, validated_rows
from dnfscale.learn.count import COUNT_CHOSEN, Chosen, Counted, count_chosen, prefix_counts
from dnfscale.learn.keeping import KeptRows
from dnfscale.learn.phases import Layout, PlannedPhase
from dnfscale.learn.places import JUDGED, LEARNED, LearningPart, Place, final_part, inner_parts
from dnfscale.learn.rank import Drawn, Rankings
from dnfscale.learn.shorten import best_step, plan_shortening, shorten_types
from dnfscale.learn.terms import (
    COUNT_FORMULAS,
    Answered,
    ByForm,
    Found,
    Lines,
    Placed,
    count_formulas,
    plan_terms,
    search_terms,
)
from dnfscale.learn.write import Classifier, form_classifier, plan_writing, write_formulas
from dnfscale.method.ideal import confusion_of
from dnfscale.method.literals import lines_of, n_literals
from dnfscale.method.minimize.minimal import Effort
from dnfscale.method.sweep import Step
from dnfscale.method.terms.choice import CurvePoint, choose_length, curve
from dnfscale.method.terms.recurring import agreement, is_as_good
from dnfscale.results.confusion import Confusion
from dnfscale.spec.learn import LearnSpec

_EFFORT = Effort(nodes=1)
"""Formulas that are not chosen need not be proven shortest: without a search, those of nine and ten
attributes on Colon are longer by a thousandth and take half the time."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A formula that a place may choose: what it is judged by, and what it is."""

    point: CurvePoint
    literals: int
    """Of the formula itself, which may be shorter than the point."""
    terms: int
    answers: Confusion
    """How it answers the test rows."""
    step: Step | None = None
    """The step of the sweep whose attributes it uses, if attributes were searched."""
    classifier: Classifier | None = None
    lines: Lines | None = None
    """The formula itself, unless it writes the types of a step."""


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What a place has chosen, and from what."""

    chosen: Candidate
    candidates: tuple[Candidate, ...]
    """By length."""


def decide(
    kept: KeptRows,
    rankings: Rankings,
    drawn: Drawn,
    swept: Mapping[Place, Swept],
    spec: LearnSpec,
    engine: Engine,
) -> dict[Place, Decision]:
    """Choose a formula by its length in every place."""
    candidates: dict[Place, list[Candidate]] = {place: [] for place in kept.places}
    found: dict[str, Found] = {}
    steps: dict[Place, Step] = {}
    if "attributes" in spec.search:
        steps = {place: best_step(own) for place, own in swept.items()}
        counted = _count_steps(kept, rankings, _shortened_or_all(swept, spec), engine)
        if writes_steps(spec):
            for place, written in _write_steps(counted, rankings, swept, spec, engine).items():
                candidates[place] += written
        best = {place: counted[place, step.rank] for place, step in steps.items()}
        found["attributes"] = shorten_types(kept, drawn.ranked, rankings, swept, best, spec, engine)
    if "terms" in spec.search:
        thresholds = {place: own.sweep.threshold for place, own in swept.items()}
        found["terms"] = search_terms(kept, drawn.searched, thresholds, spec, engine)
    placed = (formula for formulas in found.values() for formula in _placed(formulas, spec))
    answered = count_formulas(placed, kept, engine)
    for form in spec.forms:
        for place, own in candidates.items():
            recurring = _recurring(form, found, place, answered, kept, spec)
            for search, formulas in found.items():
                judged = _judged((search, form), formulas, place, answered, kept, spec, recurring)
                own += judged if search == "terms" else _of_step(steps[place], judged)
    return {place: decision_of(own, place, kept, spec) for place, own in candidates.items()}


def plan_lengths(layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the phases of choosing by length."""
    if "attributes" in layout.spec.search:
        yield layout.scan(COUNT_CHOSEN)
        if writes_steps(layout.spec):
            yield plan_writing(layout, layout.folds * layout.spec.max_ell)
        yield plan_shortening(layout)
    if "terms" in layout.spec.search:
        yield plan_terms(layout)
    yield layout.scan(COUNT_FORMULAS)


def decision_of(
    candidates: Sequence[Candidate], place: Place, kept: KeptRows, spec: LearnSpec
) -> Decision:
    """Return the shortest candidate that is close enough to the best.

    A constant answer is no formula: it is chosen only if nothing is better.
    """
    within = [own for own in candidates if _within_budget(own, spec)]
    best = max(own.point.score for own in within)
    formulas = [own for own in within if own.literals or own.point.score == best]
    by_length = sorted(formulas, key=lambda own: (own.point.literals, -own.point.score))
    splits = kept.table.splits
    rows = splits.arc_rows
    parts = [kept.parts[part] for part in inner_parts(place.fold, splits)]
    validated, trained = (
        int(sum(rows[groups == role].sum() for groups in parts)) for role in (JUDGED, LEARNED)
    )
    point = choose_length(
        [own.point for own in by_length],
        judging_of(spec),
        distinct_rows=validated_rows(place.fold, kept.parts, splits),
        validation_per_train=Fraction(validated, max(1, trained)),
    )
    chosen = next(own for own in by_length if own.point is point)
    return Decision(chosen, tuple(by_length))


def _within_budget(candidate: Candidate, spec: LearnSpec) -> bool:
    most = spec.most_literals
    return (most is None or candidate.literals <= most) and (
        spec.max_terms is None or candidate.terms <= spec.max_terms
    )


def writes_steps(spec: LearnSpec) -> bool:
    """Return whether the types of every step are written as they are: where there is no budget.

    Where there is one, what is as good in fewer conditions is on the curve of shortened types, and
    long formulas would be chosen where chance favours them: without these, the folds of four public
    tables share 71 % of their conditions instead of 48 %, at 3.5 conditions instead of 5.1, and no
    accuracy is lost.
    """
    return "lines" in spec.forms and spec.most_literals is None


CountedSteps = Mapping[tuple[Place, str], Counted]
"""The counts on W_0 of the longest step of each ranking that a sweep found best for some ell."""


def _shortened_or_all(
    swept: Mapping[Place, Swept], spec: LearnSpec
) -> dict[tuple[Place, str], Chosen]:
    """Return the attributes whose types are needed: those to be shortened, or of every step.

    Shorter steps of a ranking are prefixes of its longest, and their counts are sums of its.
    """
    return {
        (place, step.rank): Chosen(place, step.attributes)
        for place, own in swept.items()
        for step in (own.sweep.steps if writes_steps(spec) else (best_step(own),))
    }


def _count_steps(
    kept: KeptRows,
    rankings: Rankings,
    longest: Mapping[tuple[Place, str], Chosen],
    engine: Engine,
) -> CountedSteps:
    counted = count_chosen(longest.values(), kept, rankings.booleans, engine)
    return {key: counted[chosen] for key, chosen in longest.items()}


def _write_steps(
    counted: CountedSteps,
    rankings: Rankings,
    swept: Mapping[Place, Swept],
    spec: LearnSpec,
    engine: Engine,
) -> dict[Place, list[Candidate]]:
    """Write every step of every sweep as a formula of W_0, and test it."""
    steps = {(place, step.ell): step for place, own in swept.items() for step in own.sweep.steps}
    classifiers = {
        (place, ell): form_classifier(
            place.fold,
            step,
            prefix_counts(counted[place, step.rank], ell),
            rankings.booleans,
            spec,
        )
        for (place, ell), step in steps.items()
    }
    written = write_formulas(classifiers, spec, engine, _EFFORT)
    found: dict[Place, list[Candidate]] = {}
    for (place, ell), step in steps.items():
        dnf, test = written[place, ell].dnf, classifiers[place, ell].counted.test
        lines = lines_of(classifiers[place, ell].tau, dnf)
        found.setdefault(place, []).append(
            Candidate(
                CurvePoint(n_literals(lines), "attributes", "lines", step.by_split),
                literals=n_literals(lines),
                terms=len(lines),
                answers=confusion_of(dnf.accepts(test.codes), test),
                step=step,
                classifier=classifiers[place, ell],
            )
        )
    return found


def _of_step(step: Step, candidates: Sequence[Candidate]) -> list[Candidate]:
    return [replace(own, step=step) for own in candidates]


def _judged(
    curve_of: tuple[str, str],
    found: Found,
    place: Place,
    answered: Answered,
    kept: KeptRows,
    spec: LearnSpec,
    recurring: Recurring | None,
) -> list[Candidate]:
    """Judge what a search has found of a form in a place on W_val of every inner split, and test
    it.
    """
    search, form = curve_of
    goal, splits = objective_of(spec), kept.table.splits
    scores = []
    for part in inner_parts(place.fold, splits):
        judged = kept.parts[part] == JUDGED
        answers = {
            own.n_literals: answered.of(Placed(place.fold, _is_whole(spec), own), place, judged)
            for own in found[place.target, part][form]
        }
        scores.append({length: goal.score(own.codes == 1, own) for length, own in answers.items()})
    final = {own.n_literals: own for own in _final(found, place, splits)[form]}
    tested = splits.members([TEST])[place.fold]
    candidates = []
    for point in curve(scores, search=search, form=form):
        if min(final) > point.literals:
            continue
        longest = final[max(length for length in final if length <= point.literals)]
        lines = longest if recurring is None else recurring.instead_of(longest, search)
        candidates.append(_line_candidate(point, lines, place, answered, tested))
    return candidates


def _final(found: Found, place: Place, splits: Splits) -> ByForm:
    """Return the formulas of all of W_0 if it was searched, else of the last part that was."""
    whole = (place.target, LearningPart(place.fold, None))
    return found[whole] if whole in found else found[place.target, final_part(place.fold, splits)]


@dataclass(frozen=True, slots=True, eq=False)
class Recurring:
    """The formulas of a form that a place has found in its learning parts, and how they agree."""

    numbers: Mapping[Lines, int]
    searches: Mapping[str, tuple[tuple[Lines, ...], ...]]
    """What each search found in each learning part, by length."""
    agreement: Ints
    """agreement[one, other], of all formulas by number."""
    scores: Mapping[Lines, Fraction]
    """How good each is on W_0."""
    n_rows: int
    """Of W_0."""

    def instead_of(self, lines: Lines, search: str) -> Lines:
        """Return the formula of a search, no longer than the given one and as good as far as W_0
        can tell, that agrees most with those of all learning parts and searches.
        """
        most, score = lines.n_literals, self.scores[lines]
        if not most:
            return lines
        others = [
            self.numbers[within[-1]]
            for parts in self.searches.values()
            for formulas in parts
            if (within := [own for own in formulas if 0 < own.n_literals <= most])
        ]
        as_good = {
            own: self.scores[own]
            for formulas in self.searches[search]
            for own in formulas
            if 0 < own.n_literals <= most and is_as_good(self.scores[own], score, self.n_rows)
        }
        return max(
            as_good,
            key=lambda own: (
                int(self.agreement[self.numbers[own], others].sum()),
                as_good[own],
                -own.n_literals,
            ),
        )


def _recurring(
    form: str,
    found: Mapping[str, Found],
    place: Place,
    answered: Answered,
    kept: KeptRows,
    spec: LearnSpec,
) -> Recurring | None:
    """Return how the formulas of a form in a place agree; None if they were learned only once."""
    splits = kept.table.splits
    final = final_part(place.fold, splits)
    parts = [part for part in inner_parts(place.fold, splits) if part != final]
    if not parts:
        return None
    searches = {
        search: tuple(own[place.target, part][form] for part in (final, *parts))
        for search, own in found.items()
    }
    every = dict.fromkeys(own for by in searches.values() for formulas in by for own in formulas)
    numbers = {own: number for number, own in enumerate(every)}
    learned = kept.parts[final] == LEARNED
    goal = objective_of(spec)
    scores = {}
    for own in every:
        counts = answered.of(Placed(place.fold, True, own), place, learned)
        scores[own] = goal.score(counts.codes == 1, counts)
    return Recurring(
        numbers,
        searches,
        agreement([[literal for line in own.lines for literal in line] for own in every]),
        scores,
        int(splits.arc_rows[learned].sum()),
    )


def _is_whole(spec: LearnSpec) -> bool:
    """Return whether an inner split has the cuts of W_0."""
    return not spec.cuts_by_train


def _placed(found: Found, spec: LearnSpec) -> Iterator[Placed]:
    """Yield the formulas to be counted: as they are judged, and as they are tested."""
    for (_, part), by_form in found.items():
        for own in (own for formulas in by_form.values() for own in formulas):
            yield Placed(part.fold, True, own)
            if part.split is not None:
                yield Placed(part.fold, _is_whole(spec), own)


def _line_candidate(
    point: CurvePoint, lines: Lines, place: Place, answered: Answered, tested: Bools
) -> Candidate:
    """Return a final formula as what a point stands for, with its test."""
    test = answered.of(Placed(place.fold, True, lines), place, tested)
    return Candidate(
        point,
        literals=lines.n_literals,
        terms=lines.n_terms,
        answers=confusion_of(test.codes == 1, test),
        lines=lines,
    )
