"""A dataset of the paper is found in the folder, in the cache, or on the web, in this order, and
kept.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from dnfscale.datasets import named
from dnfscale.datasets.named import (
    FOLDER_VARIABLE,
    Record,
    cache_folder,
    describe_named,
    download,
    get,
    open_named,
)
from dnfscale.errors import DataError
from tests.datasets.served import left_in, serving, status, whole, zipped
from tests.datasets.tiny import ARCHIVE, CSV, TABLE, TINY, tiny

ROLES = Record("label", ("yes",), ("id",), ("kind",), ("round",))
INDEX = """
[datasets.tiny]
file = "here.parquet"
target = "kind"
positive = ["a"]
"""


@pytest.fixture
def web():
    with serving() as server:
        yield server


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder of the cache, which does not exist yet; DNFSCALE_DATA is not set."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    return tmp_path / "cache" / "dnfscale" / "datasets"


@pytest.fixture
def known(monkeypatch):
    """Makes a dataset the only one that the catalogue knows."""

    def make(*urls):
        monkeypatch.setattr(named, "PAPER", {"tiny": tiny(*urls)})

    return make


@pytest.fixture
def folder(tmp_path, monkeypatch, cache):
    """The folder that DNFSCALE_DATA names, which is empty."""
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))
    assert not cache.exists()
    return folder


def test_a_dataset_is_downloaded_converted_checked_and_kept(web, cache, known):
    told = []
    known(web.put("/tiny.zip", whole(ARCHIVE)))
    file = get("tiny", progress=lambda *step: told.append(step))
    assert file == cache / "tiny.parquet"
    assert pq.read_table(file) == TABLE
    assert left_in(cache) == ["tiny.parquet"]
    assert told[-1] == (len(ARCHIVE), len(ARCHIVE))
    assert get("paper:tiny") == file
    assert len(web.requests) == 1


def test_another_cache_can_be_named(web, cache, known, tmp_path):
    known(web.put("/tiny.zip", whole(ARCHIVE)))
    assert get("tiny", cache=tmp_path / "mine") == tmp_path / "mine" / "tiny.parquet"
    assert not cache.exists()


def test_a_transfer_that_breaks_is_resumed(web, cache, known, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)
    known(web.put("/tiny.zip", whole(ARCHIVE, stop_at=50), whole(ARCHIVE)))
    assert pq.read_table(get("tiny")) == TABLE
    assert web.asked("Range") == [None, "bytes=50-"]
    assert left_in(cache) == ["tiny.parquet"]


@pytest.mark.parametrize(
    "first",
    [
        status(404),
        whole(b"<html>sorry</html>"),
        whole(ARCHIVE[:-30]),
        whole(zipped(other=CSV)),
        whole(zipped(**{"tiny.data": CSV[:-10]})),
        whole(zipped(**{"tiny.data": CSV.replace(b"no", b"yes")})),
    ],
)
def test_the_next_origin_is_tried_when_one_will_not_do(web, cache, known, first):
    known(web.put("/first.zip", first), web.put("/second.zip", whole(ARCHIVE)))
    assert pq.read_table(get("tiny")) == TABLE
    assert left_in(cache) == ["tiny.parquet"]
    assert len(web.requests) == 2


def test_when_no_origin_will_do_each_is_told_and_nothing_is_left(web, cache, known):
    known(
        web.put("/gone.zip", status(404)),
        web.put("/short.zip", whole(zipped(**{"tiny.data": CSV[: CSV.index(b"400")]}))),
        web.put("/bad.pq", whole(b"PAR1")),
    )
    with pytest.raises(
        DataError, match=r"^tiny: expected to download it, but none of its origins would do "
    ) as caught:
        get("tiny")
    told = str(caught.value)
    assert f"({web.url}/gone.zip: expected the file, but the server answered 404" in told
    assert f"; {web.url}/short.zip: tiny: expected 4 rows, got 3" in told
    assert f"; {web.url}/bad.pq: bad.pq: expected a Parquet file" in told
    assert told.endswith(
        "put tiny.parquet, gone.zip or short.zip or bad.pq into a folder and pass it with --from"
    )
    assert left_in(cache) == []


def test_an_interrupt_leaves_nothing(web, cache, known):
    def interrupt(*_):
        raise KeyboardInterrupt

    known(web.put("/tiny.zip", whole(ARCHIVE)))
    with pytest.raises(KeyboardInterrupt):
        get("tiny", progress=interrupt)
    assert left_in(cache) == []


@pytest.mark.usefixtures("cache")
def test_a_damaged_file_in_the_cache_is_fetched_again(web, known):
    known(web.put("/tiny.zip", whole(ARCHIVE)))
    kept = get("tiny")
    for damage in (kept.read_bytes()[:-20], b""):
        kept.write_bytes(damage)
        assert pq.read_table(get("tiny")) == TABLE
    assert len(web.requests) == 3


def test_a_cache_that_cannot_be_written_is_told(tmp_path, known):
    known("http://127.0.0.1:9/never-asked.zip")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(
        DataError, match=r"cannot be written: .*; let XDG_CACHE_HOME name another folder"
    ):
        get("tiny", cache=tmp_path / "file" / "cache")


def test_the_folder_comes_before_the_cache_and_the_cache_before_the_web(web, folder, cache, known):
    known(web.put("/tiny.zip", whole(ARCHIVE)))
    pq.write_table(TABLE, folder / "tiny.parquet")
    assert get("tiny") == folder / "tiny.parquet"
    assert web.requests == []
    (folder / "tiny.parquet").rename(folder / "elsewhere")
    assert get("tiny") == cache / "tiny.parquet"
    assert get("tiny") == cache / "tiny.parquet"
    assert len(web.requests) == 1


def test_a_wrong_file_in_the_folder_is_told_and_not_passed_over(web, folder, known):
    known(web.put("/tiny.zip", whole(ARCHIVE)))
    pq.write_table(TABLE.slice(1), folder / "tiny.parquet")
    with pytest.raises(DataError, match=r"folder/tiny\.parquet: tiny: expected 4 rows, got 3"):
        get("tiny")
    (folder / "tiny.parquet").write_bytes(b"none")
    with pytest.raises(
        DataError, match=r"folder/tiny\.parquet: expected a Parquet file, but it cannot be read"
    ):
        get("tiny")
    assert web.requests == []


@pytest.mark.parametrize("named", ["tiny.parquet", "here.parquet", "tiny.zip"])
def test_a_source_folder_fills_the_cache(web, cache, known, tmp_path, named):
    known(f"{web.url}/tiny.zip")
    source = tmp_path / "source"
    source.mkdir()
    if named == "here.parquet":
        (source / "index.toml").write_text(INDEX)
    if named == "tiny.zip":
        (source / named).write_bytes(ARCHIVE)
    else:
        pq.write_table(TABLE, source / named)
    assert get("tiny", source_folder=source) == cache / "tiny.parquet"
    assert pq.read_table(cache / "tiny.parquet") == TABLE
    assert left_in(cache) == ["tiny.parquet"]
    assert open_named("paper:tiny")[1] == ROLES
    assert web.requests == []


def test_a_source_folder_comes_before_the_folder_and_replaces_what_the_cache_has(
    folder, cache, known, tmp_path
):
    known()
    cache.mkdir(parents=True)
    (cache / "tiny.parquet").write_bytes(b"old")
    pq.write_table(TABLE, folder / "tiny.parquet")
    source = tmp_path / "source"
    source.mkdir()
    pq.write_table(TABLE.take([3, 2, 1, 0]), source / "tiny.parquet")
    assert get("tiny", source_folder=source) == cache / "tiny.parquet"
    assert pq.read_table(cache / "tiny.parquet")["id"].to_pylist() == [400, 3, 2, 1]


def test_a_source_folder_without_the_dataset_is_told(web, cache, known, tmp_path):
    known(web.put("/tiny.zip", whole(ARCHIVE)))
    with pytest.raises(
        DataError,
        match=r"expected tiny\.parquet, tiny\.zip in this folder, but there is none; .*--from",
    ):
        get("tiny", source_folder=tmp_path)
    with pytest.raises(
        DataError,
        match=r"nowhere: expected a folder with tiny\.parquet, but there is no such folder",
    ):
        get("tiny", source_folder=tmp_path / "nowhere")
    assert web.requests == []
    assert not cache.exists()


def test_a_checksum_in_the_index_is_compared(cache, known, tmp_path):
    known()
    pq.write_table(TABLE, tmp_path / "here.parquet")
    right = hashlib.sha256((tmp_path / "here.parquet").read_bytes()).hexdigest()
    for checksum in (right, "0" * 64):
        (tmp_path / "index.toml").write_text(INDEX + f'sha256 = "{checksum}"\n')
        if checksum == right:
            assert get("tiny", source_folder=tmp_path) == cache / "tiny.parquet"
            continue
        with pytest.raises(
            DataError, match=rf"here\.parquet: expected the sha256 checksum 0+, got {right}"
        ):
            get("tiny", source_folder=tmp_path)


def test_a_wrong_name_gets_a_suggestion():
    with pytest.raises(
        DataError,
        match=r"^colom: expected the name of a dataset, got 'colom'; did you mean 'colon'\?$",
    ):
        get("colom")


def test_opening_downloads_nothing_and_says_what_to_run(web, cache, known):
    known(web.put("/tiny.zip", whole(ARCHIVE)))
    with pytest.raises(
        DataError,
        match=r"^paper:tiny: .* \(not set\) or in the cache .*; run: dnfscale data get tiny$",
    ):
        open_named("paper:tiny")
    assert web.requests == []
    assert not cache.exists()


def test_what_was_fetched_is_opened_with_the_roles_of_the_catalogue(web, known, cache):
    known(web.put("/tiny.zip", whole(ARCHIVE)))
    get("tiny")
    source, record = open_named("paper:tiny")
    assert record == ROLES
    assert source.path == str(cache / "tiny.parquet")
    assert (source.n_rows, tuple(source.types)) == (4, TINY.columns)


def test_the_folder_is_opened_first_with_the_roles_of_its_index_if_it_has_one(folder, known, cache):
    known()
    cache.mkdir(parents=True)
    pq.write_table(TABLE.slice(2), cache / "tiny.parquet")
    assert open_named("paper:tiny")[0].path == str(cache / "tiny.parquet")
    pq.write_table(TABLE, folder / "tiny.parquet")
    source, record = open_named("paper:tiny")
    assert (source.path, record) == (str(folder / "tiny.parquet"), ROLES)
    (folder / "index.toml").write_text(INDEX)
    assert open_named("paper:tiny")[0].path == str(cache / "tiny.parquet")
    (folder / "tiny.parquet").rename(folder / "here.parquet")
    source, record = open_named("paper:tiny")
    assert (source.path, record) == (str(folder / "here.parquet"), Record("kind", ("a",)))


@pytest.mark.parametrize(
    "text",
    ["[datasets.tiny]\nfile = 'tiny.parquet'", "[datasets.tiny]\ntarget = 'kind'\npositive = 1"],
)
def test_an_index_without_target_or_labels_is_told(folder, known, text):
    known()
    pq.write_table(TABLE, folder / "tiny.parquet")
    (folder / "index.toml").write_text(text)
    with pytest.raises(
        DataError,
        match=r"index\.toml: datasets\.tiny must name its target and a list of positive labels",
    ):
        open_named("paper:tiny")


def test_a_folder_that_does_not_exist_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "nowhere"))
    for look in (lambda: open_named("paper:colon"), describe_named, lambda: get("colon")):
        with pytest.raises(
            DataError,
            match=r"nowhere: expected the environment variable DNFSCALE_DATA to name a folder",
        ):
            look()


def test_the_cache_is_where_xdg_says(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "/a/b")
    assert str(cache_folder()) == "/a/b/dnfscale/datasets"
    for ignored in ("relative", ""):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert cache_folder() == tmp_path / ".cache" / "dnfscale" / "datasets"


def test_all_twelve_are_listed_wherever_they_are(folder, cache):
    (folder / "colon.parquet").write_bytes(b"")
    cache.mkdir(parents=True)
    (cache / "hepatitis.parquet").write_bytes(b"")
    listed = {row.path: row for row in describe_named()}
    assert sum(path.startswith("paper:") for path in listed) == 12
    assert {path: row.place for path, row in listed.items() if row.place != "not here"} == {
        "builtin:breast_cancer": "scikit-learn",
        "builtin:shop": "made",
        "builtin:shop_orders": "made",
        "paper:colon": "folder",
        "paper:hepatitis": "cache",
    }
    assert listed["paper:colon"].file == str(folder / "colon.parquet")
    assert listed["paper:hepatitis"].file == str(cache / "hepatitis.parquet")
    assert listed["paper:covertype"].file is None
    assert (listed["paper:colon"].rows, listed["paper:colon"].attributes) == (62, 5997)
    assert listed["builtin:breast_cancer"].attributes == 30


def test_the_index_of_the_folder_has_the_last_word_in_the_list(folder):
    (folder / "index.toml").write_text(
        "[datasets.colon]\nrows = 5\npositive = [3]\n"
        '[datasets.own]\nfile = "own.parquet"\ntarget = "t"\npositive = [1]\n'
    )
    listed = {row.path: row for row in describe_named()}
    assert sum(path.startswith("paper:") for path in listed) == 13
    assert (
        listed["paper:colon"].rows,
        listed["paper:colon"].positive,
        listed["paper:colon"].target,
    ) == (
        5,
        (3,),
        "class",
    )
    assert (listed["paper:own"].title, listed["paper:own"].target, listed["paper:own"].place) == (
        "own",
        "t",
        "not here",
    )
    (folder / "own.parquet").write_bytes(b"")
    assert describe_named()[-1].place == "folder"


def test_a_table_with_other_labels_is_not_kept(web, tmp_path):
    wrong = replace(tiny(web.put("/tiny.zip", whole(ARCHIVE))), classes=(("yes", 4),))
    with pytest.raises(DataError, match="expected yes 4 labels in 'label', got no 2, yes 2"):
        download(wrong, tmp_path / "kept" / "tiny.parquet")
    assert left_in(tmp_path / "kept") == []
