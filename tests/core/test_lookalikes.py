"""Names that differ in case only are found, and no others; so are those that a numbered one may
stand for.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.lookalikes import alike_names, lookalikes
from dnfscale.core.parts import Part, Unit
from dnfscale.core.vocabulary import Above, Equals, IsMissing, Vocabulary
from dnfscale.export.dialects import DIALECTS


def found(columns, names):
    return lookalikes(
        Vocabulary(tuple(Above(column, column, 0) for column in columns)), alike_names(names)
    )


@pytest.mark.parametrize(
    ("columns", "names", "expected"),
    [
        (["Y"], ["y", "Y"], {"Y": ("y",)}),
        (["x"], ["y", "X", "x"], {"x": ("X",)}),
        (["x", "X"], ["X", "x"], {"x": ("X",), "X": ("x",)}),
        (["ab"], ["AB", "ab", "aB", "Ab"], {"ab": ("AB", "aB", "Ab")}),
        (["é"], ["é", "É", "e"], {"é": ("É",)}),
        (["straße"], ["STRASSE", "straße"], {"straße": ("STRASSE",)}),
        (["a"], ["a", "b", "B"], {}),
        (["a", "b"], ["a", "b", "a_1", "a "], {}),
        (["a"], ["a", "a"], {}),
        (["a"], [], {}),
        # DuckDB calls the second of x and X what is the name of a column already.
        (["X_1"], ["x", "X", "X_1"], {"X_1": ("x", "X")}),
        (["x_1_12"], ["x", "X", "x_1_12", "X_1_12"], {"x_1_12": ("X_1_12", "x", "X")}),
        (["x_1"], ["x", "x_1"], {}),
        (["x_y", "_1", "x1"], ["x", "X", "x_y", "_1", "x1"], {}),
    ],
)
def test_a_column_is_noted_with_those_it_may_be_taken_for(columns, names, expected):
    assert found(columns, names) == expected


def test_a_column_is_noted_once_and_by_its_stored_name():
    tau = Vocabulary(
        (
            Equals("a", Part("When", Unit.WEEKDAY), "Monday"),
            Above("b", Part("When", Unit.HOUR), 3),
            IsMissing("c", "z"),
        )
    )
    assert lookalikes(tau, alike_names(["When", "z", "when"])) == {"When": ("when",)}


@given(names=st.lists(st.text(st.sampled_from("aAéÉßẞİiıIkK\u212aσςΣ_1"), max_size=3), unique=True))
def test_all_is_noted_that_a_database_takes_for_the_same(names):
    noted = found(names, names)
    for dialect in DIALECTS.values():
        for name in names:
            same = [
                other
                for other in names
                if other != name and dialect.same_name(other) == dialect.same_name(name)
            ]
            assert set(same) <= set(noted.get(name, ()))
