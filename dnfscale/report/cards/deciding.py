"""How a row is decided, by two examples: the most frequent type that the formula accepts, and the
one it rejects.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from dnfscale.core.arrays import Bools
from dnfscale.core.model import Model
from dnfscale.core.weights import as_weight
from dnfscale.method.explain import (
    DELTA,
    Explanation,
    SignsShare,
    answer_type,
    explain_types,
    moved_columns,
    signs_table,
)
from dnfscale.method.literals import Line, Said, Scales
from dnfscale.method.narrate import count_words, held_words, lines_that_hold, signs_found
from dnfscale.method.words import model_lines, state_of
from dnfscale.report.cards.formula import Labels, chip, conditions
from dnfscale.report.formats import Figure, Table, amount_cell
from dnfscale.report.markup import Child, Html, element, join, name_of
from dnfscale.report.parts import Place, Section, card, folded, table
from dnfscale.report.run import FormulaView, RunView
from dnfscale.report.wording import count, share

_SHOWN_PATTERNS = 8
"""The most patterns of lines that are shown."""
_SHOWN_LINES = 6
"""The most lines that are shown without unfolding the rest."""


def deciding_card(place: Place, view: RunView) -> Section | None:
    """Return the examples; None for a formula that always gives the same answer, and for a model
    without counts.

    None also for several labels: a row's label depends on its types in all formulas, and a model
    counts only its own.
    """
    formula = view.formulas[0]
    model = formula.model
    if (
        view.has_labels
        or model is None
        or formula.reading is None
        or formula.reading.constant is not None
    ):
        return None
    if model.types == "lines":
        return _patterns(place, formula, model)
    if model.types == "signs":
        return _signs(place, formula, model)
    accepted = model.dnf.accepts(model.counts.codes)
    typical = [
        code
        for code in (_most_frequent(model, accepted), _most_frequent(model, ~accepted))
        if code is not None
    ]
    examples = [
        _Example(place, formula, model, each) for each in explain_types(model, typical).values()
    ]
    if not examples:
        return None
    ell = len(model.tau)
    intro = (
        f"The formula looks at {count(ell, 'attribute')} of a row and at nothing else; "
        "rows that agree in "
        f"{'it' if ell == 1 else 'them'} get the same answer. These are the most frequent "
        "combinations."
    )
    return card(
        place,
        "deciding",
        "How a row is decided",
        element("p", intro, class_="note"),
        element("div", *(example.html() for example in examples), class_="panels"),
        short="Examples",
        class_="card screen",
    )


def _patterns(place: Place, formula: FormulaView, model: Model) -> Section | None:
    """Return which lines hold together most often; None without counts.

    Of the attributes, of which rows may have any number of combinations, nothing was counted.
    """
    counts = model.counts
    if not len(counts.codes):
        return None
    frequent = np.argsort(-counts.n, kind="stable")[:_SHOWN_PATTERNS]
    rows = tuple(
        (
            _capital(held_words(type_)),
            "yes" if answer_type(model, type_).accepted else "no",
            amount_cell(as_weight(n, model.unit)),
            Figure(100 * c / n) if n else None,
        )
        for type_, n, c in (
            (int(counts.codes[i]), int(counts.n[i]), int(counts.c[i])) for i in frequent
        )
    )
    intro = (
        "The answer depends on which lines hold, and on nothing else. These are the most frequent "
        f"of {count(len(counts.codes), 'combination')} on the rows learned from."
    )
    counted = "Weight" if model.weighted else "Rows"
    header = ("Lines", "Answer", counted, f"{_capital(formula.counted)}, %")
    return card(
        place,
        "deciding",
        "How a row is decided",
        element("p", intro, class_="note"),
        table(Table("Rows by the lines that hold for them", header, rows), wrap=True),
        short="Examples",
        class_="card screen",
    )


def _signs(place: Place, formula: FormulaView, model: Model) -> Section | None:
    """Return the rows by how many signs they have; None without counts."""
    if not len(model.counts.codes):
        return None
    rows = tuple(
        (
            str(each.signs),
            "yes" if each.accepted else "no",
            amount_cell(as_weight(each.n, model.unit)),
            Figure(100 * each.c / each.n) if each.n else None,
            *([] if model.weighted else [_interval(each) if each.n else None]),
        )
        for each in signs_table(model)
    )
    [checklist] = model.dnf.terms
    intro = (
        f"The answer depends on how many of the {len(model.tau)} signs hold, and on nothing else: "
        f"from {checklist.at_least} on it is yes. The table shows how many of the rows learned "
        f"from were {formula.counted}."
    )
    counted = "Weight" if model.weighted else "Rows"
    header = ("Signs", "Answer", counted, f"{_capital(formula.counted)}, %")
    shown = [table(Table("Rows by the number of signs", _with_interval(header, model), rows))]
    if not model.weighted:
        note = (
            f"With probability {100 * (1 - DELTA):g} % all intervals hold together for new cases "
            "from the same source, if the signs had been chosen on other rows; these rows chose "
            "them, so they are a little optimistic."
        )
        shown.append(element("p", note, class_="note"))
    return card(
        place,
        "deciding",
        "How a row is decided",
        element("p", intro, class_="note"),
        *shown,
        short="Signs",
        class_="card screen",
    )


def _with_interval(header: tuple[str, ...], model: Model) -> tuple[str, ...]:
    return header if model.weighted else (*header, "Interval, %")


def _interval(each: SignsShare) -> str:
    """Write an interval in percent; rounding must not narrow it."""
    assert each.low is not None
    assert each.high is not None
    return f"{math.floor(1000 * each.low) / 10:.1f} to {math.ceil(1000 * each.high) / 10:.1f}"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


class _Example:
    """One type, explained from its conditions to the smallest change that would turn its answer."""

    def __init__(
        self, place: Place, formula: FormulaView, model: Model, explanation: Explanation
    ) -> None:
        self._place, self._formula, self._model, self._explanation = (
            place,
            formula,
            model,
            explanation,
        )
        self._written = model_lines(model)

    def html(self) -> Html:
        explanation = self._explanation
        answer = (
            (self._formula.positive or "positive")
            if explanation.accepted
            else self._formula.negative
        )
        title = (
            "A row that the formula accepts" if explanation.accepted else "A row that it rejects"
        )
        return element(
            "div",
            element(f"h{self._place.level + 1}", title),
            element("p", self._chips(state_of(self._model.tau, explanation.code)), class_="term"),
            element(
                "p", "The answer is ", element("strong", name_of(answer)), f", {self._because()}"
            ),
            *self._lines(),
            element("p", self._rows(explanation.n, explanation.c, "like this one")),
            *self._way_out(),
        )

    def _chips(self, said: Iterable[Said]) -> Html:
        return _chips(said, self._model.about.labels)

    def _because(self) -> str:
        n_lines = len(self._written)
        held = len(lines_that_hold(self._written, self._explanation))
        if not held:
            return (
                "because the only line fails:"
                if n_lines == 1
                else f"because all {n_lines:,} lines fail:"
            )
        if n_lines == 1:
            return "because the only line holds:"
        return "because one line holds:" if held == 1 else f"because {held:,} lines hold:"

    def _lines(self) -> list[Html]:
        """Return the lines that hold; if none does, the first condition of each line that fails."""
        explanation = self._explanation
        if explanation.accepted:
            held = lines_that_hold(self._written, explanation)
            return _listed([self._holding(self._written[number]) for number in held])
        return _listed([self._failing(line) for line in self._written])

    def _holding(self, line: Line) -> Html:
        if line.at_least is not None:
            return element("span", signs_found(line, self._explanation.code))
        return self._chips(line.literals)

    def _failing(self, line: Line) -> Html:
        """Return the first condition of a line that does not hold, and how its column is."""
        if line.at_least is not None:
            return element("span", signs_found(line, self._explanation.code))
        tau, code = self._model.tau, self._explanation.code
        asked = Scales(tau.attributes).failing(line, code)
        columns = {said.column for said in asked}
        return join(self._chips(asked), " is not so: ", self._chips(state_of(tau, code, columns)))

    def _way_out(self) -> list[Html]:
        flip = self._explanation.flip
        if flip is None:
            return [element("p", "No change would turn the answer.")]
        after = state_of(self._model.tau, flip.code, moved_columns(self._model, flip))
        return [
            element("p", "The smallest change that would turn the answer:", class_="before"),
            element("p", self._chips(after), class_="term"),
            element("p", self._rows(flip.n, flip.c, "like that"), class_="note"),
        ]

    def _rows(self, n: int, c: int, alike: str) -> str:
        model = self._model
        if model.weighted:
            held = (
                f"Rows {alike} weigh {count_words(model, n)} of "
                f"{count_words(model, model.counts.n_rows)} learned from"
            )
            return f"{held}; {share(c / n)} {self._formula.counted}." if n else f"{held}."
        of = f"of the {count_words(model, model.counts.n_rows)} rows learned from"
        if not n:
            return f"None {of} is {alike}."
        are = "is" if n == model.unit else "are"
        return (
            f"{count_words(model, n)} {of} {are} {alike}; {share(c / n)} {self._formula.counted}."
        )


def _chips(said: Iterable[Said], labels: Labels) -> Html:
    pieces: list[Child] = []
    for asked in conditions(said, labels):
        pieces += [Html(' <span class="and">and</span> ')] if pieces else []
        pieces.append(chip(asked))
    return join(*pieces)


def _most_frequent(model: Model, chosen: Bools) -> int | None:
    rows = np.where(chosen, model.counts.n, 0)
    return int(model.counts.codes[np.argmax(rows)]) if rows.any() else None


def _listed(lines: list[Html]) -> list[Html]:
    items = [element("li", line) for line in lines]
    shown = [element("ul", *items[:_SHOWN_LINES], class_="reasons")]
    rest = items[_SHOWN_LINES:]
    return (
        [*shown, folded(count(len(rest), "more line"), element("ul", *rest, class_="reasons"))]
        if rest
        else shown
    )
