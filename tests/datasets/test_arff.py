"""ARFF files are read as Weka and OpenML write them, and what cannot be read is told with its
line.
"""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.datasets import arff
from dnfscale.datasets.arff import parse_arff
from dnfscale.errors import DataError

SMALL = """\
% a comment, before anything

@RELATION 'a small one'
@attribute age NUMERIC
@ATTRIBUTE 'day of week' {1, 2,'3 or 4', "five"}
@attribute "it's \\"quoted\\"" string
@attribute height real
@attribute seen date "yyyy-MM-dd"
@attribute count integer
@data
% a comment among the data
1,1,hello,1.5,2020-01-01,7
 -2e1 , 2 , 'a, b' , ? , "2020-01-02" , 8

?,'3 or 4',"it's",.5,?,-9
3,five,'?',0,'x',0
"""


def read(text):
    return parse_arff(text.encode(), "small.arff")


def test_numbers_nominals_strings_quotes_comments_and_missing_values_are_read():
    table = read(SMALL)
    assert table.to_pydict() == {
        "age": [1.0, -20.0, None, 3.0],
        "day of week": ["1", "2", "3 or 4", "five"],
        'it\'s "quoted"': ["hello", "a, b", "it's", "?"],
        "height": [1.5, None, 0.5, 0.0],
        "seen": ["2020-01-01", "2020-01-02", None, "x"],
        "count": [7.0, 8.0, -9.0, 0.0],
    }
    assert table.schema.types == [
        pa.float64(),
        pa.string(),
        pa.string(),
        pa.float64(),
        pa.string(),
        pa.float64(),
    ]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_ends_and_a_byte_order_mark_make_no_difference(newline):
    assert parse_arff(b"\xef\xbb\xbf" + SMALL.replace("\n", newline).encode(), "f") == read(SMALL)


def test_a_file_without_rows_has_its_columns():
    table = read("@relation r\n@attribute a numeric\n@attribute b {x}\n@data\n")
    assert table.num_rows == 0
    assert table.schema == pa.schema([("a", pa.float64()), ("b", pa.string())])


def test_rows_are_the_same_in_one_chunk_or_many(monkeypatch):
    monkeypatch.setattr(arff, "_CHUNK_ROWS", 3)
    assert read(SMALL) == pa.concat_tables([read(SMALL)]).combine_chunks()
    lines = "@attribute a numeric\n@data\n" + "".join(f"{i}\n" for i in range(10))
    assert read(lines)["a"].to_pylist() == list(range(10))


@given(
    st.lists(
        st.one_of(st.none(), st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"])))
    )
)
def test_any_text_comes_back_from_its_quotes(values):
    def quoted(value):
        return "?" if value is None else "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"

    text = "@attribute n numeric\n@attribute s string\n@data\n" + "".join(
        f"1,{quoted(value)}\n" for value in values
    )
    assert read(text)["s"].to_pylist() == values


HEAD = "@attribute a numeric\n@attribute b {x, y}\n@data\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "1,x\n2\n", "line 5: expected 2 values, got 1"),
        (HEAD + "1,x,3\n", "line 4: expected 2 values, got 3"),
        (HEAD + "\n%\n1,z\n", "line 6: expected one of the values declared for 'b', got 'z'"),
        (HEAD + "1,x\none,y\n", "line 5: expected a number in 'a', got 'one'"),
        (HEAD + "{0 1}\n", "line 4: .* got a sparse row"),
        (HEAD + "1,'x\n", 'line 4: expected a value with its quotes closed, got "\'x"'),
        (HEAD + "1,'x'y\n", "line 4: expected a value with its quotes closed"),
        ("@data\n1\n", "line 1: expected @attribute lines before @data"),
        ("@attribute a numeric\n", "expected a line @data, but there is none"),
        ("", "expected a line @data, but there is none"),
        ("a,b\n1,2\n", "line 1: expected @relation, @attribute or @data, got 'a,b'"),
        ("@attribute a\n@data\n", "line 1: expected `@attribute name type`, got '@attribute a'"),
        (
            "@attribute a complex\n@data\n",
            "line 1: expected numeric, string or {values} as the type of 'a'",
        ),
        (
            "@attribute a numeric\n@attribute 'a' string\n@data\n",
            "line 2: attribute names must differ, but 'a'",
        ),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(text, message):
    with pytest.raises(DataError, match=f"^small.arff: {message}"):
        read(text)


def test_bytes_that_are_not_text_are_told_with_their_line():
    with pytest.raises(DataError, match=r"^f: expected an ARFF file in UTF-8, but line 4 is not"):
        parse_arff(HEAD.encode() + b"1,\xff\n", "f")
