"""A CSV of any size becomes a directory of Parquet files."""

from __future__ import annotations

import gzip
from datetime import UTC, date, datetime, time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.data.source import open_source
from dnfscale.datasets import convert
from dnfscale.datasets.convert import convert_csv
from dnfscale.errors import DataError, SpecError
from tests.datasets.served import left_in


@pytest.fixture
def csv(tmp_path):
    """Writes a CSV file."""

    def write(text, name="t.csv", encoding="utf8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def rows_of(folder):
    return pq.read_table(folder).to_pydict()


def test_types_are_inferred_and_missing_values_become_null(csv, out):
    text = (
        "n,x,b,s,day,none\n1,1.5,true,a,2020-01-01,\n,NA,false,,2020-01-02,\n-3,nan,,c "
        "d,2020-01-03,NA\n"
    )
    converted = convert_csv(csv(text), out)
    assert rows_of(out) == {
        "n": [1, None, -3],
        "x": [1.5, None, None],
        "b": [True, False, None],
        "s": ["a", None, "c d"],
        "day": [date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 3)],
        "none": [None, None, None],
    }
    assert (converted.rows, converted.files) == (3, 1)
    assert converted.missing == {"n": 1, "x": 2, "b": 1, "s": 1, "none": 3}
    assert {name: str(kind) for name, kind in converted.types.items()} == {
        "n": "int64", "x": "double", "b": "bool", "s": "string", "day": "date32[day]",
        "none": "null",
    }  # fmt: skip
    assert list(open_source(str(out)).types) == ["n", "x", "b", "s", "day", "none"]


MOMENTS = [
    (["2024-03-01", "1850-12-31"], "date32[day]", date(2024, 3, 1)),
    (["2024-03-01 12:30:00", "9999-03-02T00:00"], "timestamp[ms]", datetime(2024, 3, 1, 12, 30)),
    (
        ["2024-03-01 12:30:00.25", "2024-03-02"],
        "timestamp[ns]",
        datetime(2024, 3, 1, 12, 30, 0, 250_000),
    ),
    (
        ["2024-03-01T12:30:00+02:00", "2024-03-02T00:00:00Z"],
        "timestamp[ms, tz=UTC]",
        datetime(2024, 3, 1, 10, 30, tzinfo=UTC),
    ),
    (["12:30", "23:59:59"], "time32[ms]", time(12, 30)),
    (["2024-03-01", "2024-03-02 12:30:00"], "timestamp[ms]", datetime(2024, 3, 1)),
    (["2024-03-01", "2024-03-02 12:30:00.5"], "timestamp[ns]", datetime(2024, 3, 1)),
    (["2024-03-01", "in March"], "string", "2024-03-01"),
    (["2024-03-01", "2024-03-02T00:00:00Z"], "string", "2024-03-01"),
    (["2024-03-01 12:30:00", "2024-02-30"], "string", "2024-03-01 12:30:00"),
    (["12:30", "24:30"], "string", "12:30"),
    (["1200-03-01 12:30:00", "1200-03-02 12:30:00.5"], "string", "1200-03-01 12:30:00"),
]


@pytest.mark.portable
@pytest.mark.parametrize("empty", [0, 40])
@pytest.mark.parametrize("block", [1 << 20, 64])
@pytest.mark.parametrize(("moments", "kind", "first"), MOMENTS)
def test_dates_and_times_stay_what_they_are_and_anything_else_is_text(
    csv, out, moments, kind, first, block, empty
):
    """Wherever a block ends, and also if the column begins empty."""
    cells = [""] * empty + [moments[0]] * 40 + [moments[1]]
    converted = convert_csv(
        csv("i,a\n" + "".join(f"{i},{a}\n" for i, a in enumerate(cells))), out, block_bytes=block
    )
    assert str(converted.types["a"]) == kind
    assert open_source(str(out)).types["a"] == converted.types["a"]
    assert rows_of(out)["a"][empty] == first
    assert converted.rows == len(cells)


def test_dates_are_text_where_the_user_says_so(csv, out):
    convert_csv(csv("a,b\n2024-03-01,1\n"), out, text=("a",))
    assert rows_of(out) == {"a": ["2024-03-01"], "b": [1]}


