"""The model card: what a model is for, how good it is, where it ends and how to make it again.

It is written as Markdown and shown on the page; every figure is one of the run's, and what the run
does not know is said to be unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dnfscale.core.quantities import Quantity
from dnfscale.core.weights import amount
from dnfscale.method.words import needs_note, said_number
from dnfscale.report.cards.answer import dictionary_table
from dnfscale.report.cards.certificate import certified_words, theorem_words
from dnfscale.report.cards.formula import Line
from dnfscale.report.formats import Cell, Table, markdown_text, to_markdown
from dnfscale.report.markup import Html, element
from dnfscale.report.measured import (
    interval_text,
    metric_heading,
    metric_text,
    round_share,
    slice_table,
)
from dnfscale.report.parts import Place, Section, table
from dnfscale.report.parts import card as page_card
from dnfscale.report.run import FormulaView, RunView
from dnfscale.report.wording import (
    accuracy_words,
    comparison_words,
    count,
    dealing_words,
    doubt_words,
    length_bound,
    length_words,
    share,
    summary_words,
)
from dnfscale.results.result import Result

Piece = str | tuple[str, ...] | Table
"""A paragraph, a list, or a table."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the card under its heading."""

    heading: str
    pieces: tuple[Piece, ...]
    on_page: bool = False
    """Whether the page says it nowhere else."""


def card_text(view: RunView) -> str:
    """Return the card of a run as Markdown."""
    title = view.about.title or view.label
    lines = [f"# {markdown_text(title)}", "", "A model card, written by dnfscale from the run."]
    for part in card_parts(view):
        lines += ["", f"## {part.heading}"]
        for piece in part.pieces:
            lines += ["", _markdown(piece).rstrip("\n")]
    return "\n".join(lines) + "\n"


def card_section(place: Place, view: RunView) -> Section:
    """Return what of the card the page does not say elsewhere."""
    pieces: list[Html] = []
    for part in card_parts(view):
        if part.on_page:
            pieces.append(element(f"h{place.level + 1}", part.heading))
            pieces += map(_html, part.pieces)
    return page_card(place, "card", "Model card", *pieces)


def card_parts(view: RunView) -> tuple[Part, ...]:
    """Return the parts of the card."""
    parts = (
        Part("What it is for", tuple(_purpose(view)), on_page=True),
        Part("In short", (" ".join(summary_words(view)),)),
        Part("The formula", tuple(_formulas(view))),
        Part("The data", tuple(_data(view))),
        Part("On unseen rows", tuple(_figures(view))),
        Part("Slices", tuple(_slices(view.result)), on_page=not _has_slices(view.result)),
        Part("Limits", (tuple(_limits(view)),), on_page=True),
        Part("Certificate", tuple(_certificate(view))),
        Part("How to reproduce it", tuple(_again(view)), on_page=True),
    )
    return tuple(part for part in parts if any(part.pieces))


def _purpose(view: RunView) -> Iterator[Piece]:
    yield view.about.description or ("No purpose is recorded: set description in the job's spec.")


def _formulas(view: RunView) -> Iterator[Piece]:
    for formula in view.formulas:
        what, otherwise = formula.said
        name = what or "positive"
        begin = "The classifier answers" if formula.explains else "Predict"
        if formula.reading is None:
            recorded = formula.learned.formula if formula.learned else "no formula recorded"
            yield f"{begin} {name} when {recorded}."
            continue
        if formula.reading.constant is not None:
            yield f"{begin} {name}: {'always' if formula.reading.constant else 'never'}."
            continue
        several = len(formula.reading.lines) > 1
        yield f"{begin} {name} when {'at least one of these lines' if several else 'this'} holds:"
        yield tuple(_line_text(line, formula) for line in formula.reading.lines)
        yield f"Otherwise: {otherwise}."


def _line_text(line: Line, formula: FormulaView) -> str:
    texts = [asked.text for asked in line.conditions]
    words = " and ".join(texts)
    if line.at_least is not None:
        words = f"at least {line.at_least} of: {', '.join(texts)}"
    if line.support is None or not line.support.n:
        return words
    n, part = line.support.n, line.support.c / line.support.n
    rows = f"weight {amount(n)}" if line.support.weighted else f"{amount(n)} rows"
    return f"{words} ({rows}, {round_share(part)} {formula.counted})"


def _data(view: RunView) -> Iterator[Piece]:
    result, data = view.result, view.result.data
    dataset = result.environment.dataset or "not recorded"
    words = f"Dataset {dataset}: {count(data.rows, 'row')}, {count(data.columns, 'column')}"
    positive = result.positive_share
    if positive is not None:
        words += f", {share(positive)} {view.formulas[0].counted}"
    if view.target is not None and not result.explains:
        words += f". The target is {view.target}"
    yield f"{words}."
    if view.about.labels:
        yield dictionary_table(view.about)
    seen = _seen_table(view)
    if seen is not None:
        yield seen


def _seen_table(view: RunView) -> Table | None:
    """Return what the rows learned from held in the columns of the formulas."""
    found = {
        column.name: column
        for formula in view.formulas
        if formula.model is not None
        for column in formula.model.seen or ()
    }
    rows: list[tuple[Cell, ...]] = []
    for name, column in found.items():
        if column.values is not None:
            more = f", and {column.unlisted} rarer" if column.unlisted else ""
            held = ", ".join(map(str, column.values)) + more
        elif column.least is None:
            held = "not recorded"
        else:
            held = " to ".join(map(_end_text, (column.least, column.greatest)))
        rows.append((name, held, f"{100 * column.missing:.1f}"))
    header = ("Column", "Values", "Missing, %")
    return Table("What the rows learned from held", header, tuple(rows)) if rows else None


