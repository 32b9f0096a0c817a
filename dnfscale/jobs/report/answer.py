"""The answer of a run: the formula of all rows, how accurate it is, and how it compares."""

from __future__ import annotations

from dnfscale.experiment.formats import Figure, Table
from dnfscale.jobs.report.formula import condition, evidence, formula_list
from dnfscale.jobs.report.markup import Child, Html, element, name_of
from dnfscale.jobs.report.parts import Place, Section, card, figures, folded, table
from dnfscale.jobs.report.run import RunView
from dnfscale.jobs.report.wording import accuracy_words, comparison_words, count, interval_words, length_words, share


def answer_card(place: Place, view: RunView) -> Section:
    """Return the formula of all rows, how accurate it is, and how it compares."""
    compared = comparison_words(view.outcome)
    return card(
        place,
        "answer",
        "The formula",
        *_formula(view),
        _key_figures(view),
        element("p", " ".join(accuracy_words(view.outcome)), class_="say"),
        element("p", "In the same folds:", class_="before") if compared else None,
        element("ul", *(element("li", sentence) for sentence in compared), class_="words") if compared else None,
        _definitions(view),
        _truth_table(view),
        class_="card answer",
    )


def _formula(view: RunView) -> list[Html]:
    what = view.positive
    prediction = element("strong", name_of(what)) if what else element("strong", "positive")
    meaning = f" ({view.meaning})" if view.meaning else ""
    if view.reading is None:
        text = view.formula.text if view.formula else "no formula recorded"
        return [element("p", "Predict ", prediction, meaning, " when ", name_of(text), class_="predict")]
    n_lines, constant = len(view.reading.lines), view.reading.constant
    when = "" if n_lines == 1 else f" when at least one of these {n_lines} lines holds:"
    if constant is not None:
        when = ": always." if constant else ": never."
    pieces = [element("p", "Predict ", prediction, meaning, when, class_="predict"), formula_list(view.reading)]
    if constant is None:
        otherwise = element("span", "Otherwise predict ", element("strong", view.negative), ".")
        pieces.append(element("div", otherwise, evidence(view.reading.otherwise), class_="otherwise"))
    if view.reading.has_intervals:
        pieces.append(element("p", interval_words(), class_="note"))
    return pieces


def _key_figures(view: RunView) -> Html | None:
    outcome, formula = view.outcome, view.formula
    entries: list[tuple[str, Child, Child]] = []
    ideal = outcome.ideal
    if ideal and ideal.accuracy_mean is not None:
        deviation = outcome.deviation(ideal)
        spread = f"± {100 * deviation:.1f} over {count(len(ideal.folds), 'fold')}" if deviation is not None else None
        note = spread or f"{count(len(ideal.folds), 'row')} left out in turn"
        entries.append(("Accuracy on unseen rows", share(ideal.accuracy_mean), note))
    elif ideal and ideal.training_accuracy is not None:
        entries.append(("Accuracy, learning rows", share(ideal.training_accuracy), "not tested on others"))
    if formula:
        average = f"{ideal.ell_mean:.1f} on average over folds" if ideal and ideal.folds and ideal.ell_mean else None
        entries.append(("Attributes chosen", f"{formula.ell}", average))
        size = ", ".join(filter(None, [count(formula.literals, "condition"), length_words(view)]))
        entries.append(("Length", count(formula.terms, "line") if formula.literals else "constant", size))
    positive = f"{share(outcome.positive_rows / outcome.rows)} positive" if outcome.rows else None
    dropped = f"{outcome.rows_dropped:,} more dropped: values missing" if outcome.rows_dropped else None
    entries.append(("Rows", f"{outcome.rows:,}", dropped or positive))
    return figures(entries)


def _definitions(view: RunView) -> Html | None:
    attributes = (view.model or {}).get("attributes")
    if not attributes:
        return None
    rows = []
    for attribute in attributes:
        asked = condition(attribute, True)
        exact = attribute.get("value")
        text = " ".join(part for part in (asked.name, asked.sign, asked.value) if part)
        rows.append((str(attribute["name"]), text, "" if exact is None else str(exact)))
    header = ("Attribute", "Holds when", "Exact value")
    note = element("p", "A condition on a value that is missing does not hold; ≤ and ≠ then do.", class_="note")
    definitions = Table("The attributes that the formula may use, in rank order", header, tuple(rows))
    return folded("What each condition means exactly", table(definitions, wrap=True), note)


def _truth_table(view: RunView) -> Html | None:
    if view.truth is None:
        return None
    accepted, rejected = view.truth
    positive, negative = accepted.c + rejected.c, accepted.n - accepted.c + rejected.n - rejected.c
    rows = (
        ("positive", accepted.c, rejected.c, _rate(accepted.c, positive)),
        ("negative", accepted.n - accepted.c, rejected.n - rejected.c, _rate(rejected.n - rejected.c, negative)),
    )
    header = ("Row is", "Predicted positive", "Predicted negative", "Right, %")
    words = (
        "Counted on the rows the formula was learned from, so a little too favourable. The last column is the "
        "sensitivity (first line) and the specificity (second line)."
    )
    return folded(
        "What it gets right and wrong",
        table(Table("Rows learned from, by truth and prediction", header, rows)),
        element("p", words, class_="note"),
    )


def _rate(part: int, whole: int) -> Figure | None:
    return Figure(100 * part / whole) if whole else None
