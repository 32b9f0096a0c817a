"""Related tables: the tables [[data.related]], and how many concepts are made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dnfscale.errors import SpecError
from dnfscale.spec import checks, keys
from dnfscale.spec.storage import file_path

MOST_TABLES = 20
MOST_DAYS = 36_500
_MOST_WINDOWS = 12


def _windows(value: Any) -> tuple[int, ...]:
    given = list(value) if checks.is_list(value) else [None]
    try:
        days = tuple(checks.whole(1, MOST_DAYS)(each) for each in given)
    except ValueError:
        days = ()
    if (given and not days) or len(set(days)) < len(days) or len(days) > _MOST_WINDOWS:
        raise ValueError(
            f"a list of at most {_MOST_WINDOWS} different whole numbers of days between 1 and "
            f"{MOST_DAYS:,}, such as [30, 365]"
        )
    return tuple(sorted(days))


@dataclass(frozen=True, slots=True)
class Related:
    """A table whose rows belong to those of the main table."""

    name: str = keys.key(
        checks.plain_word(
            "a word of letters, digits and underscores, such as orders", r"[A-Za-z_][A-Za-z0-9_]*"
        ),
        None,
        "what formulas and SQL call it, best in the plural",
        required=True,
        example="orders",
    )
    path: str = keys.key(file_path, None, "as data.path", required=True, example="orders/*.parquet")
    key: str = keys.key(
        checks.column,
        None,
        "its column with the values of data.key",
        required=True,
        example="customer_id",
    )
    time: str | None = keys.key(
        checks.column, None, "with data.as_of: when a row came to be", example="ordered_at"
    )
    windows: tuple[int, ...] = keys.key(
        _windows, (), "days before data.as_of that concepts may be limited to", example=[30, 365]
    )
    drop: tuple[str, ...] = keys.key(checks.texts, (), "columns to ignore", example=["note"])
    id: str | None = keys.key(
        checks.column, None, "the column that names a row in explanations", example="order_id"
    )


def related_tables(value: Any) -> tuple[Mapping[str, Any], ...]:
    """Return the tables [[data.related]] with their keys checked; an error names the key."""
    given = list(value) if checks.is_list(value) else [None]
    tables = [each for each in given if isinstance(each, Mapping)]
    if len(tables) < len(given) or len(tables) > MOST_TABLES:
        raise ValueError(
            f"at most {MOST_TABLES} tables, each headed by [[data.related]] with name, path and key"
        )
    known = keys.keys_of(Related)
    found = []
    for number, table in enumerate(tables):
        place = f"data.related[{number}]"
        for name in table:
            if name not in known:
                raise SpecError(
                    f"unknown key {place}.{name}; known are {', '.join(known)}", "data.related"
                )
        for name, own in known.items():
            if own.required and name not in table:
                raise SpecError(
                    f"expected the key {place}.{name}, but it is not there; add it", "data.related"
                )
        try:
            values = {
                name: own.checked(table[name], f"{place}.{name}")
                for name, own in known.items()
                if table.get(name) is not None
            }
        except SpecError as error:
            raise SpecError(error.message, "data.related") from None
        found.append(values)
    names = [table["name"].casefold() for table in found]
    if len(set(names)) < len(names):
        raise ValueError("tables that each have a name of their own")
    return tuple(found)


def tables_of(values: tuple[Mapping[str, Any], ...]) -> tuple[Related, ...]:
    """Return checked tables as what they are."""
    return tuple(keys.built(Related, table) for table in values)


@dataclass(frozen=True, slots=True)
class Relations:
    """How much is asked of related tables."""

    max_concepts: int = keys.key(
        checks.whole(1, 5_000),
        400,
        "the most columns that are made of related tables; what is left out is told",
    )
