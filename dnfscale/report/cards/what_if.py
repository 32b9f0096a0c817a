"""What if: a form with the columns of a formula, and all that the page's script needs to answer for
any values in it as `predict` and `explain` do.

A field is a number to type, or a list to choose from; what each choice makes of the attributes is
worked out here, so that the script compares nothing but numbers. Where a column holds dates, times,
decimals or very large numbers, the choices are the regions that the formula tells apart.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from dnfscale.core.about import Label
from dnfscale.core.arrays import Scalar
from dnfscale.core.concepts import Concept, Figure
from dnfscale.core.model import Model
from dnfscale.core.parts import ColumnName, Part, stored_column
from dnfscale.core.seen import SeenColumn
from dnfscale.core.vocabulary import (
    Above,
    Attribute,
    Between,
    Equals,
    IsIn,
    IsMissing,
    IsTrue,
    Vocabulary,
    cuts_of,
    values_of,
)
from dnfscale.errors import visible
from dnfscale.method.literals import Line, Said, Scales
from dnfscale.method.minimize.possible import row_states, seen_states
from dnfscale.method.words import concept_text, model_lines, number_text, state_of
from dnfscale.report.cards.formula import SHOWN, Labels, chip, conditions
from dnfscale.report.markup import Child, Html, element, join, name_of
from dnfscale.report.parts import Place, Section, card
from dnfscale.report.run import FormulaView, RunView

_MOST_TYPES = 20_000
"""The most counted types of all formulas that a page carries: about half a megabyte."""
_MOST_CHOICES = 100
"""The most values of a column that a list offers besides those that the formula names."""
_TICKED = "A sign of the checklist can also be ticked: its column then gets a value that fits. "
_SAFE = 1 << 53
"""Up to here a script tells whole numbers apart."""


@dataclass(frozen=True, slots=True)
class Option:
    """A choice of a field."""

    text: str
    bits: tuple[int, ...]
    """For each formula, the attributes of the column that hold."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column of the dataset that formulas ask about."""

    column: str
    asked: tuple[tuple[int, int, Attribute], ...]
    """(formula, bit, attribute)"""
    options: tuple[Option, ...] | None
    """None for a number to type."""
    label: str = ""
    """What people call it."""
    extent: tuple[int | float, int | float] | None = None
    """The ends of a number in the rows learned from, if the model says them."""


def what_if_card(place: Place, view: RunView) -> Section | None:
    """Return the form; None without a model, and for formulas that always answer alike."""
    formulas = [formula for formula in view.formulas if formula.model is not None]
    models = [formula.model for formula in formulas if formula.model is not None]
    if len(models) < len(view.formulas) or not any(model.dnf.n_literals for model in models):
        return None
    n_types = sum(len(model.counts.codes) for model in models)
    if n_types > _MOST_TYPES:
        words = (
            f"The rows learned from are of {n_types:,} types, too many for this page to carry: "
            "`dnfscale explain MODEL DATA --row N` answers for single rows."
        )
        return card(place, "what-if", "What if?", element("p", words, class_="note"))
    fields = fields_of(models)
    data = json.dumps(form_data(fields, formulas, view), separators=(",", ":"))
    note = (
        "Change a value, and see the answer, which lines hold, and what each of the others misses. "
        f"{_TICKED if _has_checklist(models) else ''}Nothing that you type leaves this page."
    )
    first = _typical(models[0])
    form = element(
        "form",
        # A data block, not a script: the policy lets nothing of it run.
        element("script", Html(data.replace("<", "\\u003c")), type="application/json"),
        element(
            "div",
            element("div", *(_field(place, n, each, first) for n, each in enumerate(fields))),
            element("button", "Start again", type="reset"),
            class_="fields",
        ),
        element("div", *_answers(place, formulas), class_="answers"),
        class_="what-if",
        autocomplete="off",
    )
    return card(
        place,
        "what-if",
        "What if?",
        element("p", note, class_="note"),
        form,
        class_="card live",
        live=True,
    )


