"""Formulas of bounded size in other languages: SQL, Python, LaTeX and text, each following the tree.

SQL has three truth values, so there negations are moved down to the attributes, whose negations are spelled so that
they are never NULL: what is above them is «and» and «or», in which NULL and false have the same effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dnfscale.core.vocabulary import Attribute
from dnfscale.method.conditions import condition, holds_where_missing
from dnfscale.method.export.kinds import kinds
from dnfscale.method.export.latex import latex_condition, latex_predicted
from dnfscale.method.export.moments import python_needs
from dnfscale.method.export.python import IS_TEXT, READER, TAKEN, identifiers, python_test
from dnfscale.method.export.sql import check_names, dialect_of, never_null, sql_condition, table_name
from dnfscale.method.export.text import predicted
from dnfscale.method.formula_size.model import SizedModel
from dnfscale.method.formula_size.tree import And, Formula, Not, Or, Symbol, chain


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a language writes formulas."""

    literal: Callable[[int, bool], str]
    """Write that attribute i holds, or that it does not."""
    both: str
    either: str
    no: Callable[[str], str]
    """Write the negation of what stands in brackets."""


def tree_to_sql(model: SizedModel, dialect: str = "duckdb", table: str | None = None) -> str:
    """Return the formula as an expression for a WHERE clause, never NULL, or as a SELECT from a table."""
    spoken = dialect_of(dialect)
    check_names(model.columns, spoken)
    known = kinds(model.tau)
    attributes = model.tau.attributes
    tree = without_negations(model.tree)
    spelling = Spelling(
        lambda i, holds: sql_condition(attributes[i], holds, spoken, known), " AND ", " OR ", lambda text: f"NOT {text}"
    )
    may_be_null = any(
        not holds_where_missing(attributes[i], holds) and not never_null(attributes[i]) for i, holds in _literals(tree)
    )
    written = spell(tree, spelling)
    prediction = f"COALESCE({written}, FALSE)" if may_be_null else f"({written})"
    if table is None:
        return prediction
    return f"SELECT\n  *,\n  {prediction} AS prediction\nFROM {table_name(table, spoken)}"


def tree_to_python(model: SizedModel) -> str:
    """Return the source of a function predict(row) that takes a mapping from column names to values."""
    known = kinds(model.tau)
    columns = identifiers(model.columns, TAKEN)
    names = identifiers(model.tau.names, (*TAKEN, *columns.values()), prefix="is_")
    variables = [names[name] for name in model.tau.names]
    spelling = Spelling(
        lambda i, holds: ("" if holds else "not ") + variables[i], " and ", " or ", lambda text: f"not {text}"
    )
    body = [
        *(f"{columns[c]} = _value(row, {c!r}, {IS_TEXT[known[c]]})" for c in model.columns),
        *(f"{names[a.name]} = {python_test(a, columns[a.column])}" for a in model.tau.attributes),
        # Values may be NumPy's, whose comparisons do not give Python's True and False.
        f"return bool({spell(model.tree, spelling)})",
    ]
    listed = "".join(f"\n    {column!r}," for column in model.columns)
    # Python reads an encoding out of a comment in the first two lines; no name may stand there.
    comments = ["Made by dnfscale. It needs nothing but Python.", "", *tree_to_text(model).splitlines()]
    imports, functions = python_needs(model.tau.attributes)
    parts = [
        "\n".join([*(f"# {line}".rstrip() for line in comments), *([""] if imports else []), *imports]),
        f"COLUMNS = ({listed}\n)",
        READER,
        *functions,
        "\n".join(
            [
                "def predict(row):",
                '    """Say whether the formula accepts a row, a mapping that has the names in COLUMNS."""',
                *(f"    {line}" for line in body),
            ]
        ),
    ]
    return "\n\n\n".join(parts)


def tree_to_latex(model: SizedModel) -> str:
    """Return the formula as an align* environment, for a document that uses amsmath."""
    spelling = Spelling(
        lambda i, holds: latex_condition(model.tau.attributes[i], holds),
        r" \land ",
        r" \lor ",
        lambda text: rf"\lnot {text}",
    )
    written = spell(model.tree, spelling)
    return f"\\begin{{align*}}\n{latex_predicted(model)} \\iff {{}} & {written}\n\\end{{align*}}"


def tree_to_text(model: SizedModel) -> str:
    """Return the formula as text, conditions spelled out with their values."""
    attributes: Sequence[Attribute] = model.tau.attributes
    spelling = Spelling(lambda i, holds: condition(attributes[i], holds), " and ", " or ", lambda text: f"not {text}")
    return f"{predicted(model)} if\n   {spell(model.tree, spelling)}"


def spell(tree: Formula, spelling: Spelling) -> str:
    """Write a formula; a chain of equal connectives without inner brackets, other parts with them."""

    def bracketed(part: Formula) -> str:
        written = spell(part, spelling)
        return f"({written})" if isinstance(part, And | Or) else written

    match tree:
        case Symbol(attribute):
            return spelling.literal(attribute, True)
        case Not(Symbol(attribute)):
            return spelling.literal(attribute, False)
        case Not(operand):
            return spelling.no(bracketed(operand))
        case And():
            return spelling.both.join(bracketed(part) for part in chain(tree, And))
        case Or():
            return spelling.either.join(bracketed(part) for part in chain(tree, Or))


def without_negations(tree: Formula, holds: bool = True) -> Formula:
    """Return a formula that means the same, or the opposite, with negations at its symbols only."""
    match tree:
        case Symbol():
            return tree if holds else Not(tree)
        case Not(operand):
            return without_negations(operand, not holds)
        case And(left, right):
            parts = without_negations(left, holds), without_negations(right, holds)
            return And(*parts) if holds else Or(*parts)
        case Or(left, right):
            parts = without_negations(left, holds), without_negations(right, holds)
            return Or(*parts) if holds else And(*parts)


def _literals(tree: Formula) -> Iterator[tuple[int, bool]]:
    match tree:
        case Symbol(attribute):
            yield attribute, True
        case Not(Symbol(attribute)):
            yield attribute, False
        case Not(operand):
            yield from _literals(operand)
        case And(left, right) | Or(left, right):
            yield from _literals(left)
            yield from _literals(right)
