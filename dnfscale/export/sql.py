"""A model as SQL: one Boolean expression over the dataset's columns, or a whole SELECT.

The expression is never NULL: where a value is missing, NULL or NaN, it gives the model's answer. A
condition that may be NULL stands only where NULL and false have the same effect, and one COALESCE
around everything makes it false. Negations in a tree are therefore moved down to the attributes,
whose negations are never NULL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dnfscale.core.arrays import Scalar, is_whole
from dnfscale.core.concepts import Concept
from dnfscale.core.formula import Term
from dnfscale.core.model import Model, joint_ranks, signs_held, unseen_ranks
from dnfscale.core.parts import Part, stored_column
from dnfscale.core.quantities import Quantity
from dnfscale.core.tree import without_negations
from dnfscale.core.vocabulary import (
    Above,
    Attribute,
    Between,
    Equals,
    IsIn,
    IsMissing,
    Vocabulary,
    cuts_of,
    values_of,
)
from dnfscale.errors import DataError, SpecError
from dnfscale.export.dialect import Dialect, castable
from dnfscale.export.dialects import DIALECTS
from dnfscale.export.kinds import Kind, kinds
from dnfscale.export.related_sql import MAIN, related_condition
from dnfscale.method.literals import Among, Gap, Line, Missing, Never, Range, Said
from dnfscale.method.spelling import Spelling, spell
from dnfscale.method.words import (
    holds_where_missing,
    literals_of,
    model_lines,
    predicted,
    value_text,
)
from dnfscale.spec.checks import one_of, text, texts, yes_no
from dnfscale.spec.keys import key
from dnfscale.spec.registry import EXPORTS, Export

_EXACT = 1 << 53
"""Whole numbers up to here are the same in all types of numbers."""


def export_sql(
    model: Model,
    dialect: str = "duckdb",
    table: str | None = None,
    *,
    probability: bool = False,
    related: Sequence[str] = (),
) -> str:
    """Return the formula as an expression for a WHERE clause, or a SELECT of a table with the
    column `prediction`.

    A table may be given with its schema, as in `sales.customers`; a part with a dot of its own in
    double quotes. For DuckDB it may also be a Parquet file or a glob. The SELECT has the column
    `probability` as well if asked for. Related tables are called by their names, unless `related`
    names them otherwise, as in `orders=shop.orders`.
    """
    spoken = _with_related([model], _dialect_of(dialect), table, related)
    prediction = _expression(model, spoken)
    if table is None:
        if probability:
            raise SpecError("a probability is a column of a whole SELECT; name a table too")
        return "\n".join(prediction)
    columns = [["*"], _named(prediction, "prediction")]
    if probability:
        columns.append(_named(_probability(model, spoken), "probability"))
    return _selected(columns, table, spoken)


def _selected(columns: Sequence[Sequence[str]], table: str, dialect: Dialect) -> str:
    """Return a SELECT of some columns, each given by its lines."""
    listed = ",\n".join("\n".join(f"  {line}" for line in lines) for lines in columns)
    named = f" AS {MAIN}" if dialect.related else ""
    return f"SELECT\n{listed}\nFROM {_table_name(table, dialect)}{named}"


def _with_related(
    models: Sequence[Model], dialect: Dialect, table: str | None, related: Sequence[str]
) -> Dialect:
    """Return a dialect that knows what related tables are called in a query."""
    attributes = [attribute for model in models for attribute in model.tau.attributes]
    concepts = [each.column for each in attributes if isinstance(each.column, Concept)]
    names = {concept.relation.table: concept.relation.table for concept in concepts}
    for given in related:
        name, equals, place = given.partition("=")
        if not equals or name not in names:
            known = ", ".join(names) or "none"
            raise SpecError(
                f"--related takes NAME=TABLE for a table that the model asks about ({known}), "
                f"got {given!r}"
            )
        names[name] = place
    if not names:
        return dialect
    if dialect.rounded is None:
        known = ", ".join(name for name, each in DIALECTS.items() if each.rounded is not None)
        raise SpecError(
            f"a model of related tables is written for {known}, not for {dialect.title}; "
            "choose another --dialect"
        )
    if table is None:
        raise SpecError(
            "a model of related tables is a whole SELECT; name the main table too, "
            "as in --table customers"
        )
    return replace(
        dialect, related={name: _table_name(place, dialect) for name, place in names.items()}
    )


def export_sql_of_classes(
    models: Sequence[Model],
    dialect: str = "duckdb",
    table: str | None = None,
    *,
    probability: bool = False,
    related: Sequence[str] = (),
) -> str:
    """Return an expression for each label, and one for the label that a row gets; or a SELECT with
    a column for each, `prediction` last.
    """
    spoken = _with_related(models, _dialect_of(dialect), table, related)
    if probability:
        raise SpecError("a probability is that of one label's formula; pass a label too")
    answer = _joint_answer(models, spoken)
    if table is None:
        parts = [[f"-- {predicted(model)}", *_expression(model, spoken)] for model in models]
        parts.append(
            ["-- the answer: the label whose formula finds the row most probable", *answer]
        )
        return "\n\n".join("\n".join(part) for part in parts)
    columns = [["*"]]
    for model in models:
        label = spoken.name(f"is {value_text(model.positive[0])}")
        columns.append(_named(_expression(model, spoken), label))
    columns.append(_named(answer, "prediction"))
    return _selected(columns, table, spoken)


def commented(text: str, dialect: Dialect) -> str:
    """Return SQL with a comment before it that says what conditions about NaN are for, where there
    are any.
    """
    guards = (dialect.below_nan, dialect.is_nan)
    asked = any(guard and _trace(guard) in text for guard in guards)
    return f"/* {dialect.nan_note} */\n{text}" if asked and dialect.nan_note else text


def _trace(guard: Callable[[str], str]) -> str:
    """Return what stands in SQL wherever a condition about NaN does."""
    return max(guard("\0").split("\0"), key=len)


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
        return [dialect.truths[False]]
    if any(not term.care for term in model.dnf.terms):
        return [dialect.truths[True]]

    def told(i: int, holds: bool) -> str:
        return _condition(model.tau.attributes[i], holds, dialect, known)

    if model.tree is not None:
        spelling = Spelling(told, " AND ", " OR ", lambda text: f"NOT {text}")
        terms = [spell(without_negations(model.tree), spelling)]
        asked = [(model.tau.attributes[i], holds) for i, holds in literals_of(model)]
    else:
        read = _lines_as_read(model)
        terms = [_line_as_read(line, dialect, known) for line in read]
        asked = [
            own for line in read if line.at_least is None for own in map(_asked, line.literals)
        ]
    # A sum of CASE is never NULL.
    may_be_null = any(
        not holds_where_missing(attribute, holds) and not _never_null(attribute)
        for attribute, holds in asked
    )
    never = dialect.truths[False]
    if len(terms) == 1:
        return [f"COALESCE({terms[0]}, {never})" if may_be_null else f"({terms[0]})"]
    lines = [f"  {terms[0]}", *(f"  OR {term}" for term in terms[1:])]
    return (
        ["COALESCE(", *lines[:-1], f"{lines[-1]},", f"  {never}", ")"]
        if may_be_null
        else ["(", *lines, ")"]
    )


def _lines_as_read(model: Model) -> tuple[Line, ...]:
    """Return the lines as people read them, but with the cuts as they are: a column of a database
    need not hold whole numbers because the one learned from did.
    """
    tau = tuple(
        replace(attribute, whole=False, least=None)
        if isinstance(attribute, Above | Between)
        else attribute
        for attribute in model.tau.attributes
    )
    return model_lines(replace(model, tau=Vocabulary(tau)))


def _line_as_read(line: Line, dialect: Dialect, known: dict[str, Kind]) -> str:
    """Write a line, in which NULL is as good as false."""
    texts = [
        _condition(attribute, holds, dialect, known)
        for attribute, holds in map(_asked, line.literals)
    ]
    if line.at_least is None:
        return " AND ".join(texts) or dialect.truths[True]
    return f"{_sum(texts)} >= {line.at_least}"


def _asked(said: Said) -> tuple[Attribute, bool]:
    """Return what is said about a column as an attribute, and whether it holds."""
    match said:
        case Range(column, low, None):
            return Above("", column, low), True
        case Range(column, None, high):
            return Above("", column, high), False
        case Range(column, low, high):
            return Between("", column, low, high), True
        case Gap(column, low, high):
            return Between("", column, low, high), False
        case Among(column, (value,), holds):
            return Equals("", column, value), holds
        case Among(column, values, holds):
            return IsIn("", column, values), holds
        case Missing(column, holds):
            return IsMissing("", column), holds
        case Never(column, holds):
            return Above("", column, None), holds


def _line(term: Term, told: Callable[[int, bool], str], dialect: Dialect) -> str:
    """Write a line, in which NULL is as good as false."""
    literals = [told(i, holds) for i, holds in term.literals]
    if term.at_least is None:
        return " AND ".join(literals) or dialect.truths[True]
    return f"{_sum(literals)} >= {term.at_least}"


def _sum(tests: Iterable[str]) -> str:
    """Write how many of some tests hold."""
    return " + ".join(f"CASE WHEN {test} THEN 1 ELSE 0 END" for test in tests).join("()")


def _never_null(attribute: Attribute) -> bool:
    """Return whether an attribute is written so that it is false, never NULL, where the value is
    missing.
    """
    if isinstance(attribute, IsMissing) or isinstance(attribute.column, Concept):
        return True
    if isinstance(attribute, Above | Between):
        return not cuts_of(attribute)
    return isinstance(values_of(attribute)[0], bool)


def _condition(attribute: Attribute, holds: bool, dialect: Dialect, known: dict[str, Kind]) -> str:
    """Write that an attribute holds, which may be NULL instead of false, or that it does not, which
    is never NULL.
    """
    if isinstance(attribute.column, Concept):
        return related_condition(attribute, attribute.column, holds, dialect)
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
        return f"{column} {'=' if holds else dialect.distinct} {places[0]}"
    if len(values) > 1:
        return _among(column, values, dialect, holds)
    return _equal(column, values[0], dialect, holds)


def _equal(column: str, value: Scalar, dialect: Dialect, holds: bool) -> str:
    if isinstance(value, bool):
        return dialect.is_truth(column, dialect.truths[value], holds)
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
        return dialect.truths[not holds]
    numbers = [
        dialect.quantity(cut) if isinstance(cut, Quantity) else dialect.number(cut) for cut in cuts
    ]
    signs = (">", "<=") if holds else ("<=", ">")
    said = [f"{column} {sign} {number}" for sign, number in zip(signs, numbers, strict=False)]
    if not holds:
        nan = [] if kind is Kind.MOMENT or dialect.is_nan is None else [dialect.is_nan(column)]
        return f"({' OR '.join([*said, f'{column} IS NULL', *nan])})"
    if kind is not Kind.MOMENT and dialect.below_nan:
        # For intervals too: DuckDB may take their upper end for granted. This also refuses a column
        # of truth values there.
        said.append(dialect.below_nan(column))
    return " AND ".join(said)


def _missing(column: str, dialect: Dialect, kind: Kind, holds: bool) -> str:
    if kind in (Kind.TEXT, Kind.FLAG, Kind.MOMENT):
        return f"{column} IS NULL" if holds else f"{column} IS NOT NULL"
    is_nan = dialect.is_nan if kind is Kind.NUMBER else dialect.any_is_nan
    if is_nan is None:
        return f"{column} IS NULL" if holds else f"{column} IS NOT NULL"
    nan = is_nan(column)
    return f"{'' if holds else 'NOT '}({column} IS NULL OR {nan})"


def _probability(model: Model, dialect: Dialect) -> list[str]:
    """Return the lines of the probability of each row's type."""
    counts = model.counts
    accepted = model.accepts(counts.codes)
    probabilities = model.probability(counts.n, counts.c, accepted).tolist()
    unseen = [dialect.number(float(model.probability(0, 0, a))) for a in model.unseen_answers()]
    found = _of_type(model, dialect, list(map(dialect.number, probabilities)), unseen)
    return ["CAST(", *found, f"AS {dialect.double})"]