def _has_checklist(models: Sequence[Model]) -> bool:
    return any(line.at_least is not None for model in models for line in model_lines(model))


def form_data(
    fields: Sequence[Field], formulas: Sequence[FormulaView], view: RunView
) -> dict[str, Any]:
    """Return what the script needs to know of a form, as JSON."""
    models = [formula.model for formula in formulas if formula.model is not None]
    return {
        "fields": [field_data(field) for field in fields],
        "models": [
            model_data(model)
            | {
                "yes": visible(formula.positive or "positive"),
                "no": visible(formula.negative),
                "counted": formula.counted,
            }
            for formula, model in zip(formulas, models, strict=True)
        ],
        "weighted": view.result.data.weight is not None,
    }


def model_data(model: Model) -> dict[str, Any]:
    """Return what the script needs to know of a formula."""
    threshold, counts, labels = float(model.threshold), model.counts, model.about.labels
    columns = (
        seen_states(model.tau, counts)
        if model.types == "attributes"
        else row_states(model.tau, unasked=False)
    )
    return {
        "types": model.types,
        "answer": model.answer,
        "unit": model.unit,
        "threshold": threshold,
        "above": float(np.nextafter(threshold, 1)),
        "below": float(np.nextafter(threshold, 0)),
        "total": counts.n_rows,
        "terms": [
            {"care": hex(term.care), "value": hex(term.value), "least": term.at_least}
            for term in model.dnf.terms
        ],
        "counts": [
            [hex(type_), n, c]
            for type_, n, c in zip(
                counts.codes.tolist(), counts.n.tolist(), counts.c.tolist(), strict=True
            )
        ],
        "columns": [
            {
                "mask": hex(column.mask),
                "states": [hex(state) for state in column.states],
                "words": [
                    _state_words(model.tau, column.mask, state, labels) for state in column.states
                ],
            }
            for column in columns
        ],
        "lines": [
            {
                "terms": line.terms,
                "least": line.at_least,
                "conditions": [
                    {"mask": hex(mask), "states": [hex(state) for state in sorted(states)]}
                    for mask, states, _ in _asked(model.tau, line)
                ],
            }
            for line in model_lines(model)
        ],
    }


def fields_of(models: Sequence[Model]) -> tuple[Field, ...]:
    """Return the columns that the formulas ask about, in rank order."""
    asked: dict[str, list[tuple[int, int, Attribute]]] = {}
    for number, model in enumerate(models):
        for bit, attribute in enumerate(model.tau.attributes):
            asked.setdefault(stored_column(attribute.column), []).append((number, bit, attribute))
    labels: dict[str, Label] = {}
    for model in models:
        labels.update(model.about.labels)
    return tuple(
        Field(
            column,
            tuple(own),
            _options(column, own, len(models), labels, _seen_values(column, models)),
            _field_label(own[0][2].column, labels),
            _extent(column, models),
        )
        for column, own in asked.items()
    )


def _seen(column: str, models: Sequence[Model]) -> SeenColumn | None:
    """Return what the rows learned from held in a column, if a model says it."""
    return next((own for model in models for own in model.seen if own.name == column), None)


def _seen_values(column: str, models: Sequence[Model]) -> tuple[Scalar, ...]:
    seen = _seen(column, models)
    return () if seen is None else (seen.values or ())[:_MOST_CHOICES]


def _extent(column: str, models: Sequence[Model]) -> tuple[int | float, int | float] | None:
    seen = _seen(column, models)
    if seen is None or not isinstance(seen.least, int | float):
        return None
    ends = seen.least, seen.greatest
    return ends if all(map(_is_plain, ends)) and math.isfinite(sum(ends)) else None  # type: ignore[arg-type, return-value]


