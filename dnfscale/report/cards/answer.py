"""The answer of a run: the formula of all rows, or that of each label, how good it is, and how it
compares.
"""

from __future__ import annotations

from dnfscale.core.about import About
from dnfscale.report.cards.formula import (
    condition,
    evidence,
    exact_value,
    formula_list,
    negation_legend,
)
from dnfscale.report.formats import Figure, Table, amount_cell
from dnfscale.report.markup import Child, Html, element, join, name_of
from dnfscale.report.parts import Place, Section, card, figures, folded, table
from dnfscale.report.run import FormulaView, RunView
from dnfscale.report.wording import (
    accuracy_words,
    comparison_words,
    count,
    doubt_words,
    interval_words,
    left_out_words,
    length_bound,
    length_words,
    lines_words,
    objective_words,
    share,
    summary_words,
    tested_words,
    used_words,
)
from dnfscale.results.method import Method, Objective
from dnfscale.results.record import label_text
from dnfscale.results.result import Result
from dnfscale.spec.registry import BLACK_BOX

_SHOWN_LABELS = 4
"""Labels up to which all formulas are shown; those of more labels are folded."""


def answer_card(place: Place, view: RunView) -> Section:
    """Return the formula of all rows, or one for each label, how accurate it is, and how it
    compares.
    """
    if view.has_labels:
        return _labels_card(place, view)
    [formula] = view.formulas
    told = [_key_figures(view), *_compared(view)]
    # For a formula that explains a classifier, what matters first is how faithful it is.
    pieces = (
        [*told, *_formula(view, formula)] if formula.explains else [*_formula(view, formula), *told]
    )
    return card(
        place,
        "answer",
        "The formula",
        _used(view),
        _doubt(view),
        _refused(view),
        _weighted(view),
        _summary(view),
        *pieces,
        _measured_how(view),
        _dictionary(view),
        _definitions(formula),
        _truth_table(formula),
        class_="card answer",
    )


def _labels_card(place: Place, view: RunView) -> Section:
    target = element("strong", name_of(view.target)) if view.target else "the label"
    rule = (
        " with one formula for each label. A row gets the label whose formula holds for "
        "it; if several hold, or none, "
        f"the one that was the most probable among rows like it{_measured(view)}."
    )
    fold = len(view.formulas) > _SHOWN_LABELS
    shown = [_label_formula(place, formula, view, fold=fold) for formula in view.formulas]
    legends = [negation_legend(formula.reading) for formula in view.formulas if formula.reading]
    has_intervals = any(
        formula.reading and formula.reading.has_intervals for formula in view.formulas
    )
    return card(
        place,
        "answer",
        "The formulas",
        _used(view),
        _refused(view),
        _weighted(view),
        _summary(view),
        element("p", "Predict ", target, rule, class_="predict"),
        _key_figures(view),
        *_compared(view),
        _measured_how(view),
        _dictionary(view),
        element("div", *shown, class_="folds" if fold else None),
        next((legend for legend in legends if legend is not None), None),
        element("p", interval_words("the label", each="of one formula"), class_="note")
        if has_intervals
        else None,
        class_="card answer",
    )


def _measured(view: RunView) -> str:
    """Return a clause on what probabilities are relative to; empty if the threshold is the same for
    all labels.
    """
    thresholds = {formula.model.threshold for formula in view.formulas if formula.model is not None}
    return ", measured by the share from which its formula says yes" if len(thresholds) > 1 else ""


def _used(view: RunView) -> Html | None:
    """Say how many rows of the files were used, if not all."""
    data = view.result.data
    if not data.rows_dropped:
        return None
    used = used_words(data)
    return element("p", f"{used[0].upper()}{used[1:]}: {'; '.join(left_out_words(data))}.")


