"""A published dataset is known by its table, and its file is found where OpenML says."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pyarrow as pa
import pytest

from dnfscale.datasets.published import OpenmlArff, WebFile, check_table
from dnfscale.errors import DataError
from tests.datasets.served import left_in, plain, serving, whole
from tests.datasets.tiny import ARCHIVE, TABLE, TINY, tiny

ARFF = b"@attribute x numeric\n@data\n1\n"


@pytest.fixture
def web():
    with serving() as server:
        yield server


def test_the_right_table_passes_whatever_the_order_of_its_rows_and_columns():
    check_table(TINY, TABLE)
    check_table(TINY, TABLE.take([3, 1, 2, 0]).select(TABLE.column_names[::-1]))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (TABLE.drop_columns(["round"]), "expected 5 columns, got 4 with other names"),
        (
            TABLE.rename_columns(["id", "Size", "kind", "round", "label"]),
            "expected 5 columns, got 5 with other names",
        ),
        (TABLE.slice(1), "expected 4 rows, got 3"),
        (
            TABLE.set_column(4, "label", pa.array(["yes", "no", "no", "no"])),
            "expected no 2, yes 2 labels in 'label', got no 3, yes 1",
        ),
        (
            TABLE.set_column(4, "label", pa.array([1, 2, 2, 1])),
            "expected no 2, yes 2 labels in 'label', got 1 2, 2 2",
        ),
        (
            TABLE.set_column(1, "size", pa.array([1.0, 2.0, 3.0, 4.0])),
            "expected size 1 missing values, got none",
        ),
        (
            TABLE.set_column(1, "size", pa.array([None, None, 3.0, 4.0])),
            "expected size 1 missing values, got size 2",
        ),
        (
            TABLE.set_column(2, "kind", pa.array(["a", "b", "c", "d"])),
            "expected 4 Boolean attributes, got 5",
        ),
    ],
)
def test_another_table_is_refused_with_the_difference(table, message):
    with pytest.raises(
        DataError, match=f"^tiny: {message}; the file is damaged, or another version$"
    ):
        check_table(TINY, table)


def test_values_that_only_an_incomplete_row_has_are_no_attributes():
    # The value b goes with the row that has a gap, c comes: as many attributes as before.
    check_table(TINY, TABLE.set_column(2, "kind", pa.array(["a", "b", "c", "a"])))


def test_rows_are_complete_when_the_columns_to_keep_are():
    gap = TABLE.set_column(0, "id", pa.array([None, 2, 3, 4]))
    known = replace(TINY, missing=(("id", 1), ("size", 1)))
    check_table(known, gap)
    with pytest.raises(DataError, match="expected 2 complete rows, got 3"):
        check_table(replace(known, rows_without_missing=2), gap)


def test_without_missing_values_all_rows_are_complete():
    assert replace(TINY, missing=(), rows_without_missing=0).rows_without_missing == 4


def test_roles_leave_the_numbers():
    assert TINY.numeric == ("size",)


def test_a_file_becomes_the_table(tmp_path):
    dataset = tiny("https://example.org/t.zip")
    (tmp_path / "t.zip").write_bytes(ARCHIVE)
    assert dataset.table(dataset.origins[0], tmp_path / "t.zip") == TABLE


def test_a_file_is_called_as_its_address_ends():
    assert WebFile("https://example.org/a/bank+marketing.zip?x=1").filename == "bank+marketing.zip"
    assert WebFile("https://example.org/statlog%2Bgerman.zip").filename == "statlog+german.zip"


def described(web, content=ARFF, **changes):
    description = {
        "id": "7",
        "url": f"{web.url}/7/x.arff",
        "md5_checksum": hashlib.md5(content).hexdigest(),
    } | changes
    web.put("/api/7", plain(json.dumps({"data_set_description": description}).encode()))
    web.put("/7/x.arff", whole(content))
    return OpenmlArff(7, "x.arff", f"{web.url}/api")


@pytest.mark.parametrize("changes", [{}, {"md5_checksum": None}])
def test_the_arff_file_is_fetched_from_where_its_description_says(web, tmp_path, changes):
    told = []
    described(web, **changes).fetch(tmp_path / "x.arff", lambda *step: told.append(step))
    assert (tmp_path / "x.arff").read_bytes() == ARFF
    assert left_in(tmp_path) == ["x.arff"]
    assert told[-1] == (len(ARFF), len(ARFF))


def test_an_arff_file_with_another_checksum_than_described_is_refused(web, tmp_path):
    with pytest.raises(DataError, match="expected the md5 checksum 0, got "):
        described(web, md5_checksum="0").fetch(tmp_path / "x.arff", None)
    assert left_in(tmp_path) == []


@pytest.mark.parametrize(
    "content", [b"<html>", b"[]", b"{}", b'{"data_set_description": {}}', b"\xff"]
)
def test_a_description_that_is_none_is_told(web, tmp_path, content):
    web.put("/api/7", plain(content))
    with pytest.raises(
        DataError, match=r"/api/7: expected a description with the url of the data, but that is not"
    ):
        OpenmlArff(7, "x.arff", f"{web.url}/api").fetch(tmp_path / "x.arff", None)
    assert left_in(tmp_path) == []


def test_a_description_cannot_lead_out_of_the_web(web, tmp_path):
    with pytest.raises(DataError, match="expected an address that begins with http"):
        described(web, url=(tmp_path / "secret").as_uri()).fetch(tmp_path / "x.arff", None)