def rounded_outward(value: int | float, direction: int) -> int | float:
    """Round the end of a range to four digits, so that nothing of the range is left out."""
    if isinstance(value, int) or not value or value.is_integer():
        return value
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - 3)
    rounded = float(f"{value:.4g}")
    past = rounded if direction * (rounded - value) >= 0 else rounded + direction * unit
    return float(f"{past:.4g}")


def _field_label(asked: ColumnName, labels: Labels) -> str:
    if isinstance(asked, Concept):
        if asked.figure is Figure.SOME:
            return asked.relation.table
        return concept_text(asked, replace(SHOWN, labels=labels))
    column = stored_column(asked)
    label = labels.get(column)
    if label is None:
        return column
    unit = f", {label.unit}" if label.unit else ""
    return f"{label.title or column}{unit}"


def bits_of(field: Field, n_models: int, value: Scalar | None) -> tuple[int, ...]:
    """Return the attributes of a field that hold for a value, for each formula."""
    found = [0] * n_models
    for number, bit, attribute in field.asked:
        found[number] |= _holds(attribute, value) << bit
    return tuple(found)


def _holds(attribute: Attribute, value: Scalar | None) -> bool:
    """Say whether an attribute holds for a plain value; None is missing."""
    if value is None or isinstance(attribute, IsMissing):
        return value is None and isinstance(attribute, IsMissing)
    if isinstance(attribute, Equals | IsIn | IsTrue):
        return value in values_of(attribute)
    cuts: Sequence[Any] = cuts_of(attribute)
    return bool(cuts) and value > cuts[0] and all(value <= cut for cut in cuts[1:])


def _options(
    column: str,
    asked: Sequence[tuple[int, int, Attribute]],
    n_models: int,
    labels: Labels,
    seen: Sequence[Scalar],
) -> tuple[Option, ...] | None:
    attributes = [attribute for _, _, attribute in asked]
    numbers = [each for each in attributes if isinstance(each, Above | Between)]
    field = Field(column, tuple(asked), None)
    if any(map(_is_in_words, attributes)) or not all(
        _is_plain(cut) for each in numbers for cut in cuts_of(each)
    ):
        return _regions(asked, n_models, labels)
    if numbers:
        return None
    named = [
        value
        for each in attributes
        if isinstance(each, Equals | IsIn | IsTrue)
        for value in values_of(each)
    ]
    values: list[Scalar] = list(dict.fromkeys([*named, *seen]))
    if any(isinstance(value, bool) for value in values):
        values = [True, False]
    notation = replace(SHOWN, labels=labels)
    known = [
        Option(notation.of_column(column, value), bits_of(field, n_models, value))
        for value in values
    ]
    other = [Option("another value" if values else "some value", (0,) * n_models)]
    if values == [True, False]:
        other = []
    return (*known, *other, Option("missing", bits_of(field, n_models, None)))


def _is_in_words(attribute: Attribute) -> bool:
    """Say whether what is asked is chosen in words rather than by its value.

    Parts of a date are asked together: not every weekday and hour can be chosen alone where the
    date may be missing. Whether there is some related row is a sentence.
    """
    asked = attribute.column
    return isinstance(asked, Part) or (isinstance(asked, Concept) and asked.figure is Figure.SOME)


def _regions(
    asked: Sequence[tuple[int, int, Attribute]], n_models: int, labels: Labels
) -> tuple[Option, ...]:
    """Return the states that the attributes of a column can be in together, in words."""
    tau = Vocabulary(tuple(attribute for _, _, attribute in asked))
    [column] = row_states(tau)
    gone = sum(1 << i for i, each in enumerate(tau.attributes) if isinstance(each, IsMissing))
    # That a value is there need not be said where something is said of it.
    told = [i for i in range(len(tau)) if not gone >> i & 1] or list(range(len(tau)))
    said = Vocabulary(tuple(tau.attributes[i] for i in told))
    found = []
    for state in column.states:
        bits = [0] * n_models
        for place, (number, bit, _) in enumerate(asked):
            bits[number] |= (state >> place & 1) << bit
        own = sum((state >> i & 1) << at for at, i in enumerate(told))
        words = "missing" if state & gone else _state_words(said, (1 << len(said)) - 1, own, labels)
        found.append(Option(words, tuple(bits)))
    return tuple(found)


