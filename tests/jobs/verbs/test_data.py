"""`dnfscale data` lists, fetches, converts and makes datasets, and says what it does."""

from __future__ import annotations

import gzip
import io
import json

import pyarrow.parquet as pq
import pytest

from dnfscale.datasets import named
from dnfscale.datasets.catalog import PAPER
from dnfscale.datasets.named import FOLDER_VARIABLE
from dnfscale.jobs.verbs.data import Meter
from tests.datasets.served import left_in, serving, status, whole
from tests.datasets.tiny import ARCHIVE, TABLE, tiny


@pytest.fixture
def web():
    with serving() as server:
        yield server


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch, request):
    """The folder of the cache, which does not exist yet; DNFSCALE_DATA is set for the test that
    asks for it only.
    """
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    if "paper_data" not in request.fixturenames:
        monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    return tmp_path / "cache" / "dnfscale" / "datasets"


@pytest.fixture
def known(monkeypatch):
    """Makes a dataset the only one that the catalogue knows."""
    return lambda *urls: monkeypatch.setattr(named, "PAPER", {"tiny": tiny(*urls)})


# data list


def test_all_datasets_are_listed_a_line_each_with_their_facts_and_places(desk, cache):
    cache.mkdir(parents=True)
    (cache / "colon.parquet").write_bytes(b"")
    ended = desk.here("data", "list")
    assert ended.code == 0
    lines = {line.split()[0]: line for line in ended.out.splitlines()}
    made = ["builtin:shop", "builtin:shop_orders"]
    assert list(lines) == ["builtin:breast_cancer", *made, *(f"paper:{name}" for name in PAPER)]
    for words in (
        "RoadSafety",
        "111,762 rows",
        "324 attributes",
        "target 'SexofDriver', positive 1",
        "not here",
        "Open",
    ):
        assert words in lines["paper:road_safety"]
    assert "cache" in lines["paper:colon"]
    assert "scikit-learn" in lines["builtin:breast_cancer"]


def test_the_list_as_json_has_the_same_facts_and_the_file(desk, cache):
    cache.mkdir(parents=True)
    (cache / "colon.parquet").write_bytes(b"")
    rows = {row["path"]: row for row in json.loads(desk.here("data", "list", "--json").out)}
    assert len(rows) == 15
    assert rows["paper:electricity"] == {
        "path": "paper:electricity",
        "title": "Electricity",
        "rows": 38_474,
        "attributes": 14,
        "target": "class",
        "positive": ["UP"],
        "licence": (
            "OpenML electricity (Harries; Gama), public; the paper's copy is under CC BY 4.0"
        ),
        "place": "not here",
        "file": None,
    }
    assert (rows["paper:colon"]["place"], rows["paper:colon"]["file"]) == (
        "cache",
        str(cache / "colon.parquet"),
    )


@pytest.mark.usefixtures("paper_data")
def test_the_folder_of_the_papers_datasets_is_where_they_are_found(desk):
    rows = json.loads(desk.here("data", "list", "--json").out)
    assert [row["place"] for row in rows] == ["scikit-learn", "made", "made"] + ["folder"] * 12


# data get


def test_a_dataset_is_fetched_and_its_file_printed(desk, web, cache, known):
    known(web.put("/tiny.zip", whole(ARCHIVE)))
    size = f"{len(ARCHIVE) / 1000:.1f} kB"
    ended = desk.here("data", "get", "tiny")
    assert (ended.code, ended.out) == (0, f"{cache / 'tiny.parquet'}\n")
    assert ended.err == f"  tiny  100%  {size} of {size}\n"
    assert pq.read_table(cache / "tiny.parquet") == TABLE
    again = desk.here("data", "get", "paper:tiny", "tiny")
    assert (again.code, again.out, again.err) == (0, ended.out * 2, "")
    assert len(web.requests) == 1


def test_a_dataset_is_taken_from_a_folder(desk, cache, known):
    known()
    pq.write_table(TABLE, desk.path / "tiny.parquet")
    ended = desk.here("data", "get", "tiny", "--from", desk.path)
    assert (ended.code, ended.out, ended.err) == (0, f"{cache / 'tiny.parquet'}\n", "")


