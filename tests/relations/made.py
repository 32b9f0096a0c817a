"""Two small tables with everything that goes wrong in real ones."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dnfscale.core.concepts import Concept
from dnfscale.data.source import Source, open_source
from dnfscale.datasets.convert import Conversion
from dnfscale.relations.tables import Asked, JoinedTable, Side, join_tables, relation_between

_START = datetime.datetime(2024, 1, 1)


def tables(
    seed: int = 0, *, n: int = 60, m: int = 500, text_keys: bool = False, repeats: bool = False
) -> tuple[pa.Table, pa.Table]:
    """Return people and their visits: some people have none, some visits are nobody's, values and
    times are missing, and times coincide with those of people.
    """
    draw = random.Random(seed)

    def key(number: int) -> Any:
        return f"p{number}" if text_keys else number

    numbers = draw.sample(range(10 * n), n)
    if repeats:
        numbers[1::7] = [numbers[0]] * len(numbers[1::7])
    days = [None if draw.random() < 0.05 else draw.randrange(100, 200) for _ in range(n)]
    people = {
        "id": [key(number) for number in numbers],
        "seen_at": [None if day is None else _START + datetime.timedelta(day) for day in days],
        "age": [draw.randrange(20, 90) for _ in range(n)],
        "left": [draw.random() < 0.5 for _ in range(n)],
    }
    owners = [draw.choice(numbers[: n - n // 5]) for _ in range(m)]
    # One person has a tenth of all visits, and some visits are nobody's.
    owners = [numbers[0] if draw.random() < 0.1 else own for own in owners]
    owners = [own if draw.random() > 0.05 else 10 * n + 1 for own in owners]
    visits = {
        "visit": list(range(m)),
        "person": [key(own) for own in owners],
        "at": [
            None if draw.random() < 0.05 else _START + datetime.timedelta(draw.randrange(0, 220))
            for _ in range(m)
        ],
        "cost": [_or_none(draw, round(draw.random() * 100, 2)) for _ in range(m)],
        "weight": [_or_none(draw, draw.gauss(0, 1)) for _ in range(m)],
        "price": [_or_none(draw, Decimal(draw.randrange(10_000)).scaleb(-3)) for _ in range(m)],
        "items": [_or_none(draw, draw.randrange(1, 200)) for _ in range(m)],
        "paid": [_or_none(draw, draw.random() < 0.3) for _ in range(m)],
        "ward": [_or_none(draw, draw.choice(["a", "b", "c d", "é"])) for _ in range(m)],
    }
    visits["weight"][3] = float("nan")
    return pa.table(people), pa.table(visits)


def _or_none(draw: random.Random, value: Any) -> Any:
    return None if draw.random() < 0.1 else value


def written(table: pa.Table, folder: Path, *, files: int = 1, group_rows: int = 1000) -> Source:
    """Write a table to some files, and open them."""
    folder.mkdir(parents=True)
    step = -(-table.num_rows // files)
    for number in range(files):
        part = table.slice(number * step, step)
        pq.write_table(part, folder / f"{number}.parquet", row_group_size=group_rows)
    return open_source(str(folder))


def side_of(people: Source, visits: Source, **changes: Any) -> Side:
    said: Mapping[str, Any] = {
        "table": "visits",
        "key": "person",
        "main_key": "id",
        "time": "at",
        "as_of": "seen_at",
        "row_id": "visit",
    } | changes
    return Side(
        relation_between(people, visits, **said), visits, (30, 90) * (said["as_of"] is not None)
    )


def joined(
    people: Source,
    visits: Source,
    place: Path,
    *,
    most: int = 300,
    repeats: bool = False,
    given: Sequence[Concept] = (),
    tell: Callable[[str], None] = lambda _: None,
    **changes: Any,
) -> JoinedTable:
    conversion = Conversion(places=(str(place),), tell=tell)
    asked = Asked(most=most, repeats=repeats, given=tuple(given))
    return join_tables(people, [side_of(people, visits, **changes)], asked, conversion)


def rows_of(source: Source) -> pa.Table:
    """Return all rows of a joined table, in order."""
    return pa.concat_tables(pq.read_table(file.path) for file in source.files)