def _weighted(view: RunView) -> Html | None:
    """Say that shares are shares of weight, if rows have weights."""
    weight = view.result.data.weight
    if weight is None:
        return None
    words = (
        ": accuracies and all other shares are shares of weight, and numbers beside "
        "conditions are weights. Weighted "
        "rows give neither intervals nor a certificate."
    )
    return element(
        "p", "Rows are counted by their weight in ", name_of(weight.column), words, class_="note"
    )


def _doubt(view: RunView) -> Html | None:
    """Return a warning that the formula answers rows alike; None if it does not."""
    words = doubt_words(view.result)
    return None if words is None else element("p", words, class_="warning")


def _refused(view: RunView) -> Html | None:
    """Return a warning why the page does without the model file; None if it was read, or does not
    exist.
    """
    if view.refused is None:
        return None
    words = (
        f"{view.refused}. What follows is from result.json alone, without the cuts and "
        "counts of the model."
    )
    return element("p", element("strong", "model.json cannot be used: "), words, class_="warning")


def _label_formula(place: Place, formula: FormulaView, view: RunView, *, fold: bool) -> Html:
    """Return the formula of a label under its name as a heading, or folded under it."""
    what, _ = formula.said
    title, size = name_of(what or ""), _label_size(formula, view.result)
    is_label = formula.model is None or formula.model.answer
    otherwise = "another label" if is_label else "this label"
    content = [*_lines(formula, otherwise), _definitions(formula), _truth_table(formula)]
    if fold:
        name = element("span", title, class_="plain")
        return folded(join(name, " · ", element("span", size, class_="soft")), *content)
    heading = element(f"h{place.level + 1}", title)
    return element("div", heading, element("p", size, class_="note"), *content, class_="of-label")


def _label_size(formula: FormulaView, result: Result) -> str:
    own = next(
        (each for each in result.data.classes if label_text(each.label) == formula.label), None
    )
    learned = formula.learned
    sizes = [
        None
        if own is None
        else f"{count(own.rows, 'row')} ({share(result.label_share(own) or 0.0)})",
        count(learned.ell, "attribute") if learned else None,
        lines_words([learned]) if learned and learned.literals else None,
        length_words(learned),
    ]
    return " · ".join(filter(None, sizes))


def _summary(view: RunView) -> Html | None:
    """Return three sentences: the formula, how good it is, and how sure that is."""
    words = summary_words(view)
    return element("p", " ".join(words), class_="summary") if words else None


def _measured_how(view: RunView) -> Html | None:
    words = accuracy_words(view.result)
    return folded("How this was measured", element("p", " ".join(words))) if words else None


def _compared(view: RunView) -> list[Html]:
    compared = comparison_words(view.result)
    if not compared:
        return []
    return [
        element("p", "In the same folds:", class_="before"),
        element("ul", *(element("li", sentence) for sentence in compared), class_="words"),
    ]


def _formula(view: RunView, formula: FormulaView) -> list[Html]:
    what, otherwise = formula.said
    prediction = element("strong", name_of(what)) if what else element("strong", "positive")
    begin = "By this formula, the classifier answers " if formula.explains else "Predict "
    meaning = f" ({view.meaning})" if view.meaning and what == formula.positive else ""
    if formula.reading is None:
        text = formula.learned.formula if formula.learned else "no formula recorded"
        return [element("p", begin, prediction, meaning, " when ", name_of(text), class_="predict")]
    n_lines, constant = len(formula.reading.lines), formula.reading.constant
    when = "" if n_lines == 1 else f" when at least one of these {n_lines} lines holds:"
    if constant is not None:
        when = ": always." if constant else ": never."
    pieces = [
        element("p", begin, prediction, meaning, when, class_="predict"),
        *_lines(formula, otherwise),
    ]
    if formula.reading.has_intervals:
        pieces.append(
            element(
                "p",
                interval_words("yes answers" if formula.explains else "positives"),
                class_="note",
            )
        )
    if formula.reading.has_shares:
        words = (
            "All found are the rows for which some line holds; a row for which several do counts "
            "in each."
        )
        pieces.append(element("p", words, class_="note"))
    return pieces