def test_what_cannot_be_fetched_ends_with_3_and_leaves_nothing(desk, web, cache, known):
    known(web.put("/tiny.zip", status(404)))
    ended = desk.here("data", "get", "tiny")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.startswith(
        "dnfscale: tiny: expected to download it, but none of its origins would do ("
    )
    assert (
        f"{web.url}/tiny.zip: expected the file, but the server answered 404 (Not Found)"
        in ended.err
    )
    assert left_in(cache) == []


def test_a_wrong_name_ends_with_3_and_a_suggestion(desk):
    ended = desk.here("data", "get", "colom")
    assert ended.code == 3
    assert "did you mean 'colon'?" in ended.message


def test_a_folder_without_the_dataset_ends_with_3(desk):
    ended = desk.here("data", "get", "colon", "--from", desk.path)
    assert ended.code == 3
    assert "expected colon.parquet, colon.mat in this folder, but there is none" in ended.message


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_sees_a_bar_that_moves_ten_times_a_second():
    times = iter([0.0, 0.05, 0.2, 0.25, 0.3])
    stream = Terminal()
    meter = Meter("colon", stream, clock=lambda: next(times))
    for done in (0, 1_000_000, 1_100_000, 2_000_000):
        meter.bytes(done, 2_000_000)
    meter.end()
    half, whole_bar = "#" * 15 + "." * 15, "#" * 30
    drawn = (
        f"\r\x1b[K  colon  [{half}]  50%  1.0 MB of 2.0 MB\r\x1b[K  colon  [{whole_bar}] "
        "100%  2.0 MB of 2.0 MB\n"
    )
    assert stream.getvalue() == drawn


