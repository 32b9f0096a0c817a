"""Chooses by length: the formulas of all searches on one curve, judged on the same rows.

In every place the best step of each ell is written as a formula, and the search of terms has found
one of every length. A point of the curve is how good the formulas of a length are on W_val, each
found anew in each inner split; the shortest point that is close enough to the best is chosen. The
test rows choose nothing: they show what every point would have come to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dnfscale.core.arrays import Bools
from dnfscale.core.sample import SampledRows
from dnfscale.core.splits import TEST
from dnfscale.engine.api import Engine
from dnfscale.learn.choose import Swept, judging_of, objective_of, validated_rows
from dnfscale.learn.count import COUNT_CHOSEN, Chosen, Counted, count_chosen, prefix_counts
from dnfscale.learn.keeping import KeptRows
from dnfscale.learn.phases import Layout, PlannedPhase
from dnfscale.learn.places import JUDGED, LEARNED, Place, final_part, inner_parts
from dnfscale.learn.rank import Rankings
from dnfscale.learn.shorten import best_step, plan_shortening, shorten_types
from dnfscale.learn.terms import (
    COUNT_FORMULAS,
    Answered,
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
    drawn: SampledRows,
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
        counted = _count_steps(kept, rankings, swept, engine)
        if "lines" in spec.forms:
            for place, written in _write_steps(counted, rankings, swept, spec, engine).items():
                candidates[place] += written
        best = {place: counted[place, step.rank] for place, step in steps.items()}
        found["attributes"] = shorten_types(kept, drawn, rankings, swept, best, spec, engine)
    if "terms" in spec.search:
        thresholds = {place: own.sweep.threshold for place, own in swept.items()}
        found["terms"] = search_terms(kept, drawn, thresholds, spec, engine)
    placed = (formula for formulas in found.values() for formula in _placed(formulas, spec))
    answered = count_formulas(placed, kept, engine)
    for form in spec.forms:
        for search, formulas in found.items():
            for place, own in candidates.items():
                judged = _judged((search, form), formulas, place, answered, kept, spec)
                own += judged if search == "terms" else _of_step(steps[place], judged)
    return {place: decision_of(own, place, kept, spec) for place, own in candidates.items()}


def plan_lengths(layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the phases of choosing by length."""
    if "attributes" in layout.spec.search:
        yield layout.scan(COUNT_CHOSEN)
        if "lines" in layout.spec.forms:
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


CountedSteps = Mapping[tuple[Place, str], Counted]
"""The counts on W_0 of the longest step of each ranking that a sweep found best for some ell."""


def _count_steps(
    kept: KeptRows, rankings: Rankings, swept: Mapping[Place, Swept], engine: Engine
) -> CountedSteps:
    """Count the attributes of every step of every sweep.

    Shorter steps of a ranking are prefixes of its longest, and their counts are sums of its.
    """
    longest = {
        (place, step.rank): Chosen(place, step.attributes)
        for place, own in swept.items()
        for step in own.sweep.steps
    }
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
    last = found[place.target, final_part(place.fold, splits)]
    final = {own.n_literals: own for own in last[form]}
    tested = splits.members([TEST])[place.fold]
    return [
        _line_candidate(point, final, place, answered, tested)
        for point in curve(scores, search=search, form=form)
        if min(final) <= point.literals
    ]


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
    point: CurvePoint,
    final: Mapping[int, Lines],
    place: Place,
    answered: Answered,
    tested: Bools,
) -> Candidate:
    """Return the longest of the final formulas that a point allows, with its test."""
    lines = final[max(length for length in final if length <= point.literals)]
    test = answered.of(Placed(place.fold, True, lines), place, tested)
    return Candidate(
        point,
        literals=lines.n_literals,
        terms=lines.n_terms,
        answers=confusion_of(test.codes == 1, test),
        lines=lines,
    )