def test_separator_markers_names_text_and_encoding_are_as_told(csv, out):
    convert_csv(
        csv("007;?;é\n008;2;NA\n", encoding="latin1"),
        out,
        separator=";",
        missing=("?",),
        names=("code", "x", "s"),
        text=("code",),
        encoding="latin1",
    )
    assert rows_of(out) == {"code": ["007", "008"], "x": [None, 2], "s": ["é", "NA"]}


def test_quotes_may_hold_separators_and_line_ends(csv, out):
    convert_csv(csv('a,b\n1,"x, y\nz"\n2,"say ""hi"""\n'), out)
    assert rows_of(out) == {"a": [1, 2], "b": ["x, y\nz", 'say "hi"']}


def test_a_line_end_in_quotes_does_not_end_a_block(csv, tmp_path):
    text = "a,b\n" + "".join(f'{i},"{"x" * (i % 7)}\n{i}"\n' for i in range(60))
    for block in range(40, 80):
        convert_csv(csv(text), tmp_path / f"out{block}", block_bytes=block)
        assert rows_of(tmp_path / f"out{block}")["b"] == [
            f"{'x' * (i % 7)}\n{i}" for i in range(60)
        ]


def test_a_compressed_csv_is_unpacked_on_the_way(tmp_path, out):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n"))
    assert convert_csv(tmp_path / "t.csv.gz", out).rows == 1