def test_the_bar_ends_before_anything_else_is_written(desk, web, known, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    known(web.put("/tiny.zip", whole(b"not an archive")))
    assert desk.here("data", "get", "tiny").code == 3
    bar, error, *_ = terminal.getvalue().split("\n")
    assert bar.endswith("100%  0.0 kB of 0.0 kB")
    assert error.startswith("dnfscale: tiny: expected to download it")


def test_elsewhere_there_is_a_line_every_five_seconds_and_at_the_end():
    times = iter([0.0, 1.0, 6.0, 7.0, 12.0, 12.5])
    stream = io.StringIO()
    meter = Meter("colon", stream, clock=lambda: next(times))
    meter.bytes(100_000, None)
    meter.bytes(1_500_000, None)
    meter.bytes(1_600_000, None)
    meter.rows(1_234_567)
    meter.bytes(2_000_000, 2_000_000)
    meter.end()
    assert (
        stream.getvalue()
        == "  colon  1.5 MB\n  colon  1,234,567 rows\n  colon  100%  2.0 MB of 2.0 MB\n"
    )


# data convert


def test_a_csv_is_converted_and_its_columns_told(desk):
    (desk.path / "t.csv").write_text("a;b;s\n1;?;x\n2;3.5;y\n")
    ended = desk.here("data", "convert", "t.csv", "out", "--separator", ";", "--missing", "?")
    assert ended.code == 0
    assert (
        ended.out == "out: 2 rows, 3 columns, 1 file\n  3 columns separated by ';'\n  a: int64\n"
        "  b: double, 1 missing\n  s: string\n"
    )
    assert pq.read_table(desk.path / "out").to_pydict() == {
        "a": [1, 2],
        "b": [None, 3.5],
        "s": ["x", "y"],
    }
    assert left_in(desk.path / "out") == ["part-00000.parquet"]


def test_all_options_of_a_conversion_are_heard(desk):
    (desk.path / "t.csv.gz").write_bytes(gzip.compress("01\té\tNA\n02\tb\t-\n".encode("latin1")))
    ended = desk.here(
        "data", "convert", "t.csv.gz", "out", "--separator", "tab", "--names", "code,s,x",
        "--text", "code", "--missing", "-", "--missing", "NA", "--encoding", "latin1",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    assert pq.read_table(desk.path / "out").to_pydict() == {
        "code": ["01", "02"],
        "s": ["é", "b"],
        "x": [None, None],
    }


def test_a_wide_csv_is_told_of_in_short(desk):
    (desk.path / "t.csv").write_text(
        ",".join(f"c{i}" for i in range(100)) + "\n" + ",".join("1" * 100) + "\n"
    )
    lines = desk.here("data", "convert", "t.csv", "out").out.splitlines()
    assert len(lines) == 43
    assert lines[-1] == "  ... and 60 more"


def test_what_was_converted_can_be_learned_from(desk):
    rows = "".join(f"{i % 7},{i % 3},{'yes' if i % 7 > 3 else 'no'}\n" for i in range(200))
    (desk.path / "t.csv").write_text(f"a,b,label\n{rows}")
    assert desk.here("data", "convert", "t.csv", "out").code == 0
    assert desk.here("init", "out", "--target", "label").code == 0
    ended = desk.here("validate", "out.toml")
    assert (ended.code, ended.out) == (0, "out.toml: valid; 200 rows, 3 columns, 1 partition\n")


@pytest.mark.parametrize(
    ("text", "options", "code", "message"),
    [
        (
            "a,b\n1,2\n3\n",
            (),
            3,
            "t.csv: line 3: expected 2 columns, got 1; check the delimiter and the quotes of that",
        ),
        (
            "a,b\n1,2\n",
            ("--separator", "||"),
            2,
            "--separator must be one character, or \"tab\", got '||'",
        ),
        (
            "a,b\n1,2\n",
            ("--separator", ";"),
            3,
            "expected at least two columns separated by ';', got one, 'a,b'",
        ),
        ("a,b\n1,2\n", ("--text", "c"), 3, "expected a column 'c', got a, b"),
    ],
)
def test_a_conversion_that_fails_says_why_and_leaves_nothing(desk, text, options, code, message):
    (desk.path / "t.csv").write_text(text)
    ended = desk.here("data", "convert", "t.csv", "out", *options)
    assert ended.code == code
    assert message in ended.message
    assert left_in(desk.path) == ["t.csv"]


def test_a_folder_that_is_not_empty_is_never_written_to(desk):
    (desk.path / "t.csv").write_text("a,b\n1,2\n")
    for arguments in (("convert", "t.csv", "."), ("make", ".", "--rows", "10")):
        ended = desk.here("data", *arguments)
        assert ended.code == 2
        assert "must be an empty or a new folder; choose another" in ended.message
    assert left_in(desk.path) == ["t.csv"]


# data make


def test_a_synthetic_dataset_is_written_with_what_was_planted(desk):
    ended = desk.here(
        "data",
        "make",
        "new",
        "--rows",
        "1000",
        "--columns",
        "3 float32, 2 category:3",
        "--noise",
        "0.2",
    )
    assert ended.code == 0
    first, planted, noise = ended.out.splitlines()
    assert first == "new: 1,000 rows, 3 float32, 2 category:3, target y"
    assert noise == "then 20% of the labels were flipped"
    assert left_in(desk.path / "new") == ["_planted.json", "part-00000.parquet"]
    assert pq.read_metadata(desk.path / "new" / "part-00000.parquet").num_rows == 1000
    assert (
        f"planted: {json.loads((desk.path / 'new' / '_planted.json').read_text())['planted']}"
        == planted
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--rows", "0"), "--rows must be at least 1, got 0"),
        (("--rows", "5", "--noise", "0.5"), "--noise must be at least 0 and below 0.5, got 0.5"),
        (("--rows", "5", "--columns", "five"), "--columns takes a number of columns"),
        (("--rows", "5", "--seed", "-1"), "--seed must be at least 0, got -1"),
        (("--rows", "5", "--workers", "0"), "--workers must be at least 1, got 0"),
    ],
)
def test_what_cannot_be_made_ends_with_2_and_leaves_nothing(desk, options, message):
    ended = desk.here("data", "make", "new", *options)
    assert ended.code == 2
    assert message in ended.message
    assert left_in(desk.path) == []


@pytest.mark.parametrize(
    "arguments", [(), ("get",), ("convert", "t.csv"), ("make", "new"), ("fly",)]
)
def test_a_command_that_is_not_whole_ends_with_2(desk, arguments):
    assert desk.here("data", *arguments).code == 2
