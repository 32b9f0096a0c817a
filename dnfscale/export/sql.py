"""A model as SQL: one Boolean expression over the dataset's columns, or a whole SELECT.

The expression is never NULL: where a value is missing, NULL or NaN, it gives the model's answer. A
condition that may be NULL stands only where NULL and false have the same effect, and one COALESCE
around everything makes it false. Negations in a tree are therefore moved down to the attributes,
whose negations are never NULL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dnfscale.core.arrays import Scalar, is_whole
from dnfscale.core.model import Model
from dnfscale.core.parts import Part, stored_column
from dnfscale.core.quantities import Quantity
from dnfscale.core.tree import without_negations
from dnfscale.core.vocabulary import Above, Attribute, Between, IsMissing, cuts_of, values_of
from dnfscale.errors import DataError, SpecError
from dnfscale.export.dialects import DIALECTS, Dialect, castable
from dnfscale.export.kinds import Kind, kinds
from dnfscale.method.spelling import Spelling, spell
from dnfscale.method.words import holds_where_missing, literals_of
from dnfscale.spec.checks import one_of, text, yes_no
from dnfscale.spec.keys import key
from dnfscale.spec.registry import EXPORTS, Export

_EXACT = 1 << 53
"""Whole numbers up to here are the same in all types of numbers."""


def export_sql(
    model: Model, dialect: str = "duckdb", table: str | None = None, *, probability: bool = False
) -> str:
    """Return the formula as an expression for a WHERE clause, or a SELECT of a table with the
    column `prediction`.

    A table may be given with its schema, as in `sales.customers`; a part with a dot of its own in
    double quotes. For DuckDB it may also be a Parquet file or a glob. The SELECT has the column
    `probability` as well if asked for.
    """
    spoken = _dialect_of(dialect)
    prediction = _expression(model, spoken)
    if table is None:
        if probability:
            raise SpecError("a probability is a column of a whole SELECT; name a table too")
        return "\n".join(prediction)
    columns = [["*"], _named(prediction, "prediction")]
    if probability:
        columns.append(_named(_probability(model, spoken), "probability"))
    listed = ",\n".join("\n".join(f"  {line}" for line in lines) for lines in columns)
    return f"SELECT\n{listed}\nFROM {_table_name(table, spoken)}"


def _dialect_of(name: str) -> Dialect:
    if name not in DIALECTS:
        raise SpecError(f"dialect must be one of {', '.join(DIALECTS)}, got {name!r}")
    return DIALECTS[name]


def _expression(model: Model, dialect: Dialect) -> list[str]:
    """Return the lines of the expression; a name may have line breaks of its own, so they are not
    one text yet.
    """
    lines = _held(model, dialect)
    return lines if model.answer else ["(NOT", *lines, ")"]


def _held(model: Model, dialect: Dialect) -> list[str]:
    """Return the lines of the expression that some line holds, or the tree."""
    _check_names(model.columns, dialect)
    _check_lookalikes(model, model.columns, dialect)
    known = kinds(model.tau)
    if not model.dnf.terms:
        return ["FALSE"]
    if any(not term.care for term in model.dnf.terms):
        return ["TRUE"]

    def told(i: int, holds: bool) -> str:
        return _condition(model.tau.attributes[i], holds, dialect, known)

    if model.tree is not None:
        spelling = Spelling(told, " AND ", " OR ", lambda text: f"NOT {text}")
        terms = [spell(without_negations(model.tree), spelling)]
    else:
        terms = [
            " AND ".join(told(i, holds) for i, holds in term.literals) for term in model.dnf.terms
        ]
    may_be_null = any(
        not holds_where_missing(model.tau.attributes[i], holds)
        and not _never_null(model.tau.attributes[i])
        for i, holds in literals_of(model)
    )
    if len(terms) == 1:
        return [f"COALESCE({terms[0]}, FALSE)" if may_be_null else f"({terms[0]})"]
    lines = [f"  {terms[0]}", *(f"  OR {term}" for term in terms[1:])]
    return (
        ["COALESCE(", *lines[:-1], f"{lines[-1]},", "  FALSE", ")"]
        if may_be_null
        else ["(", *lines, ")"]
    )


def _never_null(attribute: Attribute) -> bool:
    """Return whether an attribute is written so that it is false, never NULL, where the value is
    missing.
    """
    if isinstance(attribute, IsMissing):
        return True
    if isinstance(attribute, Above | Between):
        return not cuts_of(attribute)
    return isinstance(values_of(attribute)[0], bool)


def _condition(attribute: Attribute, holds: bool, dialect: Dialect, known: dict[str, Kind]) -> str:
    """Write that an attribute holds, which may be NULL instead of false, or that it does not, which
    is never NULL.
    """
    stored = stored_column(attribute.column)
    column, kind = dialect.name(stored), known[stored]
    if isinstance(attribute, IsMissing):
        return _missing(column, dialect, kind, holds)
    part = attribute.column
    if isinstance(part, Part):
        column = dialect.part(column, part)
    if isinstance(attribute, Above | Between):
        return _in_range(column, cuts_of(attribute), dialect, kind, holds)
    values = values_of(attribute)
    if isinstance(part, Part):
        places = [dialect.place(part, str(value)) for value in values]
        if len(places) > 1:
            return _listed(column, map(str, places), holds)
        return f"{column} {'=' if holds else 'IS DISTINCT FROM'} {places[0]}"
    if len(values) > 1:
        return _among(column, values, dialect, holds)
    return _equal(column, values[0], dialect, holds)


def _equal(column: str, value: Scalar, dialect: Dialect, holds: bool) -> str:
    if isinstance(value, bool):
        return f"{column} {'IS' if holds else 'IS NOT'} {'TRUE' if value else 'FALSE'}"
    return dialect.same(column, value) if holds else dialect.differs(column, value)


def _among(column: str, values: Sequence[Scalar], dialect: Dialect, holds: bool) -> str:
    """Write that a column has one of some values, or the negation.

    In a list, an engine compares all values in the one type that they have in common. Where that is
    not the type in which it would compare each, they are compared one by one.
    """
    if all(isinstance(value, str) and not castable(value) for value in values):
        return _listed(column, (dialect.text(str(value)) for value in values), holds)
    if all(is_whole(value, -_EXACT, _EXACT) for value in values):
        return _listed(dialect.sign + column, map(str, values), holds)
    joint = " OR " if holds else " AND "
    return f"({joint.join(_equal(column, value, dialect, holds) for value in values)})"


def _listed(column: str, values: Iterable[str], holds: bool) -> str:
    listed = f"({', '.join(values)})"
    return f"{column} IN {listed}" if holds else f"({column} NOT IN {listed} OR {column} IS NULL)"


def _in_range(
    column: str, cuts: Sequence[int | float | Quantity], dialect: Dialect, kind: Kind, holds: bool
) -> str:
    """Write that a column lies above the first cut and, if there is a second, not above that; or
    the negation.
    """
    if not cuts:
        return "FALSE" if holds else "TRUE"
    numbers = [
        dialect.quantity(cut) if isinstance(cut, Quantity) else dialect.number(cut) for cut in cuts
    ]
    signs = (">", "<=") if holds else ("<=", ">")
    said = [f"{column} {sign} {number}" for sign, number in zip(signs, numbers, strict=False)]
    if not holds:
        nan = [] if kind is Kind.MOMENT else [dialect.is_nan(column)]
        return f"({' OR '.join([*said, f'{column} IS NULL', *nan])})"
    if kind is not Kind.MOMENT and dialect.below_nan:
        # For intervals too: DuckDB may take their upper end for granted. This also refuses a column
        # of truth values there.
        said.append(dialect.below_nan(column))
    return " AND ".join(said)


def _missing(column: str, dialect: Dialect, kind: Kind, holds: bool) -> str:
    if kind in (Kind.TEXT, Kind.FLAG, Kind.MOMENT):
        return f"{column} IS NULL" if holds else f"{column} IS NOT NULL"
    nan = dialect.is_nan(column) if kind is Kind.NUMBER else dialect.any_is_nan(column)
    return f"{'' if holds else 'NOT '}({column} IS NULL OR {nan})"


def _probability(model: Model, dialect: Dialect) -> list[str]:
    """Return the lines that look up the probability of each row's type; an ELSE serves the types
    without rows.

    Where types are told apart by attributes, it needs the columns of all of them, including those
    that the formula does not mention.
    """
    columns = [stored_column(attribute.column) for attribute in model.tau.attributes]
    _check_names(columns, dialect)
    _check_lookalikes(model, columns, dialect)
    counts = model.counts
    accepted = model.accepts(counts.codes)
    probabilities = model.probability(counts.n, counts.c, accepted).tolist()
    others = _unseen(model, dialect)
    if len(counts.codes):
        bits = [
            f"CASE WHEN {test} THEN {1 << i} ELSE 0 END"
            for i, test in enumerate(_type_bits(model, dialect))
        ] or ["0"]
        code = [f"  {bits[0]}", *(f"  + {bit}" for bit in bits[1:])]
        known = dict(zip(counts.codes.tolist(), map(dialect.number, probabilities), strict=True))
        others = dialect.looked_up(code, known, others)
    return ["CAST(", *others, f"AS {dialect.double})"]


def _type_bits(model: Model, dialect: Dialect) -> list[str]:
    """Return the tests whose truth values make the type of a row: NULL is as good as false."""
    known = kinds(model.tau)

    def told(i: int, holds: bool) -> str:
        return _condition(model.tau.attributes[i], holds, dialect, known)

    if model.types == "attributes":
        return [told(i, True) for i in range(len(model.tau))]
    return [
        " AND ".join(told(i, holds) for i, holds in line.literals) or "TRUE"
        for line in model.dnf.terms
    ]


def _unseen(model: Model, dialect: Dialect) -> list[str]:
    """Return the probability of types without rows, which depends on the formula only; no lines if
    all types occur.
    """
    left = [dialect.number(float(model.probability(0, 0, a))) for a in model.unseen_answers()]
    if len(left) < 2:
        return left
    below, above = left
    return ["CASE WHEN", *_expression(model, dialect), f"THEN {above} ELSE {below} END"]


def _named(lines: list[str], name: str) -> list[str]:
    return [*lines[:-1], f"{lines[-1]} AS {name}"]


def _check_names(columns: Iterable[str], dialect: Dialect) -> None:
    """Raise DataError unless the engine can have columns of these names side by side."""
    taken: dict[str, str] = {}
    for name in columns:
        if not name or "\0" in name:
            trouble = "an empty name" if not name else f"the character NUL in its name, {name!r}"
            raise DataError(
                f"{dialect.title} has no column with {trouble}; name it otherwise and learn again"
            )
        other = taken.setdefault(dialect.same_name(name), name)
        if other != name:
            raise DataError(
                f"{dialect.title} takes the columns {other!r} and {name!r} for the same; "
                "name one otherwise and learn again"
            )


def _check_lookalikes(model: Model, columns: Iterable[str], dialect: Dialect) -> None:
    """Raise DataError if the engine may take another column of the dataset learned from for one of
    these.
    """
    for column in columns:
        taken: dict[str, str] = {}
        for name in (column, *model.lookalikes.get(column, ())):
            other = taken.setdefault(dialect.same_name(name), name)
            if other != name:
                raise DataError(
                    f"{dialect.title} takes the columns {other!r} and {name!r} of the "
                    "dataset for the same, and may "
                    f"read another column as {column!r} than the one learned from; name "
                    "one otherwise and learn again, "
                    "or export to a language that tells them apart, such as Python"
                )


def _table_name(name: str, dialect: Dialect) -> str:
    """Return the name of a table, or of a file, as it is written in a query."""
    if dialect is DIALECTS["duckdb"] and ("/" in name or name.endswith(".parquet")):
        return dialect.text(name)
    parts = re.findall(r'(?:"((?:[^"]|"")+)"|([^".\0]+))(?:\.|$)', name)
    quoted = ".".join(dialect.name(inner.replace('""', '"') or plain) for inner, plain in parts)
    # What the pattern skipped must not go unnoticed.
    spelled = ".".join(f'"{inner}"' if inner else plain for inner, plain in parts)
    if not parts or spelled != name:
        raise SpecError(
            f'a table must be a name such as customers, sales.customers or "a.b", got {name!r}'
        )
    return quoted


@dataclass(frozen=True, slots=True)
class SqlOptions:
    """Whose SQL, and how much of a query."""

    dialect: str = key(one_of(*DIALECTS), "duckdb", "whose SQL")
    table: str | None = key(
        text,
        None,
        (
            "a whole SELECT of this table, such as customers or sales.customers; for DuckDB "
            "also a Parquet file"
        ),
    )
    probability: bool = key(yes_no, False, "a column `probability` in that SELECT")


EXPORTS.register(
    Export(
        name="sql",
        title="a Boolean expression in SQL, or a SELECT of a table",
        ending=".sql",
        write=export_sql,
        options=SqlOptions,
    )
)
