"""What is no model file is an error that says why."""

from __future__ import annotations

import json

import pytest

from dnfscale.core.tree import to_dnf
from dnfscale.data.models import model_record, model_text, read_model
from dnfscale.errors import DataError
from tests.data.models.small import TREE, small, written


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected a model file in JSON, but Expecting value"),
        (b"\xff\xfe{}", "expected JSON in UTF-8, but byte 0 is not"),
        (b"{", "expected a model file in JSON, but Expecting property name"),
        (b"\xef\xbb\xbf{}", "expected a model file in JSON, but Unexpected UTF-8 BOM"),
        (b"[1, 2]", "a model file must be an object, got [1, 2]"),
        (b"null", "a model file must be an object, got None"),
        (b"{}", "schema must be text, but it is not there"),
        (b'{"schema": 1}', "schema must be text, got 1"),
        (
            b'{"schema": "dnfscale.result/1"}',
            "schema must be 'dnfscale.model/1' or 'dnfscale.model/2', got 'dnfscale.result/1'",
        ),
        (
            b'{"schema": "dnfscale.model/3"}',
            "got 'dnfscale.model/3': a later version of dnfscale wrote it",
        ),
        (b'{"a": NaN}', "it holds NaN, which JSON does not know"),
        (b'{"a": -Infinity}', "it holds -Infinity, which JSON does not know"),
        (b'{"a": 1e999}', "it holds '1e999', which is too large for a number"),
        (b'{"a": 1, "a": 2}', "an object has the same key twice"),
        (b'{"a": ' + b"9" * 5000 + b"}", "expected a model file in JSON, but Exceeds the limit"),
        (b"[" * 200_000, "expected a model file in JSON, but "),
        (b"import os", "expected a model file in JSON, but Expecting value"),
        (b"\x80\x04\x95", "expected JSON in UTF-8, but byte 0 is not"),
        (b"PAR1", "expected a model file in JSON"),
    ],
)
def test_what_is_no_model_file_is_refused_in_one_line(tmp_path, content, message):
    file = tmp_path / "model.json"
    file.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_model(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(
        DataError,
        match=r"expected a model file, but No such file or directory; give the model.json",
    ):
        read_model(tmp_path / "nothing.json")
    with pytest.raises(DataError, match=r"expected a model file, but Is a directory"):
        read_model(tmp_path)


def test_a_file_that_ends_too_early_is_refused(tmp_path):
    text = model_text(small())
    for end in range(0, len(text) - 1, 37):
        with pytest.raises(DataError, match=r"model\.json: "):
            read_model(written(tmp_path, text[:end]))


@pytest.mark.parametrize("depth", [60, 5_000])
def test_a_tree_that_is_too_deep_is_refused(tmp_path, depth):
    record = model_record(small(dnf=to_dnf(TREE), tree=TREE))
    deep = '["not", ' * depth + "0" + "]" * depth
    text = json.dumps({**record, "tree": "here"}).replace('"here"', deep)
    with pytest.raises(
        DataError,
        match=r"tree must have a size of at most 47, got 61|expected a model file in JSON",
    ):
        read_model(written(tmp_path, text))
