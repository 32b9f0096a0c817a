"""Datasets by name: they bring their own record, and a name that is not known gets a suggestion."""

from __future__ import annotations

import re
import tomllib

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_breast_cancer

from dnfscale.core.columns import Role
from dnfscale.data.frames import table_source
from dnfscale.datasets.named import CACHE_VARIABLE, FOLDER_VARIABLE, Record, open_named
from dnfscale.errors import DataError
from dnfscale.spec.storage import is_named
from tests.data.read_back import read_back, write

INDEX = """
[datasets.fruit]
file = "fruit.parquet"
rows = 3
target = "ripe"
positive = ["yes"]
drop = ["id"]
categorical = ["kind"]
boolean = ["round"]

[datasets.bread]
file = "bread.parquet"
rows = 1
target = "fresh"
positive = [1, 2]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of datasets of our own, with an index."""
    (tmp_path / "index.toml").write_text(INDEX)
    columns = {
        "id": [1, 2, 3],
        "kind": ["a", "b", "a"],
        "round": [0, 1, 1],
        "ripe": ["yes", "no", "yes"],
    }
    write(tmp_path / "fruit.parquet", columns)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """A cache of our own with nothing in it."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("builtin:breast_cancer", True),
        ("paper:colon", True),
        ("paper", False),
        ("data/paper:colon.parquet", False),
        ("s3://bucket", False),
    ],
)
def test_a_named_dataset_is_told_from_a_path(path, named):
    assert is_named(path) is named


def test_the_builtin_dataset_is_scikit_learns():
    source, record = open_named("builtin:breast_cancer")
    bunch = load_breast_cancer()
    assert record == Record(target="diagnosis", positive=("malignant",))
    assert list(source.types) == [
        *(name.replace(" ", "_") for name in bunch.feature_names.tolist()),
        "diagnosis",
    ]
    names = [name for name in source.types if name != "diagnosis"]
    rows = read_back(source, dict.fromkeys(names, Role.NUMBER), target="diagnosis")
    assert np.array_equal(np.array([rows[name] for name in names]).T, bunch.data)
    assert rows["diagnosis"] == bunch.target_names[bunch.target].tolist()
    assert source.n_rows == 569


@pytest.mark.usefixtures("folder")
def test_a_dataset_of_the_folder_brings_its_own_record():
    source, record = open_named("paper:fruit")
    assert record == Record(
        target="ripe", positive=("yes",), drop=("id",), categorical=("kind",), boolean=("round",)
    )
    assert read_back(source, {"round": Role.NUMBER}, target="ripe") == {
        "round": [0, 1, 1],
        "ripe": ["yes", "no", "yes"],
    }


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("builtin:brest_cancer", r"got 'brest_cancer'; did you mean 'breast_cancer'\?$"),
        ("builtin:zzz", "got 'zzz'; known are breast_cancer, shop, shop_orders$"),
        ("paper:friut", r"got 'friut'; did you mean 'fruit'\?$"),
        ("paper:zzz", "got 'zzz'; known are .*fruit, bread$"),
        ("paper:", "got ''; known are .*fruit, bread$"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_name_that_is_not_known_gets_a_suggestion(path, hint):
    with pytest.raises(DataError, match=f"^{path}: expected the name of a dataset, {hint}"):
        open_named(path)


@pytest.mark.parametrize("value", [None, ""])
@pytest.mark.usefixtures("empty_cache")
def test_without_the_folders_variable_the_error_names_it(monkeypatch, value):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(FOLDER_VARIABLE, value)
    with pytest.raises(
        DataError, match=r"^paper:colon: expected it in the folder DNFSCALE_DATA \(not set\)"
    ):
        open_named("paper:colon")


@pytest.mark.usefixtures("empty_cache", "folder")
def test_a_dataset_of_the_paper_that_is_not_in_the_folder_is_an_error_that_names_the_folder(
    tmp_path,
):
    message = f"paper:colon: expected it in the folder DNFSCALE_DATA ({tmp_path})"
    with pytest.raises(DataError, match=f"^{re.escape(message)}"):
        open_named("paper:colon")


@pytest.mark.parametrize("text", ["not toml [", "title = 'no datasets here'"])
def test_an_index_that_is_none_is_an_error(folder, text):
    (folder / "index.toml").write_text(text)
    with pytest.raises(
        DataError, match=r"index\.toml: expected a TOML file with a table datasets, but it is not"
    ):
        open_named("paper:fruit")


@pytest.mark.usefixtures("folder")
def test_a_dataset_whose_file_is_gone_is_an_error_that_names_the_file():
    with pytest.raises(
        DataError, match=r"bread\.parquet: expected a Parquet file .* there is nothing at this path"
    ):
        open_named("paper:bread")


def test_every_dataset_of_the_paper_is_as_its_index_says(paper_data):
    with (paper_data / "index.toml").open("rb") as file:
        index = tomllib.load(file)["datasets"]
    assert len(index) == 12
    for name, entry in index.items():
        source, record = open_named(f"paper:{name}")
        assert source.n_rows == entry["rows"]
        assert len(source.types) == entry["columns"]
        named = {record.target, *record.drop, *record.categorical, *record.boolean}
        assert named <= set(source.types)
        assert record.positive == tuple(entry["positive"])


def test_a_table_in_memory_is_a_source_of_one_partition():
    source = table_source(pa.table({"x": [1, 2], "y": ["a", "b"]}), "here")
    assert (source.path, source.n_rows, len(source.partitions)) == ("here", 2, 1)
    assert source.types == {"x": pa.int64(), "y": pa.string()}
    assert read_back(source, {"x": Role.NUMBER}, target="y") == {"x": [1, 2], "y": ["a", "b"]}


def test_a_table_without_rows_has_no_partition():
    assert table_source(pa.table({"x": pa.array([], pa.int64())}), "here").partitions == ()
