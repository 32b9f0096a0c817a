"""What the formula of a run rests on: sweep, folds, stability, other methods, certificate, data, environment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from dnfscale.experiment.formats import Figure, Table
from dnfscale.experiment.outcome import Fold, Method
from dnfscale.jobs.report.curve import curve_of, rank_title, sweep_chart, sweep_signs, sweep_table
from dnfscale.jobs.report.formula import formula_list, text_reading
from dnfscale.jobs.report.markup import Child, Html, element, join, name_of
from dnfscale.jobs.report.parts import Place, Section, card, facts, figure, folded, legend, table
from dnfscale.jobs.report.run import RunView
from dnfscale.jobs.report.wording import certified_words, count, share

_MOST_FOLDS = 20
"""Folds that are listed one by one; of more, the different formulas are."""
_MOST_ATTRIBUTES = 12
"""Attributes of the stability list that are shown without unfolding it."""


def sweep_card(place: Place, view: RunView) -> Section | None:
    """Return the curve of the sweep; None where no sweep is recorded."""
    curve = curve_of(view.fold_formulas, view.formula)
    if not curve.ranks:
        return None
    folds = len(view.fold_formulas)
    caption = (
        f"Mean over {count(folds, 'fold')}; the bands are one standard deviation wide on either side. The row «folds» "
        "says how many folds chose each ℓ."
        if folds
        else "On the validation rows that were set aside from the rows learned from."
    )
    caption += " Chosen is the smallest ℓ within the tolerance of the best validation accuracy."
    description = f"Lines for {', '.join(map(rank_title, curve.ranks))}. The table below holds the figures."
    drawing = sweep_chart(place.id("sweep-chart"), curve, description)
    title = "How many attributes are enough?"
    return card(
        place,
        "sweep",
        title,
        legend(sweep_signs(curve)),
        figure(drawing, caption, sweep_table(curve)),
        short="Attributes",
    )


def folds_card(place: Place, view: RunView) -> Section | None:
    """Return the formula of each fold; of many folds, each different formula with how often it came out."""
    ideal = view.outcome.ideal
    if ideal is None or not view.fold_formulas:
        return None
    texts = Counter(formula.text for formula in view.fold_formulas)
    [(_, most)] = texts.most_common(1)
    folds = count(len(view.fold_formulas), "fold")
    different = f"{len(texts)} different formulas in {folds}" if len(texts) > 1 else f"The same formula in {folds}"
    often = f"; the most frequent came out {count(most, 'time')}" if 1 < most < len(view.fold_formulas) else ""
    shown = _by_fold(ideal) if len(ideal.folds) <= _MOST_FOLDS else _by_formula(ideal)
    return card(
        place,
        "folds",
        "The formula of each fold",
        element("p", f"{different}{often}. A fold's formula is learned without its test rows.", class_="note"),
        element("div", *shown, class_="folds"),
        short="Folds",
    )


def stability_card(place: Place, view: RunView) -> Section | None:
    """Return how often each attribute was chosen."""
    folds = view.fold_formulas
    chosen = Counter(name for formula in folds for name in formula.attributes)
    if not chosen:
        return None
    always = sum(times == len(folds) for times in chosen.values())
    listed = sorted(chosen.items(), key=lambda item: -item[1])
    intro = f"{count(len(chosen), 'attribute')} chosen in any of {count(len(folds), 'fold')}, {always} in all of them."
    rest = listed[_MOST_ATTRIBUTES:]
    return card(
        place,
        "stability",
        "How stable is the choice?",
        element("p", intro, class_="note"),
        _bars("Folds in which an attribute was chosen", listed[:_MOST_ATTRIBUTES], len(folds)),
        folded(f"{count(len(rest), 'more attribute')}", _bars("The other attributes", rest, len(folds)))
        if rest
        else None,
        short="Stability",
    )


def baselines_card(place: Place, view: RunView) -> Section | None:
    """Return what the other methods did fold by fold."""
    methods = [method for method in view.outcome.methods if method.folds]
    if len(methods) < 2:
        return None
    numbers = [fold.number for fold in methods[0].folds]
    by_number = [{fold.number: fold for fold in method.folds} for method in methods]
    rows = tuple((f"fold {n}", *(_accuracy(folds.get(n)) for folds in by_number)) for n in numbers)
    accuracies = Table("Accuracy in each fold, %", ("Fold", *(method.title for method in methods)), rows)
    return card(
        place,
        "methods",
        "The methods fold by fold",
        element(
            "div",
            folded("Accuracies", table(accuracies)),
            *(
                folded(f"{method.title}: what was chosen in each fold", table(_fold_facts(method)))
                for method in methods
                if any(fold.facts and not fold.formula for fold in method.folds)
            ),
            class_="folds",
        ),
        short="Methods",
    )


def certificate_card(place: Place, view: RunView) -> Section | None:
    """Return what the number of rows promises."""
    certificate: Mapping[str, Any] = (view.model or {}).get("certificate") or {}
    if not certificate:
        return None
    words: list[Child] = []
    # The intervals of the terms stand beside the formula's lines.
    known = {"rows", "delta", "epsilon", "chosen_on_the_same_rows", "terms"}
    if {"rows", "delta", "epsilon"} <= set(certificate) and certificate["epsilon"] is not None:
        words.append(
            element(
                "p",
                f"With {certificate['rows']:,} rows drawn independently and these attributes fixed beforehand, the "
                f"formula gives, with probability at least {100 * (1 - certificate['delta']):g} %, the best possible "
                "answer on every combination of attribute values for which positive and negative rows differ in "
                f"probability by at least {certificate['epsilon']:.3f} (the paper's theorem on sample sizes).",
            )
        )
    if certificate.get("chosen_on_the_same_rows"):
        words.append(
            element(
                "p",
                "The attributes were chosen on the same rows, which the theorem does not allow for: read it as an "
                "orientation, and the accuracy on rows not seen as the measurement.",
                class_="note",
            )
        )
    if "certified_mass_at_least" in certificate:
        known |= {"types", "types_seen", "types_certified", "certified_share", "certified_mass_at_least"}
        known |= {"excess_error_at_most"}
        words.insert(1, element("p", " ".join(certified_words(certificate))))
    more = {key.replace("_", " "): value for key, value in certificate.items() if key not in known}
    title = "What the number of rows promises"
    return card(place, "certificate", title, *words, facts("Certificate", more), short="Certificate")


def data_card(place: Place, view: RunView) -> Section:
    """Return the facts of the data."""
    outcome = view.outcome
    positive = f"{outcome.positive_rows:,} ({share(outcome.positive_rows / outcome.rows)})" if outcome.rows else "0"
    record: dict[str, object] = {
        "dataset": outcome.environment.get("dataset") or outcome.environment.get("data") or "not recorded",
        "target": (view.model or {}).get("target") or "not recorded",
        "predicted as positive": view.positive or "not recorded",
        "rows learned from and tested on": outcome.rows,
        "rows dropped for missing values": outcome.rows_dropped,
        "positive rows": positive,
        "columns": outcome.columns,
        "Boolean attributes made of them": outcome.attributes,
        "seed": "not recorded" if outcome.seed is None else str(outcome.seed),
    }
    return card(place, "data", "Data", facts("What was learned from", record))


def environment_card(place: Place, view: RunView) -> Section | None:
    """Return how long everything took and what it ran on."""
    outcome = view.outcome
    pieces = [facts("Timing, seconds", _named_times(outcome.timing)), facts("Environment", outcome.environment)]
    if not any(pieces):
        return None
    tables = element("div", *pieces, class_="panels")
    return card(place, "environment", "Timing and environment", tables, short="Environment")


def _named_times(timing: Mapping[str, Any]) -> dict[str, Any]:
    """Return times without the unit at the end of their names."""
    return {
        key.removesuffix("_s").replace("_", " "): _named_times(value) if isinstance(value, Mapping) else value
        for key, value in timing.items()
    }


def _by_fold(ideal: Method) -> list[Html]:
    listed = []
    for fold in ideal.folds:
        if fold.formula is None:
            continue
        formula = fold.formula
        tested = f"{share(fold.accuracy)} right" if fold.accuracy is not None else "not tested"
        size = f"{count(formula.terms, 'line')}, {count(formula.ell, 'attribute')}"
        by = f", by {rank_title(formula.rank)}" if formula.rank else ""
        listed.append(folded(_summary(f"Fold {fold.number}", f"{tested} · {size}{by}"), _fold_formula(fold)))
    return listed


def _by_formula(ideal: Method) -> list[Html]:
    groups: dict[str, list[Fold]] = {}
    for fold in ideal.folds:
        if fold.formula is not None:
            groups.setdefault(fold.formula.text, []).append(fold)
    listed = []
    for folds in sorted(groups.values(), key=len, reverse=True):
        accuracies = [fold.accuracy for fold in folds if fold.accuracy is not None]
        right = f"{share(sum(accuracies) / len(accuracies))} right on average" if accuracies else "not tested"
        formula = folds[0].formula
        size = f"{count(formula.terms, 'line')}, {count(formula.ell, 'attribute')}" if formula else ""
        listed.append(folded(_summary(f"In {count(len(folds), 'fold')}", f"{right} · {size}"), _fold_formula(folds[0])))
    return listed


def _summary(name: str, rest: str) -> Html:
    return join(element("span", name, class_="plain"), " · ", element("span", rest, class_="soft"))


def _fold_formula(fold: Fold) -> Html:
    assert fold.formula is not None
    reading = text_reading(fold.formula)
    return formula_list(reading) if reading else element("p", name_of(fold.formula.text))


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
                    element("rect", width=f"{100 * times / folds:.1f}%", height="100%", rx=3, class_="fill"),
                    class_="share",
                    aria_hidden="true",
                ),
                class_="share-cell",
            ),
        )
        for name, times in listed
    ]
    head = [
        element("th", words, scope="col", class_="text" if words == "Attribute" else None)
        for words in ("Attribute", "Folds", "Share")
    ]
    content = element(
        "table",
        element("caption", title),
        element("thead", element("tr", *head)),
        element("tbody", *rows),
        class_="bars",
    )
    return element("div", content, class_="scroll", tabindex=0, role="region", aria_label=title)


def _accuracy(fold: Fold | None) -> Figure | None:
    return None if fold is None or fold.accuracy is None else Figure(100 * fold.accuracy)


def _fold_facts(method: Method) -> Table:
    """Return what a method records of each fold, whatever it is, parameters as columns of their own."""
    records = [{**_spread(fold.facts), "accuracy": fold.accuracy} for fold in method.folds]
    keys = list(dict.fromkeys(key for record in records for key in record if key != "accuracy"))
    rows = tuple(
        (f"fold {fold.number}", _accuracy(fold), *(_fact(record.get(key)) for key in keys))
        for fold, record in zip(method.folds, records, strict=True)
    )
    return Table(f"{method.title}, fold by fold", ("Fold", "Accuracy, %", *(k.replace("_", " ") for k in keys)), rows)


def _spread(record: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in record.items():
        flat |= value if isinstance(value, Mapping) else {key: value}
    return flat


def _fact(value: object) -> str | int | Figure | None:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, int):
        return value
    return f"{value:.4g}" if isinstance(value, float) else str(value)