def _end_text(end: int | float | Quantity | None) -> str:
    return "none" if end is None else said_number(end)


def _figures(view: RunView) -> Iterator[Piece]:
    result, ideal = view.result, view.result.ideal
    yield " ".join(accuracy_words(result)) or "Nothing was measured."
    if ideal is None or not ideal.metrics:
        return
    point = ideal.shown_point
    shown = {} if point is None else point.metrics
    rows = []
    for name, metric in ideal.metrics.items():
        ends = None
        if metric.low is not None and metric.high is not None:
            ends = metric.low, metric.high
        own = [metric_text(name, shown.get(name))] if point is not None else []
        own = ["" if text == "none" else text for text in own]
        pooled = metric_text(name, metric.pooled)
        rows.append(
            (metric_heading(name).removesuffix(", %"), *own, pooled, interval_text(name, ends))
        )
    sized = () if point is None else (_capital(length_bound(point)),)
    header = ("Metric", *sized, "The procedure", "The procedure, 95 % interval")
    yield Table("On the test rows of all folds together", header, tuple(rows))
    compared = tuple(comparison_words(result))
    if compared:
        yield "In the same folds:"
        yield compared


def _has_slices(result: Result) -> bool:
    return result.ideal is not None and bool(result.ideal.slices)


def _slices(result: Result) -> Iterator[Piece]:
    if result.ideal is not None and result.ideal.slices:
        yield "The test rows of all folds together, by the values of columns:"
        for part in result.ideal.slices:
            yield slice_table(part, result.data.weight)
        return
    yield (
        "This run did not measure any. dnfscale evaluate MODEL DATA --slices COLUMN gives the "
        "same figures for each value of a column."
    )


def _limits(view: RunView) -> Iterator[str]:
    result, ideal = view.result, view.result.ideal
    doubt = doubt_words(result)
    if doubt is not None:
        yield doubt
    if ideal is None or (ideal.accuracy_mean is None and ideal.fidelity_mean is None):
        yield "It was not tested, so how well it does on new rows is not known."
    else:
        yield f"Figures are for rows like those tested: {_tested_how(result)}."
    if result.data.rows_dropped:
        yield (
            f"{count(result.data.rows_dropped, 'row')} with missing values were left out, of "
            f"{result.data.rows + result.data.rows_dropped:,}: the formula was neither learned "
            "from such rows nor tested on them."
        )
    models = [formula.model for formula in view.formulas if formula.model is not None]
    if any(map(needs_note, models)):
        yield "Where a value is missing, conditions with ≤ alone, ≠ or «not» hold, no others."
    if any(model.seen for model in models):
        yield "Values outside those seen in training get an answer too, without evidence for it."
    sizes = [words for formula in view.formulas if (words := length_words(formula.learned))]
    if sizes and set(sizes) != {"proven shortest"}:
        said = ", ".join(dict.fromkeys(words for words in sizes if words != "proven shortest"))
        yield f"The formula is {said}; another that answers alike may be shorter."
    if result.data.weight is not None:
        yield "Rows are weighted, so no intervals and no certificate are given."
    certificates = [formula.certificate for formula in view.formulas]
    if any(own is not None and own.chosen_on_the_same_rows for own in certificates):
        yield ("Figures on the rows that a formula was chosen on are a little too favourable.")
    yield "It describes what goes together in these rows, not what causes what."


def _tested_how(result: Result) -> str:
    dealing = result.data.dealing
    if dealing is not None:
        return dealing_words(dealing)
    return "rows were dealt into folds at random, so no other place and no later time was tested"


def _certificate(view: RunView) -> Iterator[Piece]:
    for formula in view.formulas:
        certified = formula.certificate
        if certified is None:
            continue
        name = f"{formula.label}: " if formula.label is not None else ""
        if certified.chosen_on_the_same_rows:
            name += (
                f"No guarantee, because the {certified.told_by} were chosen by looking at the same "
                "rows. "
            )
        words = [*certified_words(certified), theorem_words(certified)]
        told = " ".join(text for text in words if text)
        if told:
            yield f"{name}{told}"


def _again(view: RunView) -> Iterator[Piece]:
    result = view.result
    environment = result.environment
    version = environment.dnfscale or "a version that is not recorded"
    seed = "no recorded seed" if result.seed is None else f"seed {result.seed}"
    yield (
        f"dnfscale {version}, profile {result.profile}, {seed}: dnfscale run RUN/spec.toml, where "
        "RUN is the folder of this run, gives the same formula and the same figures, whatever the "
        "cluster. model.json is the model; dnfscale predict, explain, evaluate and export use it."
    )
    if environment.packages:
        versions = sorted(environment.packages.items())
        python = f"Python {environment.python}" if environment.python else "Python"
        yield f"{python}, " + ", ".join(f"{name} {number}" for name, number in versions) + "."


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]


def _markdown(piece: Piece) -> str:
    if isinstance(piece, Table):
        return to_markdown(piece)
    if isinstance(piece, tuple):
        return "\n".join(f"- {markdown_text(item)}" for item in piece)
    return markdown_text(piece)


def _html(piece: Piece) -> Html:
    if isinstance(piece, Table):
        return table(piece, wrap=True)
    if isinstance(piece, tuple):
        return element("ul", *(element("li", item) for item in piece), class_="words")
    return element("p", piece)
