"""A model as a Python function that needs nothing but Python."""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Iterable, Sequence

from dnfscale.core.arrays import Scalar
from dnfscale.core.concepts import Concept
from dnfscale.core.formula import Term
from dnfscale.core.model import Model, joint_ranks, signs_held, unseen_ranks
from dnfscale.core.parts import Part, stored_column
from dnfscale.core.quantities import Quantity
from dnfscale.core.vocabulary import Above, Attribute, Between, IsMissing, cuts_of, values_of
from dnfscale.export.clocks import python_part, python_part_needs, python_place
from dnfscale.export.kinds import Kind, kinds
from dnfscale.export.moments import python_amount, python_needs, python_quantity
from dnfscale.export.related_python import (
    HELPERS,
    NEEDS,
    concepts_in,
    figure_expression,
    main_columns,
)
from dnfscale.export.text import export_text
from dnfscale.method.spelling import Spelling, spell
from dnfscale.method.words import literals_of, value_text
from dnfscale.spec.registry import EXPORTS, Export

_BUILT_IN = (
    "bool",
    "float",
    "getattr",
    "hasattr",
    "isinstance",
    "map",
    "str",
    "sum",
    "KeyError",
    "TypeError",
)
TAKEN = (
    "row",
    "related",
    "math",
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

    A model of related tables takes predict(row, related), with the rows of each table by its name.
    None and NaN are missing values. A column that is absent is a KeyError, and text where the model
    knows a number, or the other way round, a TypeError: a wrong answer would go unnoticed.
    """
    concepts = concepts_in(model.tau.attributes)
    takes = "row, related" if concepts else "row"
    parts = [
        _head([model]),
        f"COLUMNS = {_listed(main_columns(model.columns, concepts))}",
        *_functions([model]),
        "\n".join(
            [
                f"def predict({takes}):",
                *_said_of_row("Say whether the formula accepts a row", related=bool(concepts)),
                *(f"    {line}" for line in _formula_body(model)),
            ]
        ),
    ]
    return "\n\n\n".join(parts)


def export_python_of_classes(models: Sequence[Model]) -> str:
    """Return the source of a function predict(row) that gives the label of a row, and accepts(row),
    which says what the formula of each label answers.
    """
    asked = [attribute for model in models for attribute in model.tau.attributes]
    concepts = concepts_in(asked)
    columns = main_columns([stored_column(attribute.column) for attribute in asked], concepts)
    takes = "row, related" if concepts else "row"
    labels = tuple(model.positive[0] for model in models)
    tables, unseen = [], []
    for model, (table, ranks) in zip(models, joint_ranks(models), strict=True):
        numbers = ranks[table.places(model.counts.codes)].tolist()
        tables.append(dict(zip(_codes(model), numbers, strict=True)))
        unseen.append(unseen_ranks(table, ranks))
    functions = []
    for number, model in enumerate(models):
        for name, body in (("_holds", _formula_body(model)), ("_type", _type_body(model))):
            lines = [f"def {name}_{number}({takes}):", *(f"    {line}" for line in body)]
            functions.append("\n".join(lines))
    numbered = range(len(models))
    constants = [
        f"COLUMNS = {_listed(columns)}",
        f"LABELS = ({', '.join(map(_literal, labels))})",
        "# A number for each type of row: the label of the greatest one is the answer.",
        f"_NUMBERS = {tuple(tables)!r}",
        "# Those of types without rows: where the formula says no, and where it says yes.",
        f"_OTHERS = {tuple(unseen)!r}",
    ]
    said = "\n".join(_said_of_row("Return the label of a row", related=bool(concepts)))
    tail = f"""\
def accepts({takes}):
    \"\"\"Return what the formula of each label says of a row.\"\"\"
    return dict(zip(LABELS, ({"".join(f"_holds_{n}({takes}), " for n in numbered)})))


def predict({takes}):
{said}
    held = ({"".join(f"_holds_{n}({takes}), " for n in numbered)})
    types = ({"".join(f"_type_{n}({takes}), " for n in numbered)})
    given = (known.get(own, others[yes]) for known, own, others, yes in zip(_NUMBERS, types, _OTHERS, held))
    return LABELS[len(LABELS) - 1 - max(given) % len(LABELS)]"""  # noqa: E501 (it is written to files of its own)
    parts = [_head(models), "\n".join(constants), *_functions(models), *functions, tail]
    return "\n\n\n".join(parts)


def _head(models: Sequence[Model]) -> str:
    """Return the comments and the imports of a module."""
    tested = _tested(models)
    needs = (python_needs(tested), python_part_needs(tested))
    imports = list(dict.fromkeys(module for modules, _ in needs for module in modules))
    if concepts_in(tested):
        imports = sorted({*imports, *NEEDS})
    return "\n\n".join([_comments(models), *(["\n".join(imports)] if imports else [])])


def _said_of_row(what: str, *, related: bool) -> list[str]:
    """Return the docstring of a function that takes a row."""
    has = f"{what}, a mapping that has the names in COLUMNS"
    if not related:
        return [f'    """{has}."""']
    return [f'    """{has}, given rows of related tables: lists of mappings, by table."""']


def _functions(models: Sequence[Model]) -> list[str]:
    """Return the functions that conditions need."""
    tested = _tested(models)
    needs = (python_needs(tested), python_part_needs(tested))
    reads = any(model.columns for model in models) or len(models) > 1
    related = [HELPERS] if concepts_in(tested) else []
    return [
        *([READER] if reads else []),
        *related,
        *(function for _, own in needs for function in own),
    ]


def _tested(models: Sequence[Model]) -> list[Attribute]:
    """Return the attributes that a module asks for: of several formulas all, as types need them."""
    if len(models) > 1:
        return [attribute for model in models for attribute in model.tau.attributes]
    [model] = models
    used = {i for i, _ in literals_of(model)}
    return [attribute for i, attribute in enumerate(model.tau.attributes) if i in used]


def _listed(columns: Sequence[str]) -> str:
    listed = "".join(f"\n    {column!r}," for column in columns)
    return f"({listed}{chr(10) if listed else ''})"


def _formula_body(model: Model) -> list[str]:
    """Return the lines of a function that says whether the formula accepts a row."""
    used = {i for i, _ in literals_of(model)}
    attributes = [attribute for i, attribute in enumerate(model.tau.attributes) if i in used]
    names, lines = _asked(model, attributes, model.columns)
    return [*lines, *_returned(model, names)]


def _asked(
    model: Model, attributes: Sequence[Attribute], asked: Sequence[str]
) -> tuple[dict[str, str], list[str]]:
    """Return the variables of some attributes, and the lines that give them their values."""
    known, concepts = kinds(model.tau), concepts_in(model.tau.attributes)
    columns = identifiers(asked, TAKEN)
    names = identifiers(
        [attribute.name for attribute in attributes], (*TAKEN, *columns.values()), prefix="is_"
    )
    return names, [
        *(f"{columns[c]} = {_read(c, known[c], concepts.get(c))}" for c in asked),
        *(
            f"{names[a.name]} = {python_test(a, columns[stored_column(a.column)])}"
            for a in attributes
        ),
    ]


def _read(column: str, kind: Kind, concept: Concept | None) -> str:
    """Return the value of a column, or what related rows say, as an expression."""
    if concept is not None:
        return figure_expression(concept)
    return f"_value(row, {column!r}, {IS_TEXT[kind]})"


def _type_body(model: Model) -> list[str]:
    """Return the lines of a function that gives the type of a row, as a number."""
    attributes = model.tau.attributes
    asked = tuple(dict.fromkeys(stored_column(attribute.column) for attribute in attributes))
    names, lines = _asked(model, attributes, asked)

    def told(i: int, holds: bool) -> str:
        return ("" if holds else "not ") + names[attributes[i].name]

    if model.types == "signs":
        [checklist] = model.dnf.terms
        tests = [told(i, holds) for i, holds in checklist.literals]
        return [*lines, f"return sum(map(bool, ({', '.join(tests)},)))"]
    tests = [told(i, True) for i in range(len(attributes))]
    if model.types == "lines":
        tests = [_line(term, told) for term in model.dnf.terms]
    bits = [f"({1 << i} if {test} else 0)" for i, test in enumerate(tests)]
    return [*lines, f"return {' + '.join(bits) or '0'}"]


def _codes(model: Model) -> list[int]:
    """Return the types of a model that occur, as the numbers that its function gives."""
    codes: list[int] = model.counts.codes.tolist()
    return list(map(signs_held, codes)) if model.types == "signs" else codes


def _line(term: Term, told: Callable[[int, bool], str]) -> str:
    literals = [told(i, holds) for i, holds in term.literals]
    if term.at_least is None:
        return " and ".join(literals) or "True"
    return f"sum(({', '.join(literals)})) >= {term.at_least}"


IS_TEXT = {
    Kind.TEXT: True,
    Kind.NUMBER: False,
    Kind.FLAG: False,
    Kind.MOMENT: None,
    Kind.UNKNOWN: None,
}


def _comments(models: Sequence[Model]) -> str:
    # Python reads an encoding out of a comment in the first two lines; no name may stand there.
    lines = ["Made by dnfscale. It needs nothing but Python."]
    for model in models:
        lines += ["", *export_text(model).splitlines()]
    model = models[0]
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
    terms = [_line(term, told) for term in model.dnf.terms]
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
        write_several=export_python_of_classes,
    )
)
