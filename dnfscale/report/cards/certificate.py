"""How far rows support a formula: rows that were put aside give promises, the rows that chose it a
description.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from dnfscale.report.formats import Cell, Figure, Table
from dnfscale.report.markup import Html, element
from dnfscale.report.parts import Place, Section, card, folded, table
from dnfscale.report.run import FormulaView, RunView
from dnfscale.report.shaded import shortened
from dnfscale.report.wording import count, extent
from dnfscale.results.certificate import Certified


def certificate_card(place: Place, view: RunView) -> Section | None:
    """Return what the rows show about the formulas of the folds and of all rows; None without any
    certificate.
    """
    tested = _tested(view)
    pieces = [*(_of_folds(place, view, tested) if tested else []), *_of_all_rows(place, view)]
    if not pieces:
        return None
    better = "cost less" if _counts_cost(view) else "be right more often"
    meaning = (
        f"Rows {_alike(view)} get the same answer. That answer is "
        "certified where there are "
        f"enough such rows to show, beyond chance, that no other answer would {better}."
    )
    if _counts_cost(view):
        meaning += (
            " Errors do not all cost the same here; they are counted in errors of average "
            "cost, as the threshold of "
            "the formula asks."
        )
    if view.result.explains:
        meaning += " Right means here: as the classifier answers."
    return card(
        place,
        "certificate",
        "How far do the rows support it?",
        element("p", meaning),
        *pieces,
        short="Certificate",
    )


def certified_words(certified: Certified) -> list[str]:
    """Say what a certificate shows; lower bounds are rounded down, and upper bounds up."""
    words = []
    if (
        certified.types is not None
        and certified.types_seen is not None
        and certified.certified_share is not None
    ):
        several = f"{count(certified.types, 'possible combination')} of {_told_by(certified)}"
        if certified.told_by == "signs":
            most = certified.types - 1
            several = f"{certified.types:,} possible numbers of signs, 0 to {most:,},"
        words.append(
            f"Of the {several} {certified.types_seen:,} occur among the rows. The answer is "
            f"certified for {certified.types_certified or 0:,} of these, to which "
            f"{_down(certified.certified_share):.1f} % of the rows belong"
            f"{_of_population(certified)}."
        )
    if certified.types_refuted:
        words.append(
            f"For {certified.types_refuted:,} the opposite answer is certified to be better."
        )
    if certified.excess_error is not None:
        words.append(_excess_words(certified, _up(certified.excess_error)))
    return words


def _excess_words(certified: Certified, excess: float) -> str:
    if excess >= 100 * certified.most_excess:
        return (
            "The rows are too few to say how much better another formula of the same "
            f"{certified.told_by} could be."
        )
    if certified.counts_cost:
        return (
            f"Another formula of the same {certified.told_by} could cost at most {excess:.1f} "
            "errors of average cost less in a "
            "hundred cases, where a missed positive counts as "
            f"{2 * (1 - certified.threshold):.3g} errors and a false "
            f"alarm as {2 * certified.threshold:.3g}."
        )
    return (
        f"Another formula of the same {certified.told_by} could be right for at most "
        f"{excess:.1f} % more of all cases."
    )


def theorem_words(certified: Certified) -> str | None:
    """Say what the paper's theorem promises for this many rows; None if it is not recorded, or
    errors have costs.
    """
    if certified.epsilon is None or certified.counts_cost:
        return None
    return (
        f"The paper's theorem on sample sizes: with {certified.rows:,} rows drawn "
        f"independently and the {certified.told_by} "
        "fixed beforehand, the answer is, with probability at least "
        f"{100 * (1 - certified.delta):g} %, the best "
        f"possible for every {_pattern(certified)} for which yes and no differ in "
        "probability by at least "
        f"{certified.epsilon:.3f}."
    )


def _pattern(certified: Certified) -> str:
    """Return what tells rows apart."""
    return (
        "number of signs"
        if certified.told_by == "signs"
        else f"combination of {_told_by(certified)}"
    )


def _counts_cost(view: RunView) -> bool:
    """Return whether some certificate counts errors by their cost."""
    own = [formula.certificate for formula in view.formulas]
    tested = [fold.certificate for formula in view.formulas for fold in formula.folds]
    return any(each.counts_cost for each in (*own, *tested) if each is not None)


def _most_excess(certified: Certified) -> float:
    """Return by how much another formula could be better at most: percent of all cases, or errors
    per hundred cases.
    """
    most = certified.most_excess
    return min(100 * most, _up(most if certified.excess_error is None else certified.excess_error))


def _tested(view: RunView) -> list[tuple[FormulaView, list[Certified]]]:
    """Return the certificates of each formula's folds, if all folds have one whose rows did not
    choose the formula.
    """
    found = []
    for formula in view.formulas:
        own = [fold.certificate for fold in formula.folds if fold.certificate]
        whole = [
            each
            for each in own
            if not each.chosen_on_the_same_rows and each.certified_share is not None
        ]
        if whole and len(whole) == len(formula.folds):
            found.append((formula, whole))
    return found


def _of_folds(
    place: Place, view: RunView, tested: Sequence[tuple[FormulaView, list[Certified]]]
) -> list[Html]:
    heading = element(f"h{place.level + 1}", "On rows held out before choosing")
    certificates = [each for _, own in tested for each in own]
    rows = extent([each.rows for each in certificates])
    intro = (
        f"Each fold's formula was checked on its own test rows ({rows} a fold), which had no "
        "part in choosing it"
    )
    if not any(each.types_certified for each in certificates):
        return [heading, element("p", f"{intro}. They are too few to certify any answer.")]
    pieces = [heading, element("p", f"{intro}, so these figures are guarantees.")]
    pieces += [table(_summary(formula, own)) for formula, own in tested]
    refuted = sum(bool(each.types_refuted) for each in certificates)
    if refuted:
        pieces.append(
            element(
                "p",
                (
                    f"In {count(refuted, 'fold')} the opposite answer is certified for some "
                    "combination of values."
                ),
            )
        )
    level = f"{100 * (1 - max(each.delta for each in certificates)):g} %"
    words = (
        f"Each fold's figures hold with probability at least {level} by themselves, not "
        "those of all folds at once, "
        "for the population that the rows were drawn from. A certified answer need not be "
        "right for a single case."
    )
    pieces.append(element("p", words, class_="note"))
    if not view.has_labels and len(certificates) <= 20:
        folds = view.result.ideal.folds if view.result.ideal else ()
        numbers = [
            fold.fold for fold in folds for formula in fold.formulas if formula.label is None
        ]
        pieces.append(folded("Fold by fold", table(_by_fold(numbers, certificates))))
    return pieces


def _summary(formula: FormulaView, certificates: Sequence[Certified]) -> Table:
    of = "" if formula.label is None else f": {shortened(formula.label)}"
    shares = [100 * (each.certified_share or 0.0) for each in certificates]
    masses = [_down(each.certified_mass or 0.0) for each in certificates]
    excess = [_most_excess(each) for each in certificates]
    told_by = {each.told_by for each in certificates}
    same = f"same {told_by.pop()}" if len(told_by) == 1 else "same attributes or lines"
    more = (
        f"Less cost with another formula of the {same}, in average errors a hundred cases: at most"
        if any(each.counts_cost for each in certificates)
        else f"More cases right with another formula of the {same}: at most, %"
    )
    rows = [
        _spread("Test rows with a certified answer, %", shares),
        _spread("All cases with a certified answer: at least, %", masses),
        _spread(more, excess),
    ]
    title = f"What the test rows guarantee, over {count(len(certificates), 'fold')}{of}"
    return Table(title, ("In a fold", "Lowest", "Median", "Highest"), tuple(rows))


def _spread(name: str, values: Sequence[float]) -> tuple[Cell, ...]:
    return (name, Figure(min(values)), Figure(median(values)), Figure(max(values)))


def _by_fold(numbers: Sequence[int], certificates: Sequence[Certified]) -> Table:
    header = (
        "Fold",
        "Test rows",
        "Combinations seen",
        "Certified",
        "Rows, %",
        "Cases: at least, %",
        "Less cost: at most"
        if any(each.counts_cost for each in certificates)
        else "More right: at most, %",
    )
    rows = tuple(
        (
            f"fold {number}",
            each.rows,
            each.types_seen,
            each.types_certified,
            Figure(100 * (each.certified_share or 0.0)),
            Figure(_down(each.certified_mass or 0.0)),
            Figure(_most_excess(each)),
        )
        for number, each in zip(numbers, certificates, strict=True)
    )
    return Table("Certified answers in each fold's test rows", header, rows)


def _of_all_rows(place: Place, view: RunView) -> list[Html]:
    known = [
        (formula, each) for formula in view.formulas if (each := formula.certificate) is not None
    ]
    if not known:
        return []
    several = view.has_labels
    name = "The formulas" if several else "The formula"
    heading = element(f"h{place.level + 1}", f"{name} of all rows")
    rows = known[0][1].rows
    warned = any(each.chosen_on_the_same_rows for _, each in known)
    measure = "fidelity" if view.result.explains else "accuracy"
    on_others = (
        f"; what to expect of others is the {measure} in the test folds"
        if view.result.n_folds
        else ""
    )
    words = (
        f"the {known[0][1].told_by} were chosen by looking at the same {count(rows, 'row')}, and "
        "choosing makes formulas look "
        f"better than they are. What follows describes these rows{on_others}."
    )
    warning = element("p", element("strong", "No guarantee: "), words, class_="warning")
    said: list[Html] = (
        [element("p", " ".join(told))]
        if not several and (told := certified_words(known[0][1]))
        else []
    )
    if several and any(each.certified_share is not None for _, each in known):
        said = [table(_by_label(known), wrap=True)]
    theorem = theorem_words(known[0][1]) if not several else None
    more = (
        folded("What the number of rows alone would guarantee", element("p", theorem))
        if theorem
        else None
    )
    # The warning comes before all figures.
    return [heading, *([warning] if warned else []), *said, *([more] if more else [])]


def _by_label(known: Sequence[tuple[FormulaView, Certified]]) -> Table:
    header = (
        "Label",
        "Combinations seen",
        "Certified",
        "Rows with a certified answer, %",
        "Less cost with another formula: at most"
        if any(each.counts_cost for _, each in known)
        else "More right with another formula: at most, %",
    )
    rows = tuple(
        (
            shortened(formula.label or ""),
            each.types_seen,
            each.types_certified,
            None if each.certified_share is None else Figure(100 * each.certified_share),
            None if each.excess_error is None else Figure(_most_excess(each)),
        )
        for formula, each in known
    )
    return Table(
        "Certified answers of each label's formula, on the rows that chose it", header, rows
    )


def _told_by(certified: Certified) -> str:
    return "attribute values" if certified.told_by == "attributes" else "lines"


def _alike(view: RunView) -> str:
    """Say which rows are told apart by no formula of a run."""
    told_by = {
        certified.told_by
        for formula in view.formulas
        for certified in (formula.certificate, *(fold.certificate for fold in formula.folds))
        if certified is not None
    }
    words = {
        "attributes": "with the same values of the attributes",
        "lines": "for which the same lines hold",
        "signs": "for which as many conditions hold",
    }
    if len(told_by) > 1:
        return "that a formula cannot tell apart"
    return "".join(words[each] for each in told_by)


def _of_population(certified: Certified) -> str:
    if certified.chosen_on_the_same_rows or certified.certified_mass is None:
        return ""
    return f", and at least {_down(certified.certified_mass):.1f} % of the population"


def _down(share: float) -> float:
    """Return a lower bound in percent, rounded down to one decimal."""
    return math.floor(1000 * share) / 10


def _up(share: float) -> float:
    """Return an upper bound in percent, rounded up to one decimal."""
    return math.ceil(1000 * share) / 10
