"""Several labels on the page: the test rows of each label by answer, and the attributes of each
label's formula.
"""

from __future__ import annotations

from collections import Counter

from dnfscale.core.weights import amount
from dnfscale.report.charts import percent, svg, text
from dnfscale.report.formats import Table
from dnfscale.report.markup import Html, element, name_of
from dnfscale.report.parts import Place, Section, card, folded, table
from dnfscale.report.run import RunView
from dnfscale.report.shaded import Cell, Labels, shade, shaded_table, shortened
from dnfscale.report.tables import label_table
from dnfscale.report.wording import count, share, stability_sentence
from dnfscale.results.confusion import LabelConfusion

_MOST_ATTRIBUTES = 12
"""The most attributes of the stability table that are shown without unfolding it."""
_LEFT, _TOP, _CELL = 30.0, 54.0, 30.0
"""Where the cells of the drawing begin, in percent of its width and in pixels from the top; the
height of a cell.
"""


_ONE_LABEL = (
    "Formulas of every length, and what comes of acting from one probability on or another, are on "
    "the page of a run that tells one label from the others: set data.positive to the label, and "
    "leave out data.classes."
)


def confusion_card(place: Place, view: RunView) -> Section | None:
    """Return which labels the test rows were given, and each label's recall and precision; None if
    not recorded.
    """
    confusion = view.result.confusion
    if confusion is None:
        return None
    tested = sum(confusion.of(i) for i in range(len(confusion.labels)))
    right = sum(confusion.rows[i][i] for i in range(len(confusion.labels)))
    rows_told = f"{amount(tested)} test row{'s' * (tested != 1)}"
    intro = (
        f"The {rows_told} of all folds, each predicted by formulas that were learned "
        f"without it: {amount(right)} right "
        f"({share(right / (tested or 1))}). A line holds the rows of one label, a column "
        "those that were given one; "
        "what is right stands on the diagonal. The darker a cell, the more of its line is in it."
    )
    words = (
        "Recall: of the rows of the label, how many were given it. Precision: of the rows "
        "that were given the label, "
        "how many have it."
    )
    by_label = label_table([view.result])
    rows = tuple(
        tuple(shortened(cell) if isinstance(cell, str) else cell for cell in row)
        for row in by_label.rows
    )
    own = Table(by_label.title, by_label.header[1:], tuple(row[1:] for row in rows))
    return card(
        place,
        "confusion",
        "Which labels are taken for which?",
        element("p", intro, class_="note"),
        _matrix(confusion),
        table(own, wrap=True),
        element("p", words, class_="note"),
        element("p", _ONE_LABEL, class_="note"),
        short="Confusion",
    )


def confusion_chart(key: str, confusion: LabelConfusion) -> Html:
    """Draw a confusion matrix."""
    labels = Labels(confusion.labels)
    k = len(confusion.labels)
    width = (100 - _LEFT) / k
    drawn = [
        text("label", _LEFT - 1.5, _TOP - 12, anchor="end", class_="tick"),
        text("answer", _LEFT, 14, class_="tick"),
    ]
    for i, name in enumerate(confusion.labels):
        y = _TOP + i * _CELL
        number = f"{i + 1} " if labels.are_numbered else ""
        drawn.append(
            text(f"{number}{name}", _LEFT - 1.5, y + 19, anchor="end", class_="name", widest=26)
        )
        head = f"{i + 1}" if labels.are_numbered else name
        drawn.append(
            text(head, _LEFT + (i + 0.5) * width, _TOP - 12, anchor="middle", class_="tick")
        )
        for j, cell in enumerate(_cells(confusion, i)):
            x = _LEFT + j * width
            box = element(
                "rect",
                x=percent(x),
                y=y,
                width=percent(width),
                height=_CELL,
                class_=f"cell {cell.shade or ''}".strip(),
            )
            figure = text(cell.text, x + width / 2, y + 19, anchor="middle", class_="figure")
            drawn += [box, figure]
    description = "; ".join(
        f"{name}: "
        + ", ".join(f"{n} given {given}" for given, n in zip(confusion.labels, row, strict=True))
        for name, row in zip(confusion.labels, confusion.rows, strict=True)
    )
    return svg(key, "Test rows by label and answer", description, _TOP + k * _CELL + 6, *drawn)


def labels_stability_card(place: Place, view: RunView) -> Section | None:
    """Return how often the formula of each label chose each attribute; None if no folds are
    recorded.
    """
    chosen = [
        Counter(name for fold in formula.folds for name in fold.attribute_names)
        for formula in view.formulas
    ]
    total = sum(chosen, Counter[str]())
    folds = max(len(formula.folds) for formula in view.formulas)
    if not total:
        return None
    names = sorted(total, key=lambda name: -total[name])
    labels = Labels(tuple(formula.label or "" for formula in view.formulas))
    rows = [(name_of(name), [_times(counter[name], folds) for counter in chosen]) for name in names]
    head = ["Attribute", *(labels.column(i) for i in range(len(labels.names)))]
    intro = (
        f"{count(len(names), 'attribute')} chosen for any label in any of "
        f"{count(folds, 'fold')}. A cell says in how "
        "many folds the formula of the label chose the attribute; an empty one, in none."
        + stability_sentence(view.result.ideal)
    )
    key = _numbers(labels)
    shown, rest = rows[:_MOST_ATTRIBUTES], rows[_MOST_ATTRIBUTES:]
    title = f"Folds, of {folds}, in which an attribute was chosen, by label"
    more = folded(
        count(len(rest), "more attribute"),
        shaded_table("The other attributes, by label", head, rest),
    )
    return card(
        place,
        "stability",
        "How stable is the choice?",
        element("p", intro, class_="note"),
        key,
        shaded_table(title, head, shown),
        more if rest else None,
        short="Stability",
    )


def _matrix(confusion: LabelConfusion) -> Html:
    labels = Labels(confusion.labels)
    k = len(confusion.labels)
    head = ["Label", *(labels.column(j) for j in range(k))]
    rows = [(labels.row(i), _cells(confusion, i)) for i in range(k)]
    return shaded_table("Test rows: lines by label, columns by answer", head, rows)


def _cells(confusion: LabelConfusion, label: int) -> list[Cell]:
    rows = confusion.of(label) or 1
    return [
        Cell(amount(n), shade("hit" if given == label else "miss", n / rows))
        for given, n in enumerate(confusion.rows[label])
    ]


def _times(times: int, folds: int) -> Cell:
    return Cell(f"{times:,}" if times else "", shade("hit", times / folds))


def _numbers(labels: Labels) -> Html | None:
    """Return which label each column's number stands for; None if columns are headed by names."""
    if not labels.are_numbered:
        return None
    items = [
        element("li", element("span", f"{i + 1} ", class_="number"), name_of(shortened(name)))
        for i, name in enumerate(labels.names)
    ]
    return element("ul", *items, class_="legend")
