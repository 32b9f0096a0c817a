"""Roles: what the types of columns allow, and which columns are features."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from dnfscale.core.columns import Column, Role
from dnfscale.data.roles import feature_columns, role_of
from dnfscale.data.source import Source, open_source
from dnfscale.errors import DataError
from tests.data.read_back import write


def test_the_role_of_a_column_follows_from_its_type():
    roles = {
        Role.FLAG: [pa.bool_()],
        Role.NUMBER: [
            *(pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64()),
            *(
                pa.timestamp("s"),
                pa.timestamp("ns", "UTC"),
                pa.date32(),
                pa.time64("ns"),
                pa.duration("us"),
            ),
            *(pa.decimal128(5), pa.decimal128(38, 10)),
        ],
        Role.CATEGORY: [
            pa.string(),
            pa.large_string(),
            pa.string_view(),
            pa.null(),
            pa.dictionary(pa.int8(), pa.string()),
            pa.dictionary(pa.int8(), pa.int64()),
        ],
        None: [
            pa.list_(pa.int64()),
            pa.struct({"a": pa.int64()}),
            pa.decimal256(50, 2),
            pa.dictionary(pa.int8(), pa.date32()),
            pa.dictionary(pa.int8(), pa.decimal128(5)),
            pa.binary(),
            pa.map_(pa.string(), pa.int64()),
            pa.dictionary(pa.int8(), pa.binary()),
        ],
    }
    for role, kinds in roles.items():
        assert {role_of(kind) for kind in kinds} == {role}


def features(source: Source, **choice: tuple[str, ...]) -> tuple[Column, ...]:
    return feature_columns(
        source, **{"target": "y", "drop": (), "categorical": (), "boolean": (), **choice}
    )


def test_feature_columns_have_the_roles_of_their_types_unless_the_spec_says_otherwise(tmp_path):
    table = {
        "a": [1, 2],
        "b": ["u", "v"],
        "c": [True, False],
        "d": [0, 1],
        "e": [1, 2],
        "y": [0, 1],
    }
    source = open_source(str(write(tmp_path / "rows.parquet", table)))
    chosen = features(source, drop=("e",), categorical=("a",), boolean=("d", "b"))
    assert chosen == (
        Column("a", Role.CATEGORY),
        Column("b", Role.FLAG),
        Column("c", Role.FLAG),
        Column("d", Role.FLAG),
    )


def test_the_index_that_pandas_leaves_in_a_file_is_no_feature(tmp_path):
    source = open_source(
        str(write(tmp_path / "rows.parquet", {"a": [1], "y": [0], "__index_level_0__": [7]}))
    )
    assert features(source) == (Column("a", Role.NUMBER),)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pa.array([[1], [2]]), r"list<.*>"),
        (pa.array([{"a": 1}, {"a": 2}]), r"struct<.*>"),
        (pa.array([b"1", b"2"]), "binary"),
    ],
)
def test_a_column_of_a_type_that_has_no_role_is_named(tmp_path: Path, values, kind):
    source = open_source(
        str(write(tmp_path / "rows.parquet", {"a": [1, 2], "odd one": values, "y": [0, 1]}))
    )
    message = (
        r"columns must hold numbers, dates, .* or strings, but 'odd one' has the type "
        rf"{kind}; write .*, or add it"
    )
    with pytest.raises(DataError, match=message):
        features(source)
    assert features(source, drop=("odd one",)) == (Column("a", Role.NUMBER),)