def _is_plain(cut: object) -> bool:
    """Say whether a script can compare a number with a cut."""
    return isinstance(cut, float) or (isinstance(cut, int) and abs(cut) < _SAFE)


def field_data(field: Field) -> dict[str, Any]:
    """Return what the script needs to know of a field."""
    if field.options is not None:
        return {"options": [{"bits": [hex(bits) for bits in each.bits]} for each in field.options]}
    tests = [test for asked in field.asked if (test := _test(*asked)) is not None]
    return {"tests": tests, "candidates": [*_candidates(field), None]}


def _test(number: int, bit: int, attribute: Attribute) -> dict[str, Any] | None:
    """Return the test of an attribute; None if it never holds."""
    test: dict[str, Any] = {"model": number, "bit": bit}
    if isinstance(attribute, IsMissing):
        return test | {"missing": True}
    assert isinstance(attribute, Above | Between)
    ends: list[Any] = [*cuts_of(attribute), math.inf][:2]
    if len(ends) < 2 or ends[0] == math.inf:
        return None
    low, high = (end if math.isfinite(end) else None for end in ends)
    return None if ends[1] == -math.inf else test | {"low": low, "high": high}


def _state_words(tau: Vocabulary, mask: int, state: int, labels: Labels) -> str:
    """Write the state of a column."""
    columns = {each.column for i, each in enumerate(tau.attributes) if mask >> i & 1}
    said = conditions(state_of(tau, state, columns), labels)
    return visible(" and ".join(each.text for each in said)) or "any other value"


def _asked(tau: Vocabulary, line: Line) -> list[tuple[int, set[int], list[Said]]]:
    """Return the conditions of a line: the attributes of each, the states of these that it allows,
    and what it says.
    """
    if line.at_least is not None:
        return [
            (1 << i, {1 << i if holds else 0}, [said])
            for (i, holds), said in zip(line.asked, line.literals, strict=True)
        ]
    scales = Scales(tau.attributes)
    found = []
    for at, regions in line.allowed:
        column, states = scales.scales[at].column, scales.states(at)
        mask = sum(1 << i for i, own in enumerate(scales.of_attribute) if own == at)
        allowed = {state for region, state in enumerate(states) if regions >> region & 1}
        said = [each for each in line.literals if each.column == column]
        found += [(mask, allowed, said)] if said else []
    return found


def _typical(model: Model) -> int | None:
    """Return the attributes of the most frequent rows, and of a checklist of rows without a sign;
    None where attributes were not counted.
    """
    counts = model.counts
    if model.types == "signs":
        [checklist] = model.dnf.terms
        return checklist.care & ~checklist.value
    if model.types != "attributes" or not len(counts.codes):
        return None
    return int(counts.codes[np.argmax(counts.n)])


