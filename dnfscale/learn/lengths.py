"""Chooses by length: the formulas of all searches on one curve, judged on the same rows.

In every place the best step of each ell is written as a formula, and the search of terms has found
one of every length. A point of the curve is how good the formulas of a length are on W_val, each
found anew in each inner split; the shortest point that is close enough to the best is chosen. The
test rows choose nothing: they show what every point would have come to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dnfscale.core.arrays import Bools
from dnfscale.core.counts import TypeCounts, project
from dnfscale.core.sample import SampledRows
from dnfscale.core.splits import TEST
from dnfscale.engine.api import Engine
from dnfscale.learn.choose import judging_of, objective_of, validated_rows
from dnfscale.learn.count import COUNT_CHOSEN, Chosen, Counted, count_chosen
from dnfscale.learn.keeping import KeptRows
from dnfscale.learn.phases import Layout, PlannedPhase
from dnfscale.learn.places import JUDGED, LEARNED, Place, final_part, inner_parts
from dnfscale.learn.rank import Rankings
from dnfscale.learn.terms import (
    Answered,
    Found,
    Lines,
    Placed,
    count_formulas,
    plan_terms,
    search_terms,
)
from dnfscale.learn.write import Classifier, form_classifier, plan_writing, write_formulas
from dnfscale.method.ideal import correct_rows
from dnfscale.method.literals import lines_of, n_literals
from dnfscale.method.minimize.minimal import Effort
from dnfscale.method.sweep import Step, Sweep
from dnfscale.method.terms.choice import CurvePoint, choose_length, curve
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
    correct: int
    """The test rows that it gets right."""
    tested: int
    step: Step | None = None
    """The step of the sweep that it writes, if attributes were searched."""
    classifier: Classifier | None = None
    lines: Lines | None = None
    """The formula itself, if terms were searched."""


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What a place has chosen, and from what."""

    chosen: Candidate
    candidates: tuple[Candidate, ...]
    """By length."""


def decide(
    kept: KeptRows,
    rankings: Rankings,
    drawn: SampledRows | None,
    sweeps: Mapping[Place, Sweep],
    spec: LearnSpec,
    engine: Engine,
) -> dict[Place, Decision]:
    """Choose a formula by its length in every place."""
    steps = _write_steps(kept, rankings, sweeps, spec, engine)
    lines: Mapping[Place, list[Candidate]] = {}
    if drawn is not None and "terms" in spec.search:
        lines = _find_lines(kept, drawn, sweeps, spec, engine)
    return {
        place: _decision([*steps.get(place, ()), *lines.get(place, ())], place, kept, spec)
        for place in kept.places
    }


def plan_lengths(layout: Layout) -> Iterator[PlannedPhase]:
    """Yield the phases of choosing by length."""
    if "attributes" in layout.spec.search:
        yield layout.scan(COUNT_CHOSEN)
        yield plan_writing(layout, layout.folds * layout.spec.max_ell)
    if "terms" in layout.spec.search:
        yield from plan_terms(layout)


def _decision(
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


def _write_steps(
    kept: KeptRows,
    rankings: Rankings,
    sweeps: Mapping[Place, Sweep],
    spec: LearnSpec,
    engine: Engine,
) -> dict[Place, list[Candidate]]:
    """Write every step of every sweep as a formula of W_0, and test it."""
    if "attributes" not in spec.search:
        return {}
    steps = {(place, step.ell): step for place, swept in sweeps.items() for step in swept.steps}
    # Shorter steps of a ranking are prefixes of its longest, and their counts are sums of its.
    longest: dict[tuple[Place, str], Chosen] = {}
    for (place, _), step in steps.items():
        longest[place, step.rank] = Chosen(place, step.attributes)
    counted = count_chosen(longest.values(), kept, rankings.booleans, engine)
    classifiers = {
        (place, ell): form_classifier(
            place.fold,
            step,
            _prefix(counted[longest[place, step.rank]], ell),
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
                correct=correct_rows(dnf.accepts(test.codes), test),
                tested=test.n_rows,
                step=step,
                classifier=classifiers[place, ell],
            )
        )
    return found


def _prefix(counted: Counted, ell: int) -> Counted:
    def of_prefix(counts: TypeCounts) -> TypeCounts:
        return project(counts, range(min(ell, counts.ell)))

    return Counted(
        of_prefix(counted.whole), of_prefix(counted.test), tuple(map(of_prefix, counted.others))
    )


def _find_lines(
    kept: KeptRows,
    drawn: SampledRows,
    sweeps: Mapping[Place, Sweep],
    spec: LearnSpec,
    engine: Engine,
) -> dict[Place, list[Candidate]]:
    """Search terms, judge what was found on W_val of every inner split, and test it."""
    goal = objective_of(spec)
    thresholds = {place: swept.threshold for place, swept in sweeps.items()}
    found = search_terms(kept, drawn, thresholds, spec, engine)
    answered = count_formulas(_placed(found, spec), kept, engine)
    splits = kept.table.splits
    tested = splits.members([TEST])
    candidates: dict[Place, list[Candidate]] = {}
    for place in kept.places:
        scores = []
        for part in inner_parts(place.fold, splits):
            judged = kept.parts[part] == JUDGED
            answers = {
                own.n_literals: answered.of(Placed(place.fold, _is_whole(spec), own), place, judged)
                for own in found[place.target, part]
            }
            scores.append(
                {length: goal.score(own.codes == 1, own) for length, own in answers.items()}
            )
        final = {own.n_literals: own for own in found[place.target, final_part(place.fold, splits)]}
        candidates[place] = [
            _line_candidate(point, final, place, answered, tested[place.fold])
            for point in curve(scores, search="terms")
            if min(final) <= point.literals
        ]
    return candidates


def _is_whole(spec: LearnSpec) -> bool:
    """Return whether an inner split has the cuts of W_0."""
    return not spec.cuts_by_train


def _placed(found: Found, spec: LearnSpec) -> Iterator[Placed]:
    """Yield the formulas to be counted: as they are judged, and as they are tested."""
    for (_, part), formulas in found.items():
        for own in formulas:
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
        terms=len(lines.lines),
        correct=correct_rows(test.codes == 1, test),
        tested=test.n_rows,
        lines=lines,
    )
