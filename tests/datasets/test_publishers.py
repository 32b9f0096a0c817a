"""Files of publishers become tables, and tables become Parquet."""

from __future__ import annotations

import gzip
import io
import random
import re
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.io import savemat

from dnfscale.datasets.publishers import Arff, Csv, Mat, Parquet, Recode, typed, unpack, write_table
from dnfscale.errors import DataError
from tests.datasets.served import left_in, zipped


def parquet_bytes(table):
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def mat_bytes(**variables):
    sink = io.BytesIO()
    savemat(sink, variables)
    return sink.getvalue()


def test_a_csv_without_a_header_gets_the_names_that_are_given():
    table = Csv(("a", "b", "s"), text=("s",), missing=("?",)).read(b"1,2.5,x\n?,3,?\n", "f")
    assert table.to_pydict() == {"a": [1.0, None], "b": [2.5, 3.0], "s": ["x", None]}


def test_without_a_marker_a_question_mark_is_text():
    assert Csv(("s", "t"), text=("s", "t")).read(b"?,y\n,n\n", "f").to_pydict() == {
        "s": ["?", ""],
        "t": ["y", "n"],
    }


def test_a_header_is_passed_over_and_quotes_are_taken_off():
    content = b'\xef\xbb\xbf"Daytime attendance\t";"y"\r\n1;"yes; no"\r\n'
    table = Csv(("day", "y"), text=("y",), separator=";", header=True).read(content, "f")
    assert table.to_pydict() == {"day": [1.0], "y": ["yes; no"]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"1,2\n3\n", "Row #2: Expected 2 columns, got 1"),
        (b"1,2\n3,x\n", "column #1: Row #2: .* invalid value 'x'"),
        (b"", "Empty CSV"),
    ],
)
def test_a_csv_that_does_not_fit_is_told(content, said):
    with pytest.raises(
        DataError,
        match=rf"^f: expected 2 columns separated by ',', .*{said}.*is this the right file",
    ):
        Csv(("a", "b")).read(content, "f")


def test_parquet_is_read_with_its_dictionaries_decoded_and_without_the_index_of_pandas():
    coded = pa.array(["UP", "DOWN", None]).dictionary_encode()
    table = pa.table({"class": coded, "x": [1, 2, 3], "__index_level_0__": [0, 1, 2]})
    read = Parquet().read(parquet_bytes(table), "f")
    assert read.to_pydict() == {"class": ["UP", "DOWN", None], "x": [1, 2, 3]}
    assert read.schema.field("class").type == pa.string()


def test_a_broken_parquet_file_is_told():
    with pytest.raises(
        DataError,
        match=r"^f: expected a Parquet file, but it cannot be read \(.*\); fetch it again$",
    ):
        Parquet().read(parquet_bytes(pa.table({"x": [1]}))[:-20], "f")


def test_a_matlab_file_gives_its_labels_and_its_features():
    content = mat_bytes(
        X=np.array([[-2, 0], [2, 2], [0, 0]], dtype=np.int16), Y=np.array([[-1], [1], [1]])
    )
    assert Mat(("v1", "v2"), "class").read(content, "f").to_pydict() == {
        "class": [-1, 1, 1],
        "v1": [-2, 2, 0],
        "v2": [0, 2, 0],
    }


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (mat_bytes(X=np.zeros((2, 2))), "expected the variables X and Y, but there is no Y;"),
        (
            mat_bytes(X=np.zeros((2, 3)), Y=np.zeros(2)),
            r"a row of 2 numbers for each of the 2 labels .* \(2, 3\)",
        ),
        (mat_bytes(X=np.zeros((3, 2)), Y=np.zeros(2)), r"for each of the 2 labels .* \(3, 2\)"),
        (b"", "expected a MATLAB file up to version 7.2"),
        (b"<html>not found</html>" * 20, "expected a MATLAB file up to version 7.2"),
        (
            mat_bytes(X=np.arange(400.0).reshape(200, 2), Y=np.zeros(200))[:900],
            "expected a MATLAB file",
        ),
    ],
)
def test_a_matlab_file_of_another_kind_is_told(content, said):
    with pytest.raises(DataError, match=f"^f: .*{said}"):
        Mat(("v1", "v2"), "class").read(content, "f")


def test_members_are_unpacked_through_archives_in_archives(tmp_path):
    file = tmp_path / "outer.zip"
    file.write_bytes(
        zipped(**{"inner.zip": zipped(**{"folder/a.csv": b"1,2\n"}), "b.data.gz": b"3\n"})
    )
    assert unpack(file, ("inner.zip", "folder/a.csv")) == b"1,2\n"
    assert unpack(file, ("b.data.gz",)) == b"3\n"
    (tmp_path / "plain").write_bytes(b"4\n")
    assert unpack(tmp_path / "plain", ()) == b"4\n"


def test_a_member_that_is_not_there_is_told_with_those_that_are(tmp_path):
    file = tmp_path / "a.zip"
    file.write_bytes(zipped(**{"one.csv": b"", "two.csv": b""}))
    with pytest.raises(
        DataError, match=r"^a\.zip: expected the member three\.csv, got one\.csv, two\.csv"
    ):
        unpack(file, ("three.csv",))


