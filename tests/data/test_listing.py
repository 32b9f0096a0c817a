"""Which files a path means: all that are there, or a word about each that is not read.

Globs are judged by Python's own glob on folders of this machine.
"""

from __future__ import annotations

import glob
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dnfscale.data.listing import Glob, list_files
from dnfscale.data.source import open_source
from dnfscale.errors import DataError
from dnfscale.spec.storage import DEFAULT_ACCESS
from tests.data.read_back import write

NAMES = st.text("ab0-1!]^.\\&", min_size=1, max_size=3).filter(lambda name: name.strip("."))
FILES = st.lists(st.lists(NAMES, min_size=1, max_size=3).map("/".join), min_size=1, max_size=8)
PIECES = st.sampled_from(
    [
        "a",
        "b",
        "0",
        "-",
        ".",
        "*",
        "?",
        "[!0]",
        "[a-b]",
        "[!a-b]",
        "[]a]",
        "[!]]",
        "[^a]",
        "[",
        "\\",
    ]
)
PARTS = st.one_of(st.just("**"), st.lists(PIECES, min_size=1, max_size=3).map("".join))
# The folders . and .. are refused in an URL.
PATTERNS = st.lists(PARTS.filter(lambda part: part not in (".", "..")), min_size=1, max_size=3).map(
    "/".join
)


def lay(files: list[str], folder: str) -> list[str]:
    """Lay files in a folder, and return those that are there."""
    for name in files:
        path = Path(folder, name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        except OSError:
            # A file and a folder cannot share a name here.
            continue
    return [str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file()]


def judged(there: list[str], pattern: str, folder: str) -> list[str]:
    """Return the files that a pattern matches, and those in the folders that it matches,
    in order.
    """
    matched = glob.glob(pattern, root_dir=folder, recursive=True)

    def is_in(name: str, above: Path) -> bool:
        hidden = any(part[0] == "." for part in Path(name).relative_to(above).parts)
        return not hidden and bool({str(above), f"{above}/"} & set(matched))

    return sorted(
        name
        for name in there
        if name in matched or any(is_in(name, above) for above in Path(name).parents)
    )


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(FILES, PATTERNS)
@example(["part-0", "part-1"], "part-[!0]*")
@example(["a/.b", "a/b", ".a/b"], "**")
@example(["a", "a/b"], "a/**")
@example(["a&&b", "ab"], "a[!&&b]?")
def test_a_glob_means_the_same_files_in_a_store_as_on_this_machine(files, pattern):
    with tempfile.TemporaryDirectory() as folder:
        there = lay(files, folder)
        expected = judged(there, pattern, folder)
        assert sorted(filter(Glob(pattern).means, there)) == expected
        path = f"{folder}/{pattern}"
        if expected:
            assert list_files(path, DEFAULT_ACCESS) == [f"{folder}/{name}" for name in expected]
        else:
            with pytest.raises(DataError, match=r"(has|matches) none|there is nothing"):
                list_files(path, DEFAULT_ACCESS)


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("b/part-[!0]*", ["b/part-1.parquet", "b/part-2.parquet"]),
        ("b/part-[01].parquet", ["b/part-0.parquet", "b/part-1.parquet"]),
        ("b/[!/]*/c", []),
        (
            "**/*.parquet",
            ["b/part-0.parquet", "b/part-1.parquet", "b/part-2.parquet", "b/year=2/c.parquet"],
        ),
        ("b/part-(0|1).parquet", []),
        ("b/year=*", ["b/year=2/c.parquet"]),
        ("b/_*", ["b/_aside.parquet"]),
    ],
)
def test_what_patterns_mean(pattern, meant):
    files = [
        "b/part-0.parquet",
        "b/part-1.parquet",
        "b/part-2.parquet",
        "b/year=2/c.parquet",
        "b/.hidden.parquet",
    ]
    files.append("b/_aside.parquet")
    assert [name for name in files if Glob(pattern).means(name)] == meant


# Nothing is passed over without a word.


def rows(number: int) -> dict[str, object]:
    return {"x": [number], "y": ["n"]}


def test_a_file_of_parquet_is_read_whatever_its_name(tmp_path):
    names = [
        "000000_0",
        "a.parquet",
        "b.PARQUET",
        "c.parq",
        "d",
        "e.data",
        "f=1.pq",
        "sub/g.parquet",
        "sub/sub/h",
    ]
    for number, name in enumerate(names):
        write(tmp_path / name, rows(number))
    files = [
        str(Path(file.path).relative_to(tmp_path))
        for file in open_source(str(tmp_path / "*")).files
    ]
    assert (
        files
        == [os.path.relpath(name, tmp_path) for name in list_files(str(tmp_path), DEFAULT_ACCESS)]
        == names
    )


@pytest.mark.parametrize("path", ["", "*", "**", "**/*"])
@pytest.mark.parametrize(
    "name", ["README.md", "z.csv", "b.parquet.tmp", "deep/part-1.inprogress", "c.parquet"]
)
@pytest.mark.parametrize("content", [b"", b"x,y\n1,n\n"])
def test_a_file_in_the_folder_that_is_not_parquet_is_refused_by_name(tmp_path, path, name, content):
    write(tmp_path / "a.parquet", rows(0))
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match="expected a Parquet file, but it cannot be read") as caught:
        open_source(str(tmp_path / path))
    assert caught.value.message.startswith(f"{tmp_path / name}: ")
    assert ("move it elsewhere" in caught.value.message) != name.endswith(".csv")


