"""The sections behind the formula of a run: sweep, folds, stability, other methods, data,
environment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import UNSET

from dnfscale.core.weights import amount
from dnfscale.report.cards.curve import (
    LENGTH,
    Curve,
    curve_of,
    rank_title,
    sweep_chart,
    sweep_signs,
    sweep_table,
)
from dnfscale.report.cards.formula import formula_list, shown_fold_formula
from dnfscale.report.cards.labels import labels_stability_card
from dnfscale.report.checked import (
    HEADINGS,
    column_cells,
    headline,
    ranked_findings,
    shown_columns,
)
from dnfscale.report.formats import Figure, Table
from dnfscale.report.markup import Html, element, join, name_of
from dnfscale.report.own_parts import own_parts
from dnfscale.report.parts import (
    Place,
    Section,
    card,
    facts,
    figure,
    folded,
    legend,
    scrolling,
    table,
)
from dnfscale.report.run import FormulaView, RunView
from dnfscale.report.shaded import shortened
from dnfscale.report.titles import method_title, shown_methods
from dnfscale.report.wording import (
    count,
    dealing_words,
    extent,
    objective_title,
    share,
    stability_sentence,
)
from dnfscale.results.check import Check, Finding
from dnfscale.results.formula import Formula, SizedFormula
from dnfscale.results.method import Fold, Method, Parameter
from dnfscale.results.record import label_text, plain
from dnfscale.results.result import Result, Weight

_MOST_FOLDS = 20
"""The most folds that are listed one by one; if there are more, the different formulas are listed.
"""
_MOST_CURVES = 4
"""The most labels whose curves are shown without unfolding them."""
_MOST_ATTRIBUTES = 12
"""The most attributes of the stability list that are shown without unfolding it."""


def sweep_card(place: Place, view: RunView) -> Section | None:
    """Return the curve of the sweep, one for each label; None if no sweep is recorded."""
    curves = [(formula, curve_of(formula.folds, formula.learned)) for formula in view.formulas]
    curves = [(formula, curve) for formula, curve in curves if curve.ranks]
    if not curves:
        return None
    folds = max(len(formula.folds) for formula, _ in curves)
    by_length = curves[0][1].bound is LENGTH
    bound = "length" if by_length else "ℓ"
    caption = (
        f"Mean over {count(folds, 'fold')}; the bands are one standard deviation wide on "
        "either side. The row below "
        f"the chart says how many folds chose each {bound}."
        if folds
        else "On the validation rows that were set aside from the rows learned from."
    )
    measure = "fidelity" if view.result.explains else "accuracy"
    objective = view.result.ideal.objective if view.result.ideal else None
    caption += (
        (
            f" Chosen is the smallest {bound} whose validation {measure} is close enough to the "
            "best by the rule of the spec."
        )
        if objective is None
        else f" Chosen is the smallest {bound} that is close enough to the best by "
        f"{objective_title(objective)}, which the formula is learned for."
    )
    if view.has_labels:
        caption = f"One label against all others: how often its formula alone is right. {caption}"
    drawn = _sweeps(place, curves, caption, measure)
    figures = [own.sweep_figure(place, method) for own, method in own_parts(view.result)]
    beside = [found for found in figures if found is not None]
    return card(
        place,
        "sweep",
        "How many conditions are enough?"
        if by_length
        else "How many attributes are enough?"
        if not beside
        else "How many attributes, or what length, are enough?",
        legend(sweep_signs(curves[0][1])),
        *(
            drawn
            if not beside
            else [element("div", element("div", *drawn), *beside, class_="panels")]
        ),
        short="Conditions" if by_length else "Attributes",
    )


def folds_card(place: Place, view: RunView) -> Section | None:
    """Return the formula of each fold; for many folds, each different formula and how often it was
    learned.
    """
    learned = [
        fold for fold in (view.result.ideal.folds if view.result.ideal else ()) if fold.formulas
    ]
    if not learned:
        return None
    texts = Counter(_texts(fold) for fold in learned)
    [(_, most)] = texts.most_common(1)
    folds = count(len(learned), "fold")
    what = "sets of formulas" if view.has_labels else "formulas"
    same = "The same formulas" if view.has_labels else "The same formula"
    different = (
        f"{len(texts)} different {what} in {folds}" if len(texts) > 1 else f"{same} in {folds}"
    )
    often = f"; the most frequent came out {count(most, 'time')}" if 1 < most < len(learned) else ""
    counted = view.formulas[0].counted
    weight = view.result.data.weight
    shown = (
        _by_fold(learned, counted, weight)
        if len(learned) <= _MOST_FOLDS
        else _by_formula(learned, counted, weight)
    )
    without = "A fold's formula is" if not view.has_labels else "A fold's formulas are"
    return card(
        place,
        "folds",
        "The formulas of each fold" if view.has_labels else "The formula of each fold",
        element(
            "p", f"{different}{often}. {without} learned without its test rows.", class_="note"
        ),
        element("div", *shown, class_="folds"),
        short="Folds",
    )


def stability_card(place: Place, view: RunView) -> Section | None:
    """Return how often each attribute was chosen."""
    if view.has_labels:
        return labels_stability_card(place, view)
    folds = view.formulas[0].folds
    chosen = Counter(name for formula in folds for name in formula.attribute_names)
    if not chosen:
        return None
    always = sum(times == len(folds) for times in chosen.values())
    listed = sorted(chosen.items(), key=lambda item: -item[1])
    intro = (
        f"{count(len(chosen), 'attribute')} chosen in any of {count(len(folds), 'fold')}, "
        f"{always} in all of them."
    )
    intro += stability_sentence(view.result.ideal)
    rest = listed[_MOST_ATTRIBUTES:]
    return card(
        place,
        "stability",
        "How stable is the choice?",
        element("p", intro, class_="note"),
        _bars("Folds in which an attribute was chosen", listed[:_MOST_ATTRIBUTES], len(folds)),
        folded(
            f"{count(len(rest), 'more attribute')}", _bars("The other attributes", rest, len(folds))
        )
        if rest
        else None,
        short="Stability",
    )


def baselines_card(place: Place, view: RunView) -> Section | None:
    """Return the results of all methods fold by fold; None if fewer than two were tested."""
    methods = [
        (name, own) for name, own in shown_methods(view.result) if any(map(_is_tested, own.folds))
    ]
    if len(methods) < 2:
        return None
    numbers = [fold.fold for fold in methods[0][1].folds]
    by_number = [{fold.fold: fold for fold in method.folds} for _, method in methods]
    rows = tuple((f"fold {n}", *(_accuracy(folds.get(n)) for folds in by_number)) for n in numbers)
    accuracies = Table(
        "Accuracy in each fold, %", ("Fold", *(method_title(name) for name, _ in methods)), rows
    )
    return card(
        place,
        "methods",
        "The methods fold by fold",
        element(
            "div",
            folded("Accuracies", table(accuracies)),
            *(
                folded(
                    f"{method_title(name)}: what was chosen in each fold",
                    table(_fold_facts(name, method)),
                )
                for name, method in methods
                if any(_facts(fold) and not fold.formulas for fold in method.folds)
            ),
            class_="folds",
        ),
        short="Methods",
    )


def data_card(place: Place, view: RunView) -> Section:
    """Return the facts of the data."""
    result = view.result
    record: dict[str, object] = {
        "dataset": result.environment.dataset or "not recorded",
        **_target_facts(view),
        "rows learned from and tested on": result.data.rows,
        **_dropped_facts(view.result),
        **_dealing_facts(view.result),
        **_row_facts(view),
        "columns": result.data.columns,
        "Boolean attributes made of them": result.data.attributes,
        **_silent_facts(result),
        "seed": "not recorded" if result.seed is None else str(result.seed),
    }
    learned = facts("What was learned from", record)
    if view.check is None:
        return card(place, "data", "Data", learned)
    return card(place, "data", "The data", learned, *_checked(view.check), short="Data")


def _checked(check: Check) -> Iterator[Html]:
    """Yield what was found in the data: what is grave first, the rest folded."""
    found = ranked_findings(check)
    grave = [pair for pair in found if pair[1].severity != "note"]
    if grave:
        yield table(_findings("What to look at before relying on the formula", grave), wrap=True)
    else:
        yield element("p", "A look at all columns found nothing to warn of.", class_="note")
    notes = [pair for pair in found if pair[1].severity == "note"]
    if notes:
        yield folded(f"Notes: {len(notes)}", table(_findings("Notes", notes), wrap=True))
    columns = tuple(column_cells(column, check.rows) for column in shown_columns(check))
    header = tuple(heading.capitalize() for heading in HEADINGS)
    yield folded("The columns", table(Table(headline(check), header, columns)))


def _findings(title: str, found: Sequence[tuple[str, Finding]]) -> Table:
    rows = tuple(
        (about, one.severity, one.kind.replace("_", " "), one.evidence, one.advice)
        for about, one in found
    )
    return Table(title, ("About", "Severity", "Finding", "Evidence", "What to do"), rows)


def environment_card(place: Place, view: RunView) -> Section | None:
    """Return how long everything took and what it ran on."""
    result = view.result
    pieces = [
        facts("Timing, seconds", _named_times(plain(result.timing))),
        facts("Environment", plain(result.environment)),
    ]
    if not any(pieces):
        return None
    tables = element("div", *pieces, class_="panels")
    return card(place, "environment", "Timing and environment", tables, short="Environment")


def _target_facts(view: RunView) -> dict[str, object]:
    if view.result.explains:
        return {"target": "the answers of the classifier explained"}
    target: dict[str, object] = {"target": view.target or "not recorded"}
    if view.has_labels:
        return target
    return {**target, "predicted as positive": view.formulas[0].positive or "not recorded"}


def _dealing_facts(result: Result) -> dict[str, object]:
    """Return how rows were dealt into folds, unless by their numbers."""
    dealing = result.data.dealing
    return {} if dealing is None else {"rows dealt into folds": dealing_words(dealing)}


def _dropped_facts(result: Result) -> dict[str, object]:
    """Return how many rows were left out, and what the others weigh, if they have weights."""
    data = result.data
    weight = data.weight
    weightless = 0 if weight is None else weight.rows_without
    gaps = data.rows_dropped - weightless - data.rows_without_target
    facts: dict[str, object] = {"rows dropped for missing values": gaps}
    facts |= {f"rows dropped for {shortened(gap.column)}": f"{gap.rows:,}" for gap in data.gaps}
    if data.rows_without_target:
        facts["rows without a target"] = data.rows_without_target
    if weight is None:
        return facts
    return {
        **facts,
        "rows left out because they weigh nothing": weight.rows_without,
        "rows are counted by their weight in": weight.column,
        "weight of all rows": amount(weight.total),
    }


def _silent_facts(result: Result) -> dict[str, object]:
    """Return the columns that tell no rows apart, if there are any."""
    silent = result.data.silent_columns
    return (
        {"columns that are the same in every row once cut": ", ".join(map(shortened, silent))}
        if silent
        else {}
    )


def _row_facts(view: RunView) -> dict[str, object]:
    """Return the number of positive rows, or of the rows of each label."""
    result = view.result

    of_weight = "" if result.data.weight is None else " of the weight"

    def part(rows: int, of_all: float | None) -> str:
        return f"{rows:,}" if of_all is None else f"{rows:,} ({share(of_all)}{of_weight})"

    if view.has_labels:
        return {
            f"rows of label {label_text(each.label)}": part(each.rows, result.label_share(each))
            for each in result.data.classes
        }
    name = "rows that the classifier answers with yes" if result.explains else "positive rows"
    return {name: part(result.data.positive_rows or 0, result.positive_share)}


def _sweeps(
    place: Place, curves: Sequence[tuple[FormulaView, Curve]], caption: str, measure: str
) -> list[Html]:
    """Return the curve of one formula, or those of several labels side by side, the last ones
    folded.
    """
    ranks = ", ".join(map(rank_title, curves[0][1].ranks))
    description = f"Lines for {ranks}. The table below holds the figures."
    if len(curves) == 1 and curves[0][0].label is None:
        [(_, curve)] = curves
        drawing = sweep_chart(place.id("sweep-chart"), curve, description, measure)
        return [figure(drawing, caption, sweep_table(curve, measure))]
    drawn = []
    for number, (formula, curve) in enumerate(curves, start=1):
        drawing = sweep_chart(place.id(f"sweep-{number}-chart"), curve, description, measure)
        heading = element(f"h{place.level + 1}", name_of(shortened(formula.label or "")))
        drawn.append(
            element(
                "div", heading, figure(drawing, None, sweep_table(curve, measure, formula.label))
            )
        )
    rest = drawn[_MOST_CURVES:]
    panels = element("div", *drawn[:_MOST_CURVES], class_="panels")
    more = (
        [folded(count(len(rest), "more label"), element("div", *rest, class_="panels"))]
        if rest
        else []
    )
    return [panels, *more, element("p", caption, class_="note")]


def _named_times(timing: Mapping[str, object]) -> dict[str, object]:
    """Return times without the unit at the end of their names."""
    return {
        key.removesuffix("_s").replace("_", " "): _named_times(value)
        if isinstance(value, Mapping)
        else value
        for key, value in timing.items()
    }


def _by_fold(folds: Sequence[Fold], counted: str, weight: Weight | None) -> list[Html]:
    listed = []
    for fold in folds:
        ranks = {formula.rank for formula in fold.formulas} - {None}
        by = (
            f", by {rank_title(str(*ranks))}" if len(ranks) == 1 and len(fold.formulas) == 1 else ""
        )
        told = f"{_tested([fold])} · {_fold_size(fold)}{by}"
        listed.append(
            folded(_summary(f"Fold {fold.fold}", told), *_fold_formulas(fold, counted, weight))
        )
    return listed


def _by_formula(folds: Sequence[Fold], counted: str, weight: Weight | None) -> list[Html]:
    groups: dict[tuple[str, ...], list[Fold]] = {}
    for fold in folds:
        groups.setdefault(_texts(fold), []).append(fold)
    listed = []
    for alike in sorted(groups.values(), key=len, reverse=True):
        average = " on average" if len(alike) > 1 else ""
        told = f"{_tested(alike)}{average} · {_fold_size(alike[0])}"
        summary = _summary(f"In {count(len(alike), 'fold')}", told)
        listed.append(folded(summary, *_fold_formulas(alike[0], counted, weight)))
    return listed


def _texts(fold: Fold) -> tuple[str, ...]:
    return tuple(formula.formula for formula in fold.formulas)


def _tested(folds: Sequence[Fold]) -> str:
    """Say how faithful and how accurate the formulas of some folds are on their test rows, on
    average.
    """
    faithful = [fold.fidelity for fold in folds if fold.fidelity is not None]
    right = [fold.accuracy for fold in folds if fold.accuracy is not None]
    told = [f"{share(sum(faithful) / len(faithful))} as the classifier"] if faithful else []
    told += [f"{share(sum(right) / len(right))} right"] if right else []
    return ", ".join(told) or "not tested"


def _fold_size(fold: Fold) -> str:
    lines = sum(formula.terms for formula in fold.formulas)
    ells = extent([formula.ell for formula in fold.formulas])
    each = " a label" if len(fold.formulas) > 1 else ""
    return f"{count(lines, 'line')}, {ells} attribute{'s' * (ells != '1')}{each}"


def _summary(name: str, rest: str) -> Html:
    return join(element("span", name, class_="plain"), " · ", element("span", rest, class_="soft"))


def _fold_formulas(fold: Fold, counted: str, weight: Weight | None) -> list[Html]:
    """Return the formulas of a fold, each of several under the name of its label."""
    shown = []
    for formula in fold.formulas:
        if formula.label_shown is not None:
            shown.append(element("p", name_of(shortened(formula.label_shown)), class_="before"))
        shown.append(_fold_formula(formula, counted, weight))
    return shown


def _fold_formula(formula: Formula, counted: str, weight: Weight | None) -> Html:
    reading = shown_fold_formula(formula, weight)
    return formula_list(reading, counted) if reading else element("p", name_of(formula.formula))


def _bars(title: str, listed: list[tuple[str, int]], folds: int) -> Html:
    rows = [
        element(
            "tr",
            element("th", name_of(name), scope="row", class_="text wrap"),
            element("td", f"{times} of {folds}"),
            element(
                "td",
                element(
                    "svg",
                    element("rect", width="100%", height="100%", rx=3, class_="track"),
                    element(
                        "rect",
                        width=f"{100 * times / folds:.1f}%",
                        height="100%",
                        rx=3,
                        class_="fill",
                    ),
                    class_="share",
                    aria_hidden="true",
                ),
                class_="share-cell",
            ),
        )
        for name, times in listed
    ]
    head = [
        element("th", words, scope="col", class_="text" if words != "Folds" else None)
        for words in ("Attribute", "Folds", "Share")
    ]
    return scrolling(title, head, rows, class_="bars")


def _accuracy(fold: Fold | None) -> Figure | None:
    return None if fold is None or fold.accuracy is None else Figure(100 * fold.accuracy)


def _is_tested(fold: Fold) -> bool:
    return fold.accuracy is not None or fold.error is not None


def _fold_facts(name: str, method: Method) -> Table:
    """Return what a method chose in each fold; each parameter has a column of its own."""
    records = [_facts(fold) for fold in method.folds]
    keys = list(dict.fromkeys(key for record in records for key in record))
    rows = tuple(
        (f"fold {fold.fold}", _accuracy(fold), *(_fact(record.get(key)) for key in keys))
        for fold, record in zip(method.folds, records, strict=True)
    )
    header = ("Fold", "Accuracy, %", *(key.replace("_", " ") for key in keys))
    return Table(f"{method_title(name)}, fold by fold", header, rows)


def _facts(fold: Fold) -> dict[str, Parameter]:
    """Return what a method chose in a fold, or why it failed, by name."""
    if fold.error is not None:
        return {"error": fold.error}
    found: dict[str, Parameter] = {}
    if fold.sized:
        found |= {key: getattr(fold, key) for key in ("train_rows", "validation_rows", "test_rows")}
    if fold.attribute is not None:
        found["attribute"] = fold.attribute
    if not fold.formulas and fold.literals is not UNSET:
        found["literals"] = fold.literals
    if len(fold.sized) == 1:
        found |= _sized_facts(fold.sized[0])
    if fold.tuning is not None:
        tuning = fold.tuning
        found |= {
            "validation_accuracy": tuning.validation_accuracy,
            **tuning.params,
            "trials": tuning.trials,
        }
        found |= {"failed_trials": tuning.failed_trials, "pruned_trials": tuning.pruned_trials}
    return found


def _sized_facts(sized: SizedFormula) -> dict[str, Parameter]:
    return {
        "errors": sized.errors,
        **({} if sized.cost is None else {"cost": sized.cost}),
        "distinct_rows": sized.distinct_rows,
        "exact_over_all_attributes": sized.exact_over_all_attributes,
    }


def _fact(value: Parameter) -> str | int | Figure | None:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, int):
        return value
    return f"{value:.4g}" if isinstance(value, float) else str(value)
