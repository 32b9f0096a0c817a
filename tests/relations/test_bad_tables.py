"""relations/tables.py: tables that cannot be related are told, and nothing half-written is left."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dnfscale.errors import DataError, SpecError
from tests.relations.made import joined, tables, written


def _cast(name, kind):
    def change(table):
        place = table.column_names.index(name)
        return table.set_column(place, name, table.column(name).cast(kind))

    return change


def _huge(name):
    def change(table):
        values = [2**63 + 5, *table.column(name).to_pylist()[1:]]
        place = table.column_names.index(name)
        return table.set_column(place, name, pa.array(values, pa.uint64()))

    return change


def _missing(name):
    def change(table):
        values = [None, *table.column(name).to_pylist()[1:]]
        place = table.column_names.index(name)
        return table.set_column(place, name, pa.array(values, table.schema.field(name).type))

    return change


def _same(table):
    return table


@pytest.mark.parametrize(
    ("people", "visits", "error", "told"),
    [
        (_same, _cast("person", pa.string()), DataError, "'person' holds text, and 'id' of"),
        (_cast("id", pa.float64()), _same, DataError, "keys must be whole numbers or text, but"),
        (_huge("id"), _same, DataError, "people: column 'id': expected numbers of at most 64 bits"),
        (_missing("id"), _same, DataError, "expected a key in every row, but 'id' is missing"),
        (_same, _missing("person"), DataError, "but 'person' is missing in 1 of 500"),
        (_same, lambda t: t.slice(0, 0), DataError, "rows in the related table 'visits'"),
        (lambda t: t.slice(0, 0), _same, DataError, "expected rows to learn from"),
        (
            _same,
            _cast("at", pa.timestamp("us", "UTC")),
            DataError,
            "'at' has a time zone and 'seen",
        ),
        (_same, lambda t: t.drop_columns(["at"]), SpecError, "time must name a column of"),
        (_same, lambda t: t.rename_columns({"person": "persons"}), SpecError, "did you mean 'pers"),
        (lambda t: t.drop_columns(["id"]), _same, SpecError, "key must name a column of"),
    ],
)
def test_tables_that_cannot_be_related_are_told(tmp_path, people, visits, error, told):
    main, other = tables()
    main = written(people(main), tmp_path / "people")
    other = written(visits(other), tmp_path / "visits")
    with pytest.raises(error, match=told):
        joined(main, other, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_repeated_keys_are_told_and_nothing_is_left(tmp_path):
    main, other = tables(repeats=True)
    main, other = written(main, tmp_path / "people"), written(other, tmp_path / "visits")
    with pytest.raises(DataError, match=r'earlier one.*folds\.group = "id"'):
        joined(main, other, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_infinity_is_told(tmp_path):
    main, other = tables()
    place = other.column_names.index("weight")
    values = [float("inf"), *other.column("weight").to_pylist()[1:]]
    other = other.set_column(place, "weight", pa.array(values))
    main, other = written(main, tmp_path / "people"), written(other, tmp_path / "visits")
    with pytest.raises(DataError, match="column 'weight': expected finite numbers"):
        joined(main, other, tmp_path / "kept")


def test_clocks_of_two_zones_are_compared_as_instants(tmp_path):
    main, other = tables()
    here = _cast("seen_at", pa.timestamp("us", "Europe/Helsinki"))
    there = _cast("at", pa.timestamp("ms", "UTC"))
    main, other = (
        written(here(main), tmp_path / "people"),
        written(there(other), tmp_path / "visits"),
    )
    found = joined(main, other, tmp_path / "kept")
    assert {concept.relation.zoned for concept in found.source.concepts.values()} == {True}
