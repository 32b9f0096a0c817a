"""export/related_sql.py: DuckDB and PostgreSQL say of every row what the joined table says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from dnfscale.core.concepts import Concept, Figure
from dnfscale.core.vocabulary import Above, Attribute, Between, IsMissing, IsTrue
from dnfscale.data.source import Source
from dnfscale.export.dialects import DIALECTS
from dnfscale.export.related_sql import MAIN, related_condition
from tests.export.conftest import postgres  # noqa: F401 (a fixture)
from tests.relations.made import joined, rows_of, tables, written

_STRIDE = 3
_AT_ONCE = 8
"""DuckDB takes a minute for a hundred subqueries in one query."""
Case = tuple[Attribute, Concept, bool]


@pytest.fixture(params=[None, "seen_at"])
def made(request, tmp_path) -> tuple[pa.Table, pa.Table, Source]:
    people, visits = tables(5, n=40, m=300, text_keys=request.param is None)
    main, other = written(people, tmp_path / "people"), written(visits, tmp_path / "visits")
    found = joined(main, other, tmp_path / "kept", most=120, as_of=request.param)
    return people, visits, found.source


def cases_of(source: Source) -> list[Case]:
    """Every concept with the cuts that are hardest: values that rows have."""
    rows = rows_of(source)
    found: list[Case] = []
    by_figure = sorted(source.concepts.items(), key=lambda item: list(Figure).index(item[1].figure))
    for place, (name, concept) in enumerate(by_figure[::_STRIDE]):
        values = sorted(rows.column(name).drop_null().to_pylist())
        attributes: list[Attribute] = [IsTrue("", concept, True)]
        if concept.figure is not Figure.SOME:
            low, high = values[len(values) // 3], values[2 * len(values) // 3]
            attributes = [Above("", concept, low), IsMissing("", concept)]
            if low < high:
                attributes.append(Between("", concept, low, high))
        found += [(attribute, concept, bool(place % 2)) for attribute in attributes]
    return found


def holds(attribute: Attribute, value: Any) -> bool:
    if isinstance(attribute, IsMissing):
        return value is None
    if isinstance(attribute, IsTrue):
        return bool(value)
    if value is None:
        return False
    if isinstance(attribute, Above):
        return bool(value > attribute.value)
    assert isinstance(attribute, Between)
    return bool(attribute.low < value <= attribute.high)


def query_of(cases: Sequence[Case], name: str) -> str:
    dialect = replace(DIALECTS[name], related={"visits": "visits"})
    said = [
        f"{related_condition(attribute, concept, asked, dialect)} AS c{place}"
        for place, (attribute, concept, asked) in enumerate(cases)
    ]
    return f"SELECT {', '.join(said)} FROM people AS {MAIN} ORDER BY {MAIN}.id"


def expected(cases: Sequence[Case], source: Source) -> list[tuple[bool, ...]]:
    rows = sorted(rows_of(source).to_pylist(), key=lambda row: row["id"])
    return [
        tuple(holds(attribute, row[concept.name]) is asked for attribute, concept, asked in cases)
        for row in rows
    ]


def batched(cases: Sequence[Case], size: int) -> Iterator[Sequence[Case]]:
    for first in range(0, len(cases), size):
        yield cases[first : first + size]


def _wrong(cases: Sequence[Case], ours: Sequence[Any], theirs: Sequence[Any]) -> list[str]:
    return [
        f"{cases[place]}, row {number}"
        for number, (row, other) in enumerate(zip(ours, theirs, strict=True))
        for place, (one, two) in enumerate(zip(row, other, strict=True))
        if one is not two
    ]


def test_duckdb_says_of_every_row_what_we_say(made):
    people, visits, source = made
    cases = cases_of(source)
    assert {concept.figure for _, concept, _ in cases} == set(Figure)
    with duckdb.connect() as connection:
        connection.register("people", people)
        connection.register("visits", visits)
        for some in batched(cases, _AT_ONCE):
            found = connection.sql(query_of(some, "duckdb")).fetchall()
            assert _wrong(some, expected(some, source), found) == []


def test_postgres_says_of_every_row_what_we_say(made, postgres):  # noqa: F811
    people, visits, source = made
    cases = cases_of(source)
    script = ["BEGIN;"]
    for name, table in (("people", people), ("visits", visits)):
        columns = ", ".join(f'"{field.name}" {_TYPES[str(field.type)]}' for field in table.schema)
        script.append(f"CREATE TEMP TABLE {name} ({columns});")
        for row in table.to_pylist():
            script.append(f"INSERT INTO {name} VALUES ({', '.join(map(_literal, row.values()))});")
    script += [query_of(cases, "postgres") + ";", "ROLLBACK;"]
    printed = postgres.run("\n".join(script))
    found = [tuple(cell == "t" for cell in line.split("|")) for line in printed.splitlines()]
    assert _wrong(cases, expected(cases, source), found) == []


_TYPES = {
    "int64": "bigint",
    "double": "double precision",
    "decimal128(4, 3)": "numeric(4, 3)",
    "bool": "boolean",
    "string": 'text COLLATE "C"',
    "timestamp[us]": "timestamp",
}


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, float) and value != value:
        return "'NaN'"
    if isinstance(value, bool | int | float):
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"