def _field(place: Place, number: int, field: Field, first: int | None) -> Html:
    key = place.id(f"field-{number}")
    mask = sum(1 << bit for model, bit, _ in field.asked if model == 0)
    if field.options is not None:
        chosen = next(
            (n for n, each in enumerate(field.options) if each.bits[0] == (first or 0) & mask), 0
        )
        choices = [
            element("option", visible(each.text), selected=n == chosen)
            for n, each in enumerate(field.options)
        ]
        control = element("select", *choices, id=key, data_field=number)
    else:
        values = _candidates(field)
        n_models = 1 + max(model for model, _, _ in field.asked)
        value = values[(len(values) - 1) // 2]
        if first is not None:
            fitting = [each for each in values if bits_of(field, n_models, each)[0] == first & mask]
            value = [*fitting, value][0]
        control = element(
            "input",
            type="number",
            step="any",
            id=key,
            data_field=number,
            value=number_text(value),
        )
    hint = None
    if field.options is None and field.extent is not None:
        low, high = rounded_outward(field.extent[0], -1), rounded_outward(field.extent[1], 1)
        ends = f"{number_text(low)} to {number_text(high)}"
        hint = element("small", f"{ends} in the rows learned from")
    return element(
        "p",
        element("label", name_of(field.label or field.column), for_=key),
        control,
        hint,
        class_="field",
    )


def _candidates(field: Field) -> list[int | float]:
    """Return a number of each region that the cuts make, with few digits where they allow it."""
    numbers = [each for _, _, each in field.asked if isinstance(each, Above | Between)]
    ends: list[Any] = [cut for each in numbers for cut in cuts_of(each)]
    cuts = sorted({cut for cut in ends if math.isfinite(cut)})
    if not cuts:
        return [0]
    whole = all(each.whole for each in numbers) or all(
        isinstance(end, int) for end in field.extent or [None]
    )
    step = 1 if whole else (cuts[-1] - cuts[0]) / len(cuts) or abs(cuts[0]) / 4 or 1
    least, greatest = field.extent or (math.inf, -math.inf)
    low = least if least < cuts[0] else cuts[0] - 2 * step
    high = greatest if greatest > cuts[-1] else cuts[-1] + 2 * step
    between = _whole_between if whole else _number_between
    found = [between(a, b) for a, b in pairwise([low, *cuts, high])]
    # The least value of all may be at the first cut, and so not above it.
    return [least, *found[1:]] if least == cuts[0] else found


def _number_between(low: float, high: float) -> int | float:
    return _short((low + high) / 2, low, high)


def _whole_between(low: float, high: float) -> int | float:
    """Return a whole number near the middle, above low and not above high, if there is one."""
    middle = math.floor((low + high) / 2)
    return next((each for each in (middle, math.floor(high)) if low < each), high)


def _short(value: float, low: float, high: float) -> float:
    """Return a number near a value, above low and not above high, of as few digits as possible."""
    for digits in range(1, 17):
        near = float(f"{value:.{digits}g}")
        if low < near <= high:
            return near
    return high


def _answers(place: Place, formulas: Sequence[FormulaView]) -> list[Child]:
    """Return where the script puts its answers."""
    several = len(formulas) > 1
    parts: list[Child] = [
        element(
            "div",
            element("p", "The answer", class_="before"),
            element("p", element("strong", class_="verdict")),
            element("p", "Probability of ", element("span", class_="of"), ": ", element("data")),
            element("p", class_="rests"),
            role="status",
        )
    ]
    parts += [_formula(place, n, each, several=several) for n, each in enumerate(formulas)]
    if not several:
        parts.append(element("div", element("p", class_="before"), element("ul"), class_="change"))
    return parts


def _formula(place: Place, number: int, formula: FormulaView, *, several: bool) -> Html:
    model = formula.model
    assert model is not None
    head: list[Child] = []
    if several:
        head.append(element(f"h{place.level + 1}", name_of(formula.positive or ""), class_="own"))
        head.append(element("p", "By its own formula: ", element("data"), class_="note"))
    lines = [
        element(
            "li",
            element("span", *_marked(model, line), class_="term"),
            element("span", class_="held-or-not"),
            class_=None if line.at_least is None else "to-tick",
            data_line=at,
        )
        for at, line in enumerate(model_lines(model))
    ]
    return element("div", *head, element("ol", *lines, class_="tried"), data_model=number)


def _marked(model: Model, line: Line) -> list[Html]:
    marks: tuple[Html, ...] = (
        element("span", class_="unseen"),
        element("span", class_="mark", aria_hidden="true"),
    )
    if line.at_least is not None:
        marks = (element("input", type="checkbox"),)
    return [
        element(
            "span" if line.at_least is None else "label",
            *marks,
            join(*(chip(each) for each in conditions(said, model.about.labels))),
            class_="marked",
            data_condition=at,
        )
        for at, (_, _, said) in enumerate(_asked(model.tau, line))
    ]
