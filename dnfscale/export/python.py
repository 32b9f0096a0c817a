"""A model as a Python function that needs nothing but Python."""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Iterable, Sequence

from dnfscale.core.arrays import Scalar
from dnfscale.core.model import Model
from dnfscale.core.parts import Part, stored_column
from dnfscale.core.quantities import Quantity
from dnfscale.core.vocabulary import Above, Attribute, Between, IsMissing, cuts_of, values_of
from dnfscale.export.clocks import python_part, python_part_needs, python_place
from dnfscale.export.kinds import Kind, kinds
from dnfscale.export.moments import python_amount, python_needs, python_quantity
from dnfscale.export.text import export_text
from dnfscale.method.spelling import Spelling, spell
from dnfscale.method.words import literals_of, value_text
from dnfscale.spec.registry import EXPORTS, Export

_BUILT_IN = ("bool", "float", "getattr", "hasattr", "isinstance", "str", "KeyError", "TypeError")
TAKEN = (
    "row",
    "predict",
    "value",
    "column",
    "is_text",
    "datetime",
    "decimal",
    "zoneinfo",
    *_BUILT_IN,
)
READER = '''\
def _value(row, column, is_text):
    """Return a row's value, None where it is missing; a column that is absent or of another kind is an error."""
    if column not in row:
        raise KeyError(f"expected the column {column!r}, but the row does not have it; None means missing")
    value = row[column]
    if value is None or value != value:
        return None
    if is_text is not None and isinstance(value, str) is not is_text:
        raise TypeError(f"expected {'text' if is_text else 'a number or a truth value'} in {column!r}, got {value!r}")
    return value'''  # noqa: E501 (it is written to files of its own)


def export_python(model: Model) -> str:
    """Return the source of a function predict(row) that takes a mapping from column names to
    values.

    None and NaN are missing values. A column that is absent is a KeyError, and text where the model
    knows a number, or the other way round, a TypeError: a wrong answer would go unnoticed.
    """
    known = kinds(model.tau)
    columns = identifiers(model.columns, TAKEN)
    used = {i for i, _ in literals_of(model)}
    attributes = [attribute for i, attribute in enumerate(model.tau.attributes) if i in used]
    names = identifiers(
        [attribute.name for attribute in attributes], (*TAKEN, *columns.values()), prefix="is_"
    )
    body = [
        *(f"{columns[c]} = _value(row, {c!r}, {IS_TEXT[known[c]]})" for c in model.columns),
        *(
            f"{names[a.name]} = {python_test(a, columns[stored_column(a.column)])}"
            for a in attributes
        ),
        *_returned(model, names),
    ]
    listed = "".join(f"\n    {column!r}," for column in model.columns)
    needs = (python_needs(attributes), python_part_needs(attributes))
    imports = list(dict.fromkeys(module for modules, _ in needs for module in modules))
    functions = [function for _, own in needs for function in own]
    parts = [
        "\n\n".join([_comments(model), *(["\n".join(imports)] if imports else [])]),
        f"COLUMNS = ({listed}{chr(10) if listed else ''})",
        *([READER] if model.columns else []),
        *functions,
        "\n".join(
            [
                "def predict(row):",
                (
                    '    """Say whether the formula accepts a row, a mapping that has the '
                    'names in COLUMNS."""'
                ),
                *(f"    {line}" for line in body),
            ]
        ),
    ]
    return "\n\n\n".join(parts)


IS_TEXT = {
    Kind.TEXT: True,
    Kind.NUMBER: False,
    Kind.FLAG: False,
    Kind.MOMENT: None,
    Kind.UNKNOWN: None,
}


def _comments(model: Model) -> str:
    # Python reads an encoding out of a comment in the first two lines; no name may stand there.
    lines = ["Made by dnfscale. It needs nothing but Python.", "", *export_text(model).splitlines()]
    if model.provenance:
        lines += [
            "",
            *(
                f"{value_text(key)}: {_shown(model.provenance[key])}"
                for key in sorted(model.provenance)
            ),
        ]
    return "\n".join(f"# {line}".rstrip() for line in lines)


def _shown(value: object) -> str:
    """Return a value of the provenance as a single printable line."""
    text = value if isinstance(value, str) else repr(value)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _returned(model: Model, names: dict[str, str]) -> list[str]:
    def told(i: int, holds: bool) -> str:
        return ("" if holds else "not ") + names[model.tau.attributes[i].name]

    # Values may be NumPy's, whose comparisons do not give Python's True and False.
    if model.tree is not None:
        spelling = Spelling(told, " and ", " or ", lambda text: f"not {text}")
        return [f"return bool({spell(model.tree, spelling)})"]
    if not model.dnf.terms:
        return [f"return {not model.answer}"]
    if any(not term.care for term in model.dnf.terms):
        return [f"return {model.answer}"]
    terms = [" and ".join(told(i, holds) for i, holds in term.literals) for term in model.dnf.terms]
    returned = "return bool(" if model.answer else "return not ("
    return [returned, f"    {terms[0]}", *(f"    or {term}" for term in terms[1:]), ")"]


def python_test(attribute: Attribute, variable: str) -> str:
    """Return an attribute as an expression over the variable that holds its column's value."""
    if isinstance(attribute, IsMissing):
        return f"{variable} is None"
    part = attribute.column
    number = python_part(variable, part) if isinstance(part, Part) else variable
    if not isinstance(attribute, Above | Between):
        values = values_of(attribute)
        if not isinstance(part, Part):
            return f"{variable} {_equal([_literal(value) for value in values])}"
        places = [str(python_place(part, str(value))) for value in values]
        return f"{variable} is not None and {number} {_equal(places)}"
    cuts = cuts_of(attribute)
    if not cuts:
        return "False"
    if isinstance(cuts[0], Quantity):
        number = python_amount(variable, cuts[0].measure.kind)
    ends = [python_quantity(cut) if isinstance(cut, Quantity) else _literal(cut) for cut in cuts]
    compared = f"{number} > {ends[0]}" if len(ends) == 1 else f"{ends[0]} < {number} <= {ends[1]}"
    return f"{variable} is not None and {compared}"


def _equal(values: Sequence[str]) -> str:
    return f"== {values[0]}" if len(values) == 1 else f"in ({', '.join(values)})"


def _literal(value: Scalar) -> str:
    if isinstance(value, float):
        if math.isinf(value):
            return f'float("{value}")'
        # A whole number beyond 2**53 is compared exactly with a whole number only.
        return repr(int(value)) if value.is_integer() and abs(value) < 1 << 64 else repr(value)
    return repr(value)


def identifiers(names: Iterable[str], taken: Iterable[str], *, prefix: str = "") -> dict[str, str]:
    """Give each name a variable of its own that resembles it, in ASCII: Python takes some other
    letters as equal.
    """
    used = set(taken)
    chosen: dict[str, str] = {}
    for name in names:
        word = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
        if not word or word[0].isdigit() or keyword.iskeyword(word):
            word = f"x_{word}".rstrip("_")
        if word in used:
            # A column of truth values and its attribute have the same name.
            word = prefix + word
        candidate, number = word, 2
        while candidate in used:
            candidate, number = f"{word}_{number}", number + 1
        used.add(candidate)
        chosen[name] = candidate
    return chosen


EXPORTS.register(
    Export(
        name="python",
        title="the source of a Python function that needs nothing else",
        ending=".py",
        write=export_python,
    )
)
