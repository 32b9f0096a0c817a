"""What once went wrong stays right, and a few inputs of every kind are tried anew."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dnfscale.data.footer import chunks_of, read_tail
from dnfscale.errors import DataError
from tests.fuzz.kinds import KINDS, check_files, files_of
from tests.fuzz.specs import check_override
from tests.fuzz.verdict import FuzzError, attempt, limited
from tests.jobs.running import keeping_signals

CORPUS = Path(__file__).parent / "corpus"
CASES = sorted(f"{folder.parent.name}/{folder.name}" for folder in CORPUS.glob("*/*"))
SHORT = {
    "spec": 60,
    "model": 60,
    "result": 6,
    "table": 15,
    "text": 12,
    "lake": 4,
    "related": 4,
    "verb": 6,
}
"""Inputs that every run of the tests tries; `python -m tests.fuzz` tries as many as it is told to.
"""


@pytest.mark.parametrize("case", CASES)
def test_a_past_failure_stays_mended(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = CORPUS / case
    files = {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }
    with keeping_signals():
        check_files(folder.parent.name, files, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_is_made_at_random_does_harm(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with keeping_signals():
        for number in range(SHORT[kind]):
            check_files(kind, files_of(kind, 2024, number), tmp_path)


def test_the_same_seed_and_number_make_the_same_input():
    for kind in KINDS:
        assert files_of(kind, 1, 7) == files_of(kind, 1, 7)
        assert files_of(kind, 1, 7) != files_of(kind, 1, 8)


def test_a_traceback_a_wrong_message_and_a_hang_are_failures():
    with pytest.raises(FuzzError, match="KeyError"):
        attempt(lambda: {}["nothing"])
    with pytest.raises(FuzzError, match="without a message"):
        attempt(lambda: (_ for _ in ()).throw(DataError("")))
    assert attempt(lambda: (_ for _ in ()).throw(DataError("expected something else"))) is None
    with pytest.raises(FuzzError, match="took longer"):
        _hang()


def _hang() -> None:
    with limited(0.05):
        while True:
            pass


@given(st.text())
def test_an_override_of_any_text_is_read_or_refused(text):
    check_override(text)


@given(st.binary(max_size=200), st.integers(0, 200))
@settings(max_examples=200)
def test_a_footer_of_any_bytes_is_read_or_refused(noise, place):
    """Put noise over the footer of a file of two columns."""
    file = _written(pa.table({"a": [1, None], "b": ["x", "y"]}))
    length = int.from_bytes(file[-8:-4], "little")
    begin = len(file) - 8 - length + place % length
    spoiled = (file[:begin] + noise + file[begin + len(noise) :])[: len(file) - 8] + file[-8:]
    try:
        chunks = chunks_of(read_tail(_Bytes(spoiled)).footer)
    except ValueError:
        return
    assert all(chunk.compressed_bytes >= 0 for group in chunks for chunk in group)


@given(
    st.integers(1, 4), st.lists(st.one_of(st.none(), st.integers(-5, 5)), min_size=1, max_size=20)
)
def test_a_footer_says_what_arrow_says(n_columns, values):
    file = _written(
        pa.table({f"c{i}": pa.array(values, pa.int64()) for i in range(n_columns)}),
        row_group_size=7,
    )
    found = chunks_of(read_tail(_Bytes(file)).footer)
    metadata = pq.ParquetFile(pa.BufferReader(file)).metadata
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    chunks = [[group.column(i) for i in range(n_columns)] for group in groups]
    told = [
        [(chunk.total_compressed_size, chunk.statistics.null_count, _start(chunk)) for chunk in g]
        for g in chunks
    ]
    assert [[tuple(chunk) for chunk in group] for group in found] == told


def _start(chunk: pq.ColumnChunkMetaData) -> int:
    return min(chunk.data_page_offset, chunk.dictionary_page_offset or chunk.data_page_offset)


@pytest.mark.slow
def test_a_table_of_ten_thousand_columns_is_learned_from(tmp_path):
    n_rows = 24
    columns = {
        f"c{i}": [(i * 7 + row * row) % (11 if i % 20 == 0 else 2) for row in range(n_rows)]
        for i in range(10_000)
    }
    columns = {
        name: values if max(values) > 1 else [value > 0 for value in values]
        for name, values in columns.items()
    }
    files = {
        "t.parquet": _written(pa.table({**columns, "y": [row % 3 == 0 for row in range(n_rows)]}))
    }
    text = (
        'schema_version = 1\nkind = "fit"\nprofile = "paper"\n[data]\npath = "t.parquet"\ntarget = '
        '"y"\n[cluster]\nkind = "serial"\n'
    )
    check_files("table", {**files, "job.toml": text.encode()}, tmp_path, time_limit_s=120)


class _Bytes:
    """Bytes that are read as a file is."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def size(self) -> int:
        return len(self._content)

    def read_at(self, nbytes: int, offset: int) -> bytes:
        return self._content[offset : offset + nbytes]


def _written(table: pa.Table, **options: int) -> bytes:
    with tempfile.TemporaryFile() as sink:
        pq.write_table(table, sink, **options)
        sink.seek(0)
        return sink.read()