def test_side_files_are_passed_over_as_spark_does(tmp_path):
    write(tmp_path / "_k=v" / "a.parquet", rows(0))
    for name in (
        "_SUCCESS",
        "_metadata",
        ".a.parquet.crc",
        "._k=v.crc",
        "_temporary/0/b.parquet",
        ".tmp/c.parquet",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("not Parquet")
    for path in (tmp_path, tmp_path / "*", tmp_path / "**"):
        assert list_files(str(path), DEFAULT_ACCESS) == [str(tmp_path / "_k=v" / "a.parquet")]


@pytest.mark.parametrize("path", ["", "*", "*.parquet", "**", "**/*.parquet", "[a-z]*"])
def test_a_broken_link_among_the_files_is_refused_by_name(tmp_path, path):
    write(tmp_path / "a.parquet", rows(0))
    (tmp_path / "b.parquet").symlink_to("/nowhere/b.parquet")
    with pytest.raises(
        DataError, match=r"is a link to /nowhere/b\.parquet, where there is nothing; mount"
    ) as caught:
        list_files(str(tmp_path / path), DEFAULT_ACCESS)
    assert caught.value.message.startswith(f"{tmp_path / 'b.parquet'}: ")


@pytest.mark.parametrize(
    "path", ["", "*", "year=*", "year=*/*.parquet", "*/a.parquet", "**/*.parquet"]
)
def test_a_link_to_a_disk_that_is_not_mounted_is_refused_by_name(tmp_path, path):
    write(tmp_path / "year=2023" / "a.parquet", rows(0))
    disk = tmp_path.parent / f"{tmp_path.name}-disk"
    write(disk / "a.parquet", rows(1))
    (tmp_path / "year=2024").symlink_to(disk)
    assert len(list_files(str(tmp_path / path), DEFAULT_ACCESS)) == 2
    disk.rename(f"{disk}-unmounted")
    with pytest.raises(DataError, match="where there is nothing") as caught:
        list_files(str(tmp_path / path), DEFAULT_ACCESS)
    assert caught.value.message.startswith(f"{tmp_path / 'year=2024'}: ")


def test_links_beside_what_a_glob_asks_for_do_not_matter(tmp_path):
    write(tmp_path / "a.parquet", rows(0))
    for name in ("gone.csv", "_gone", ".gone"):
        (tmp_path / name).symlink_to("/nowhere")
    assert list_files(str(tmp_path / "*.parquet"), DEFAULT_ACCESS) == [str(tmp_path / "a.parquet")]


@pytest.mark.parametrize("path", ["", "*", "**/*.parquet"])
def test_a_link_back_to_a_folder_above_is_refused_by_name(tmp_path, path):
    write(tmp_path / "sub" / "a.parquet", rows(0))
    (tmp_path / "sub" / "up").symlink_to(tmp_path)
    with pytest.raises(DataError, match="is a link to one that it is in itself") as caught:
        list_files(str(tmp_path / path), DEFAULT_ACCESS)
    assert "/up" in caught.value.message.partition(": ")[0]


@pytest.mark.parametrize("path", ["", "*"])
def test_a_pipe_among_the_files_is_refused_by_name(tmp_path, path):
    write(tmp_path / "a.parquet", rows(0))
    os.mkfifo(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet: expected a file or a folder, got a pipe"):
        list_files(str(tmp_path / path), DEFAULT_ACCESS)


@pytest.mark.parametrize("path", ["", "*", "**/*.parquet"])
def test_a_folder_that_may_not_be_listed_is_refused_by_name(tmp_path, monkeypatch, path):
    write(tmp_path / "a.parquet", rows(0))
    write(tmp_path / "closed" / "b.parquet", rows(1))
    scandir = os.scandir

    def refusing(folder: str) -> object:
        # For root every folder is open.
        if os.path.basename(folder) == "closed":
            raise PermissionError(13, "Permission denied", folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(
        DataError, match="/closed: expected to list its files, but Permission denied"
    ):
        list_files(str(tmp_path / path), DEFAULT_ACCESS)


@pytest.mark.parametrize(
    ("log", "kind"),
    [
        ("_delta_log/0.json", "a table of Delta"),
        ("metadata/v1.metadata.json", "a table of Iceberg"),
    ],
)
@pytest.mark.parametrize("named", [".", "data", "data/*.parquet", "data/part-0.parquet"])
def test_a_table_with_a_log_is_not_read_as_loose_files(tmp_path, log, kind, named):
    for name in (log, "data/part-0.parquet"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    with pytest.raises(DataError, match=f"expected Parquet files, got {kind}"):
        list_files(str(tmp_path / named), DEFAULT_ACCESS)


def test_a_folder_called_metadata_makes_no_table_of_others(tmp_path):
    for name in ("metadata/notes.txt", "data/part-0.parquet"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    assert list_files(str(tmp_path / "data"), DEFAULT_ACCESS) == [
        str(tmp_path / "data/part-0.parquet")
    ]
