"""A check is read as it was written, and damaged ones are told."""

from __future__ import annotations

import pytest

from dnfscale.errors import DataError
from dnfscale.results.check import Check, ColumnCheck, Finding, ValueRows, check_text, read_check

CHECK = Check(
    rows=3,
    target="y",
    labels=(ValueRows(value=True, rows=2), ValueRows(value=False, rows=1)),
    sampled_rows=3,
    columns=(
        ColumnCheck(
            name="a",
            type="int64",
            missing=1 / 3,
            missing_rows=1,
            distinct=2,
            exact=True,
            least=1,
            greatest=2,
            frequent=(ValueRows(value=1, rows=1),),
            findings=(Finding(kind="codes", severity="note", evidence="e", advice="a"),),
        ),
    ),
    findings=(),
)


def test_a_check_is_read_as_it_was_written():
    assert read_check(check_text(CHECK).encode()) == CHECK


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "expected JSON"),
        (b"[]", "got schema None"),
        (b'{"schema": "dnfscale.check/9"}', "got schema 'dnfscale.check/9'"),
        (b'{"schema": "dnfscale.check/1"}', "it is damaged"),
    ],
)
def test_what_is_no_check_is_told(content, told):
    with pytest.raises(DataError, match=told):
        read_check(content)