def _lines(formula: FormulaView, otherwise: str) -> list[Html]:
    """Return the lines of a formula, and what is predicted if none of them holds."""
    reading = formula.reading
    if reading is None:
        return [
            element(
                "p", name_of(formula.learned.formula if formula.learned else "no formula recorded")
            )
        ]
    shown: list[Html | None] = [formula_list(reading, formula.counted)]
    if formula.label is None:
        shown.append(negation_legend(reading))
    if reading.constant is None:
        verb = "Otherwise " if formula.label is not None else "Otherwise predict "
        if formula.explains:
            verb = "Otherwise it answers "
        rest = element("span", verb, element("strong", otherwise), ".")
        shown.append(
            element("div", rest, evidence(reading.otherwise, formula.counted), class_="otherwise")
        )
    return [each for each in shown if each is not None]


def _key_figures(view: RunView) -> Html | None:
    result = view.result
    entries = [*_goodness(result), *_by_class(view)]
    learned = [formula.learned for formula in view.formulas if formula.learned]
    if learned:
        literals = sum(formula.literals for formula in learned)
        known = f"in {len(learned)} formulas" if view.has_labels else length_words(learned[0])
        size = ", ".join(filter(None, [count(literals, "condition"), known]))
        entries.append(("Length", lines_words(learned) if literals else "constant", size))
    positive = result.positive_share
    made_of = None if positive is None else f"{share(positive)} {view.formulas[0].counted}"
    if view.has_labels:
        made_of = f"{len(view.formulas)} labels"
    entries.append(("Rows", f"{result.data.rows:,}", made_of))
    return figures(entries)


def _learned_for(
    result: Result, ideal: Method, objective: Objective, reached: float
) -> tuple[str, Child, Child]:
    """Return how good formulas are at what they were learned for: of the length shown, if known."""
    point = ideal.shown_point
    if point is None or point.objective_mean is None:
        return "Learned for", share(reached), objective_words(objective)
    spread = _spread(result, ideal, point.objective_std)
    words = f"{objective_words(objective)}: {length_bound(point)}, {spread}"
    return "Learned for, on unseen rows", share(point.objective_mean), words


def _goodness(result: Result) -> list[tuple[str, Child, Child]]:
    """Return how good a formula is: faithful to the classifier that it explains, and accurate."""
    ideal = result.ideal
    if ideal is None:
        return []
    entries: list[tuple[str, Child, Child]] = []
    if ideal.fidelity_mean is not None:
        entries.append(
            (
                "Fidelity: answers as the classifier",
                share(ideal.fidelity_mean),
                _spread(result, ideal, ideal.fidelity_std),
            )
        )
    elif result.explains and ideal.training_accuracy is not None:
        entries.append(
            ("Fidelity, learning rows", share(ideal.training_accuracy), "not tested on others")
        )
    if ideal.accuracy_mean is not None:
        point = ideal.shown_point
        if ideal.objective is not None and ideal.objective.mean is not None:
            entries.append(_learned_for(result, ideal, ideal.objective, ideal.objective.mean))
        name = "Accuracy of the formula" if result.explains else "Accuracy on unseen rows"
        if point is not None:
            reached = share(point.accuracy_mean)
            spread = _spread(result, ideal, point.accuracy_std)
            entries.append((name, reached, f"{length_bound(point)}, {spread}"))
        else:
            reached = share(ideal.accuracy_mean)
            entries.append((name, reached, _spread(result, ideal, ideal.accuracy_std)))
    elif not result.explains and ideal.training_accuracy is not None:
        entries.append(
            ("Accuracy, learning rows", share(ideal.training_accuracy), "not tested on others")
        )
    box = result.methods.get(BLACK_BOX)
    if box is not None and box.accuracy_mean is not None:
        spread = _spread(result, box, box.accuracy_std)
        entries.append(("Accuracy of the classifier", share(box.accuracy_mean), spread))
    return entries


