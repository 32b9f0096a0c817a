"""Which files a glob means in a store, judged by Python's own glob on folders of this machine."""

from __future__ import annotations

import glob
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dnfscale.data.listing import is_meant

NAMES = st.text("ab0-1!]^.\\&", min_size=1, max_size=3).filter(lambda name: name.strip("."))
FILES = st.lists(st.lists(NAMES, min_size=1, max_size=3).map("/".join), min_size=1, max_size=8)
PIECES = st.sampled_from(
    ["a", "b", "0", "-", ".", "*", "?", "[!0]", "[a-b]", "[!a-b]", "[]a]", "[!]]", "[^a]", "[", "\\"]
)
PARTS = st.one_of(st.just("**"), st.lists(PIECES, min_size=1, max_size=3).map("".join))
# The folders . and .. are refused in an URL.
PATTERNS = st.lists(PARTS.filter(lambda part: part not in (".", "..")), min_size=1, max_size=3).map("/".join)


def judged(files: list[str], pattern: str) -> tuple[list[str], list[str]]:
    """Lay the files, and return those that are there and those that the pattern finds, in order."""
    with tempfile.TemporaryDirectory() as folder:
        for name in files:
            path = Path(folder, name)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            except OSError:
                # A file and a folder cannot share a name here.
                continue
        there = [str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file()]
        found = glob.glob(pattern, root_dir=folder, recursive=True)
        return there, sorted({name for name in found if os.path.isfile(os.path.join(folder, name))})


@settings(max_examples=150, deadline=None)
@given(FILES, PATTERNS)
@example(["part-0", "part-1"], "part-[!0]*")
@example(["a/.b", "a/b", ".a/b"], "**")
@example(["a", "a/b"], "a/**")
@example(["a&&b", "ab"], "a[!&&b]?")
def test_a_glob_means_the_same_files_in_a_store_as_on_this_machine(files, pattern):
    there, expected = judged(files, pattern)
    assert sorted(name for name in there if is_meant(name, pattern)) == expected


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("b/part-[!0]*", ["b/part-1.parquet", "b/part-2.parquet"]),
        ("b/part-[01].parquet", ["b/part-0.parquet", "b/part-1.parquet"]),
        ("b/[!/]*/c", []),
        ("**/*.parquet", ["b/part-0.parquet", "b/part-1.parquet", "b/part-2.parquet", "b/year=2/c.parquet"]),
        ("b/part-(0|1).parquet", []),
    ],
)
def test_what_patterns_mean(pattern, meant):
    files = ["b/part-0.parquet", "b/part-1.parquet", "b/part-2.parquet", "b/year=2/c.parquet", "b/.hidden.parquet"]
    assert [name for name in files if is_meant(name, pattern)] == meant