def _joint_answer(models: Sequence[Model], dialect: Dialect) -> list[str]:
    """Return the lines of the label that a row gets: each formula gives it a number by its type,
    and the greatest one decides.
    """
    ranked = []
    for model, (table, ranks) in zip(models, joint_ranks(models), strict=True):
        of_types = ranks[table.places(model.counts.codes)].tolist()
        no, yes = unseen_ranks(table, ranks)
        unseen = [str(yes if answer else no) for answer in model.unseen_answers()]
        ranked.append(_of_type(model, dialect, list(map(str, of_types)), unseen))
    k = len(models)
    lines: list[str] = []
    for number, own in enumerate(ranked):
        indented = [f"    {line}" for line in own]
        lines += [*indented[:-1], indented[-1] + ("," if number + 1 < k else "")]
    greatest = "\n".join([f"{dialect.greatest}(", *lines, "  )"])
    labels = [_label(model.positive[0], dialect) for model in models]
    return [
        "CASE",
        *f"  {dialect.remainder(greatest, k)}".split("\n"),
        *(f"  WHEN {k - 1 - number} THEN {label}" for number, label in enumerate(labels)),
        "END",
    ]


def _label(label: Scalar, dialect: Dialect) -> str:
    if isinstance(label, bool):
        return dialect.truths[label]
    return dialect.text(label) if isinstance(label, str) else dialect.number(label)