_OF_CLASSES = {
    "sensitivity": ("Sensitivity", "of the positives are found"),
    "specificity": ("Specificity", "of the negatives are cleared"),
    "ppv": ("Positive predictive value", "of the rows answered yes are positive"),
}


def _by_class(view: RunView) -> list[tuple[str, Child, Child]]:
    """Return how good formulas of the length shown are for each of two classes, on unseen rows."""
    ideal = view.result.ideal
    point = None if ideal is None or view.has_labels or view.result.explains else ideal.shown_point
    found = {} if point is None else point.metrics
    return [
        (title, share(value), words)
        for name, (title, words) in _OF_CLASSES.items()
        if (value := found.get(name)) is not None
    ]


def _spread(result: Result, method: Method, deviation: float | None) -> str:
    if deviation is None or not result.has_spread:
        return tested_words(result, method)
    return f"± {100 * deviation:.1f} over {count(len(method.folds), 'fold')}"


def _definitions(formula: FormulaView) -> Html | None:
    if formula.model is None:
        return None
    labels = formula.model.about.labels
    rows = tuple(
        (attribute.name, condition(attribute, labels), exact_value(attribute))
        for attribute in formula.model.tau.attributes
    )
    header = ("Attribute", "Holds when", "Exact value")
    note = element(
        "p",
        (
            "A condition on a value that is missing does not hold; its negation, such as ≤ or "
            "≠, then does."
        ),
        class_="note",
    )
    definitions = Table("The attributes that the formula may use, in rank order", header, rows)
    return folded("What each condition means exactly", table(definitions, wrap=True), note)


def dictionary_table(about: About) -> Table:
    """Return what people call the columns."""
    rows = tuple(
        (
            column,
            label.title,
            label.unit,
            ", ".join(f"{value} = {name}" for value, name in label.values.items()),
            label.note,
        )
        for column, label in about.labels.items()
    )
    return Table("The columns", ("Column", "Title", "Unit", "Values", "Note"), rows)


def _dictionary(view: RunView) -> Html | None:
    return (
        folded("What the columns are", table(dictionary_table(view.about), wrap=True))
        if view.about.labels
        else None
    )


def _truth_table(formula: FormulaView) -> Html | None:
    if formula.truth is None:
        return None
    accepted, rejected = formula.truth
    positive, negative = accepted.c + rejected.c, accepted.n - accepted.c + rejected.n - rejected.c
    yes, no, asked = "positive", "negative", "Row is"
    if formula.explains:
        yes, no, asked = "yes", "no", "Classifier answers"
    elif formula.label is not None:
        yes, no, asked = "of this label", "of another", "Row is"
    rows = (
        (yes, amount_cell(accepted.c), amount_cell(rejected.c), _rate(accepted.c, positive)),
        (
            no,
            amount_cell(accepted.n - accepted.c),
            amount_cell(rejected.n - rejected.c),
            _rate(rejected.n - rejected.c, negative),
        ),
    )
    header = (asked, "Formula holds", "Formula does not hold", "Right, %")
    if formula.model is not None and not formula.model.answer:
        header = (asked, "Formula says yes", "Formula says no", "Right, %")
    words = (
        "Counted on the rows the formula was learned from, so a little too favourable. The "
        "last column is the "
        "sensitivity (first line) and the specificity (second line)."
    )
    if formula.label is not None:
        words += (
            " This is the formula of this label by itself, before the labels are weighed "
            "against each other."
        )
    return folded(
        "What it gets right and wrong",
        table(Table("Rows learned from, by truth and by what the formula says", header, rows)),
        element("p", words, class_="note"),
    )


def _rate(part: float, whole: float) -> Figure | None:
    return Figure(100 * part / whole) if whole else None


def formula_markup(view: RunView) -> list[Html]:
    """Return the formula of a run, or one for each label under its heading: without what is known
    of how good it is.
    """
    if not view.has_labels:
        [formula] = view.formulas
        return _formula(view, formula)
    place = Place("", 3)
    return [_label_formula(place, each, view, fold=False) for each in view.formulas]