@given(
    rows=st.integers(0, 40),
    part_rows=st.integers(1, 50),
    group_rows=st.integers(1, 20),
    block=st.integers(20, 200),
)
def test_rows_keep_their_order_however_they_are_cut(
    tmp_path_factory, rows, part_rows, group_rows, block
):
    folder = tmp_path_factory.mktemp("cut")
    (folder / "t.csv").write_text("a,b\n" + "".join(f"{i},{i % 3}\n" for i in range(rows)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(convert, "GROUP_ROWS", group_rows)
        converted = convert_csv(
            folder / "t.csv", folder / "out", part_rows=part_rows, block_bytes=block
        )
    files = sorted((folder / "out").iterdir())
    sizes = [pq.read_metadata(file).num_rows for file in files]
    assert [file.name for file in files] == [f"part-{i:05d}.parquet" for i in range(len(files))]
    assert converted.files == len(files) == max(1, -(-rows // part_rows))
    assert all(size == part_rows for size in sizes[:-1])
    assert converted.rows == rows == sum(sizes)
    assert [value for file in files for value in pq.read_table(file)["a"].to_pylist()] == list(
        range(rows)
    )


LATE = "".join(f"{i},1,\n" for i in range(50))


@pytest.mark.parametrize(
    ("last", "kind", "value"),
    [("50,1.5,", "double", 1.5), ("50,2,", "int64", 2)],
)
def test_whole_numbers_become_numbers_when_a_later_row_has_a_fraction(
    csv, out, monkeypatch, last, kind, value
):
    monkeypatch.setattr(convert, "GROUP_ROWS", 5)
    converted = convert_csv(csv(f"i,x,y\n{LATE}{last}\n"), out, block_bytes=64, part_rows=7)
    assert str(converted.types["x"]) == kind
    assert rows_of(out)["x"] == [1] * 50 + [value]
    assert rows_of(out)["i"] == list(range(51))
    assert left_in(out) == [f"part-{i:05d}.parquet" for i in range(8)]


@pytest.mark.parametrize(
    ("value", "kind", "read"),
    [("7", "int64", 7), ("7.5", "double", 7.5), ("late", "string", "late")],
)
def test_a_column_that_begins_empty_finds_its_type(csv, out, value, kind, read):
    converted = convert_csv(csv(f"i,x,y\n{LATE}50,1,{value}\n"), out, block_bytes=64)
    assert str(converted.types["y"]) == kind
    assert rows_of(out)["y"] == [None] * 50 + [read]
    assert converted.missing == {"y": 50}


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            f"i,x,y\n{LATE}50,oops,\n",
            {},
            "row 52: expected double in column 'x' .* got invalid value 'oops'; .*--text x",
        ),
        (
            "a,b\n1,2\n3,4,5\n",
            {},
            r"expected a table separated by ',', got .*Row #3: Expected 2 columns, got 3.*quotes",
        ),
        ("a,b\n1,2\n3\n", {}, "Row #3: Expected 2 columns, got 1"),
        ("", {}, "got Empty CSV file; convert a file that has at least a header"),
        (
            "a;b\n1;2\n",
            {},
            "expected at least two columns separated by ',', got one, 'a;b'; check --separator",
        ),
        ("a,b,a\n1,2,3\n", {}, "column names must differ, but 'a' occurs twice"),
        ("a,b\n1,2\n", {"text": ("c",)}, "expected a column 'c', got a, b"),
        (
            "a,b\n1,2\n",
            {"encoding": "no-such"},
            "unknown encoding: no-such; check --separator and --encoding",
        ),
        (f'i,x\n1,"{"never closed " * 20}\n', {}, "a quote is never closed"),
    ],
)
def test_a_csv_that_cannot_be_converted_leaves_nothing(csv, out, text, options, message):
    file = csv(text)
    with pytest.raises(DataError, match=rf"t\.csv: .*{message}"):
        convert_csv(file, out, block_bytes=64, **options)
    assert not out.exists()
    out.mkdir()
    with pytest.raises(DataError, match=rf"t\.csv: .*{message}"):
        convert_csv(file, out, block_bytes=64, **options)
    assert left_in(out) == []


@pytest.mark.parametrize("late", [False, True])
def test_bytes_of_another_encoding_are_told(csv, out, late):
    rows = "1,plain\n" * 50 * late
    with pytest.raises(DataError, match=r"t\.csv: .*(pass --encoding|invalid UTF8)"):
        convert_csv(csv(f"a,b\n{rows}1,é\n", encoding="latin1"), out, block_bytes=64)
    assert not out.exists()


def test_a_folder_with_something_in_it_is_never_written_to(csv, out):
    out.mkdir()
    (out / "mine.txt").write_text("keep")
    with pytest.raises(SpecError, match="out must be an empty or a new folder; choose another"):
        convert_csv(csv("a,b\n1,2\n"), out)
    assert left_in(out) == ["mine.txt"]
    with pytest.raises(SpecError, match="must be an empty or a new folder"):
        convert_csv(csv("a,b\n1,2\n"), out / "mine.txt")


def test_wrong_arguments_are_told_before_anything_is_made(csv, out, tmp_path):
    with pytest.raises(
        DataError, match=r"none\.csv: expected a CSV file, but there is none at this path"
    ):
        convert_csv(tmp_path / "none.csv", out)
    with pytest.raises(SpecError, match=r"the separator must be one character, got '\|\|'"):
        convert_csv(csv("a,b\n1,2\n"), out, separator="||")
    assert not out.exists()


def test_a_folder_that_cannot_be_made_is_told(csv, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataError, match=r"cannot be written: .*; choose another folder"):
        convert_csv(csv("a,b\n1,2\n"), tmp_path / "file" / "out")


def test_an_interrupt_leaves_nothing(csv, out, monkeypatch):
    monkeypatch.setattr(convert, "GROUP_ROWS", 10)

    def interrupt(_):
        assert left_in(out) == [".part-00000.parquet"]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert_csv(csv(f"i,x,y\n{LATE}"), out, block_bytes=64, progress=interrupt)
    assert not out.exists()


def test_progress_counts_the_rows(csv, out, monkeypatch):
    monkeypatch.setattr(convert, "GROUP_ROWS", 10)
    told = []
    convert_csv(csv(f"i,x,y\n{LATE}"), out, block_bytes=64, progress=told.append)
    assert told == sorted(told)
    assert len(told) > 2
    assert told[-1] <= 50


def test_a_csv_is_held_in_memory_a_block_at_a_time(csv, out):
    file = csv("a,b,c\n" + "".join(f"{i},{i * 7 % 1000},{i % 13}\n" for i in range(400_000)))
    before = pa.total_allocated_bytes()
    most = 0

    def watch(_):
        nonlocal most
        most = max(most, pa.total_allocated_bytes() - before)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(convert, "GROUP_ROWS", 10_000)
        convert_csv(file, out, block_bytes=1 << 16, progress=watch)
    assert 0 < most < 3_000_000 < 400_000 * 3 * 8