def test_an_archive_that_is_none_is_told(tmp_path):
    file = tmp_path / "a.zip"
    whole = zipped(**{"one.csv": random.Random(0).randbytes(5000), "inner.zip": b"not an archive"})
    for content, members in (
        (b"<html>", ("one.csv",)),
        (whole[:3000], ("one.csv",)),
        (whole[:1000] + b"\0" * 100 + whole[1100:], ("one.csv",)),
        (whole, ("inner.zip", "x")),
    ):
        file.write_bytes(content)
        with pytest.raises(
            DataError,
            match=r"^a\.zip.*: expected a whole archive, but it is not one \(.*fetch it again",
        ):
            unpack(file, members)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.gz", gzip.compress(b"x" * 100)[:-5])
    with pytest.raises(DataError, match=r"^a\.zip/a\.gz: expected a whole archive"):
        unpack(file, ("a.gz",))


def test_values_are_recoded_and_missing_ones_get_a_code():
    table = pa.table({"a": [1.0, 2.0, None, 5.0], "b": ["x", "y", "z", "z"]})
    assert Recode("a", ((1, 3), (2, 0)), missing=4)(table)["a"].to_pylist() == [3, 0, 4, 5]
    assert Recode("a", ((1, 3),))(table)["a"].to_pylist() == [3, 2, None, 5]
    assert Recode("b", (("z", "w"),))(table).column_names == ["a", "b"]
    with pytest.raises(DataError, match="expected a column 'c', but there is none"):
        Recode("c")(table)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 127], pa.int8()),
        ([-127, 128], pa.int16()),
        ([None, 40_000], pa.int32()),
        ([-(2**31), 0], pa.int64()),
        ([2**53], pa.int64()),
        ([None, None], pa.int8()),
    ],
)
def test_whole_numbers_get_the_narrowest_type_that_holds_them(values, kind):
    table = typed(
        pa.table({"x": pa.array(values, pa.float64())}), columns=("x",), text=(), fractional=()
    )
    assert table["x"].to_pylist() == values
    assert table.schema.field("x").type == kind


def test_columns_are_put_in_order_and_typed_whatever_the_file_had():
    table = pa.table(
        {
            "text": pa.array([1, 2, 3]),
            "flag": pa.array([True, False, None]),
            "code": pa.array(["7", "8.0", None]),
            "share": pa.array([1, 2, 3]),
            "gap": pa.array([1.0, float("nan"), None]),
        }
    )
    got = typed(
        table,
        columns=("code", "flag", "gap", "share", "text"),
        text=("text",),
        fractional=("share",),
    )
    assert got.to_pydict() == {
        "code": [7, 8, None],
        "flag": [1, 0, None],
        "gap": [1, None, None],
        "share": [1.0, 2.0, 3.0],
        "text": ["1", "2", "3"],
    }
    assert got.schema.types == [pa.int8(), pa.int8(), pa.int8(), pa.float64(), pa.string()]


@pytest.mark.parametrize("value", [0.5, float("inf"), 2.0**54])
def test_a_number_that_is_not_whole_is_told(value):
    with pytest.raises(
        DataError, match=re.escape(f"expected whole numbers in column 'x', got {value!r};")
    ):
        typed(pa.table({"x": [1.0, value]}), columns=("x",), text=(), fractional=())


def test_text_among_numbers_is_told():
    with pytest.raises(DataError, match="expected numbers in column 'x', got string"):
        typed(pa.table({"x": ["1", "one"]}), columns=("x",), text=(), fractional=())


def test_columns_that_are_missing_or_unknown_are_named():
    with pytest.raises(
        DataError,
        match=r"expected 2 columns, but 1 of them are missing \(b\), and there are 1 unknown",
    ):
        typed(pa.table({"a": [1], "c": [1]}), columns=("a", "b"), text=(), fractional=())


def test_a_table_is_written_whole_or_not_at_all(tmp_path):
    table = pa.table({"x": [1, 2]})
    write_table(table, tmp_path / "new" / "t.parquet")
    assert pq.read_table(tmp_path / "new" / "t.parquet") == table
    assert (
        pq.read_metadata(tmp_path / "new" / "t.parquet").row_group(0).column(0).compression
        == "ZSTD"
    )
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "new" / "u.parquet").mkdir()
    for path in (tmp_path / "file" / "t.parquet", tmp_path / "new" / "u.parquet"):
        with pytest.raises(DataError, match=r"\.parquet cannot be written: "):
            write_table(table, path)
    assert left_in(tmp_path) == ["file", "new", "new/t.parquet", "new/u.parquet"]


def test_every_reader_gives_the_same_table_of_the_same_values():
    rows = {"x": [1.0, 2.5, None], "s": ["a", "b c", "d"]}
    csv = Csv(("x", "s"), text=("s",), missing=("?",)).read(b"1,a\n2.5,b c\n?,d\n", "f")
    arff = Arff().read(b"@attribute x real\n@attribute s string\n@data\n1,a\n2.5,'b c'\n?,d\n", "f")
    parquet = Parquet().read(parquet_bytes(pa.table(rows)), "f")
    assert csv == arff == parquet == pa.table(rows)
