"""Results of scans as bytes: the same to the last bit, or refused."""

from __future__ import annotations

import struct
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from dnfscale.core.associations import Associations
from dnfscale.core.columns import CategorySummary, NumberSummary, TableSummary
from dnfscale.core.distinct import DistinctRows
from dnfscale.core.formula import Dnf, Term
from dnfscale.core.medians import Located
from dnfscale.engine.serial import SerialEngine
from dnfscale.jobs.runner import open_data
from dnfscale.jobs.scan_bytes import DamagedError, NotExactError, from_bytes, to_bytes
from dnfscale.learn.line import learn
from dnfscale.method.minimize.minimal import Minimized, Status
from dnfscale.spec.job import read_spec
from dnfscale.spec.learn import PROFILES

DTYPES = ("<i8", "<i4", "|u1", "|b1", "<f8", "<f4", "<f2", "<u2", ">i8")
arrays = st.sampled_from(DTYPES).flatmap(
    lambda d: npst.arrays(d, npst.array_shapes(min_dims=0, max_dims=3, min_side=0))
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None))
    | st.just("\ud800")
)
keys = st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    scalars | arrays,
    lambda inner: (
        st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(keys, inner, max_size=4)
    ),
    max_leaves=12,
)


def alike(one: Any, other: Any) -> bool:
    """Compare to the last bit: types, dtypes, shapes, signs of zero, and the payloads of nan."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray | np.generic):
        return (
            one.dtype == other.dtype
            and one.shape == other.shape
            and one.tobytes() == other.tobytes()
        )
    if is_dataclass(one):
        return all(alike(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return alike(list(one), list(other)) and alike(list(one.values()), list(other.values()))
    if isinstance(one, float):
        return struct.pack("<d", one) == struct.pack("<d", other)
    return one == other


@given(values)
@example(float("-nan"))
@example([-0.0, float("inf"), float("nan")])
def test_a_value_comes_back_as_it_was(value):
    assert alike(from_bytes("t", to_bytes("t", value)), value)


def test_what_scans_count_comes_back_as_it_was():
    summary = TableSummary(
        9,
        ((1, 4), (0, 3)),
        (NumberSummary(2, np.array([1.5, -0.0])), CategorySummary(0, {"a": 3, "\ud800": 1, "": 2})),
        CategorySummary(1, {True: 3, 2**62: 1}),
        7,
    )
    located = Located(
        *(np.arange(3), np.arange(3), np.array([2**63 - 1]), np.array([4], np.uint8), np.array([9]))
    )
    tables = Associations(*(np.arange(n).reshape(-1, n) for n in (1, 2, 3, 4)))
    distinct = (DistinctRows(9, np.ones((2, 2), np.uint8), np.arange(8).reshape(2, 4)), None)
    formulas = [
        Minimized(Dnf((Term(3, 1), Term(2**23, 0))), Status.BOUNDED, 2),
        Minimized(Dnf(()), Status.PROVEN),
    ]
    value = [(summary, (located,)), (tables,), distinct, formulas]
    again = from_bytes("t", to_bytes("t", value))
    assert alike(again, value)
    assert again[0][1][0].values.flags.writeable


@given(st.data())
def test_a_byte_that_has_changed_is_noticed(data):
    content = to_bytes("t", {"x": (np.arange(20), "y", 1.5)})
    place = data.draw(st.integers(0, len(content) - 1))
    other = data.draw(st.integers(1, 255))
    damaged = content[:place] + bytes([content[place] ^ other]) + content[place + 1 :]
    with pytest.raises(DamagedError, match="damaged"):
        from_bytes("t", damaged)
    with pytest.raises(DamagedError, match="damaged"):
        from_bytes("t", content[:place])


def test_a_value_of_another_title_is_not_taken():
    with pytest.raises(DamagedError, match="another title, or damaged"):
        from_bytes("job 2", to_bytes("job 1", 5))


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, b"bytes", np.array(["text"]), np.array([object()]), 1j, range(3)]
)
def test_what_cannot_be_written_exactly_is_refused(value):
    with pytest.raises(NotExactError, match=f"no exact form for {type(value).__name__}"):
        to_bytes("t", [value])


class Writing(SerialEngine):
    """Writes down whatever a phase results in."""

    def reduce(self, phase, items, summarize, merge):
        result = super().reduce(phase, items, summarize, merge)
        assert alike(from_bytes(phase, to_bytes(phase, result)), result)
        return result

    def map(self, phase, items, function):
        result = super().map(phase, items, function)
        if phase != "read rows":
            assert alike(from_bytes(phase, to_bytes(phase, result)), result)
        return result


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_every_phase_of_learning_can_be_written_down(profile):
    spec = read_spec(
        Path(__file__).parents[2] / "jobs" / "quickstart.toml",
        {"profile": profile, "folds.outer": 2},
    )
    assert learn(*open_data(spec), Writing()).rows == 569