def _of_type(
    model: Model, dialect: Dialect, values: Sequence[str], unseen: Sequence[str]
) -> list[str]:
    """Return the lines that look up a value by a row's type; an ELSE serves the types without rows.

    Where types are told apart by attributes, it needs the columns of all of them, including those
    that the formula does not mention.
    """
    columns = [stored_column(attribute.column) for attribute in model.tau.attributes]
    _check_names(columns, dialect)
    _check_lookalikes(model, columns, dialect)
    counts = model.counts
    others = _unseen(model, dialect, unseen)
    if len(counts.codes):
        # A type is the sum of its bits; one of a checklist the number of its signs.
        is_signs = model.types == "signs"
        bits = [
            f"CASE WHEN {test} THEN {1 if is_signs else 1 << i} ELSE 0 END"
            for i, test in enumerate(_type_bits(model, dialect))
        ] or ["0"]
        code = [f"  {bits[0]}", *(f"  + {bit}" for bit in bits[1:])]
        types = [signs_held(own) if is_signs else own for own in counts.codes.tolist()]
        known = dict(zip(types, values, strict=True))
        others = dialect.looked_up(code, known, others)
    return others


def _type_bits(model: Model, dialect: Dialect) -> list[str]:
    """Return the tests whose truth values make the type of a row: NULL is as good as false."""
    known = kinds(model.tau)

    def told(i: int, holds: bool) -> str:
        return _condition(model.tau.attributes[i], holds, dialect, known)

    if model.types == "attributes":
        return [told(i, True) for i in range(len(model.tau))]
    if model.types == "signs":
        [checklist] = model.dnf.terms
        return [told(i, holds) for i, holds in checklist.literals]
    return [_line(line, told, dialect) for line in model.dnf.terms]


def _unseen(model: Model, dialect: Dialect, left: Sequence[str]) -> list[str]:
    """Return the value of types without rows, which depends on the formula only; no lines if all
    types occur.
    """
    if len(left) < 2:
        return list(left)
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
    if dialect.title == DIALECTS["duckdb"].title and ("/" in name or name.endswith(".parquet")):
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


def _with_note(write: Callable[..., str]) -> Callable[..., str]:
    """Return what writes the same with the comment on NaN."""

    def written(models: Any, dialect: str = "duckdb", *values: Any, **named: Any) -> str:
        return commented(write(models, dialect, *values, **named), _dialect_of(dialect))

    return written


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
    related: tuple[str, ...] = key(
        texts, (), "what a related table is called there, as in orders=shop.orders"
    )


EXPORTS.register(
    Export(
        name="sql",
        title="a Boolean expression in SQL, or a SELECT of a table",
        ending=".sql",
        write=_with_note(export_sql),
        write_several=_with_note(export_sql_of_classes),
        options=SqlOptions,
    )
)
