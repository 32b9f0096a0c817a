"""Booleanizing: which attributes there are, what they are called, and which codes they span in each
fold.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.bins import CategoryBins
from dnfscale.core.columns import Categories, CategorySummary, Column, Numbers, NumberSummary, Role
from dnfscale.core.medians import Cut
from dnfscale.core.vocabulary import Above, Between, Equals, IsMissing, IsTrue
from dnfscale.method.booleanize import Booleanization, FoldCuts, booleanize, true_value
from dnfscale.method.minimize.possible import row_states
from tests.judges import number_codes


def cuts_at(train: list[float | None], whole: list[float | None]) -> tuple[FoldCuts, ...]:
    def cut(value: float | None) -> Cut:
        return Cut(None, None) if value is None else Cut(value, np.float64(value))

    return (FoldCuts(tuple(map(cut, train)), tuple(map(cut, whole))),)


def number(missing: int = 0) -> NumberSummary:
    return NumberSummary(missing, np.empty(0))


def category(*values: object, missing: int = 0) -> CategorySummary:
    return CategorySummary(missing, dict.fromkeys(values, 1))


def one_column(column: Column, summary: object, *, keep_missing: bool = False) -> Booleanization:
    cuts = {column.name: cuts_at([1.5], [2.5])} if isinstance(summary, NumberSummary) else {}
    return booleanize([column], [summary], cuts, n_folds=1, keep_missing=keep_missing)


def holds(booleans: Booleanization, attribute: int, fold: int, coded: np.ndarray) -> list[bool]:
    [span] = booleans.whole.of(fold, [attribute])
    return span.holds(coded, booleans.bins[span.column].n_codes).tolist()


def test_attributes_come_in_the_order_of_the_columns_and_the_values_of_a_category_increase():
    booleans = booleanize(
        [
            Column("bare_nuclei", Role.NUMBER),
            Column("poutcome", Role.CATEGORY),
            Column("retired", Role.FLAG),
            Column("month", Role.CATEGORY),
        ],
        [number(), category("success", "failure"), category(False, True), category(11, 2)],
        {"bare_nuclei": cuts_at([1.5], [2.5])},
        n_folds=1,
        keep_missing=False,
    )
    assert booleans.attributes == (
        Above("bare_nuclei_above_median", "bare_nuclei", None),
        Equals("poutcome_failure", "poutcome", "failure"),
        Equals("poutcome_success", "poutcome", "success"),
        IsTrue("retired", "retired", True),
        Equals("month_2", "month", 2),
        Equals("month_11", "month", 11),
    )
    assert booleans.train.column.tolist() == [0, 1, 1, 2, 3, 3]


medians = st.lists(
    st.one_of(st.none(), st.sampled_from([-1.0, 0.0, 0.5, 2.0, np.inf])), min_size=1, max_size=5
)


@given(medians, st.data(), st.booleans())
def test_above_the_median_is_the_plain_comparison_with_the_cut_of_each_fold_and_part(
    train, choice, has_missing
):
    whole = choice.draw(
        st.lists(st.sampled_from([-2.0, 0.0, 0.75]), min_size=len(train), max_size=len(train))
    )
    booleans = booleanize(
        [Column("x", Role.NUMBER)],
        [number(missing=int(has_missing))],
        {"x": cuts_at(train, whole)},
        n_folds=len(train),
        keep_missing=has_missing,
    )
    values = np.array([-np.inf, -2.0, -1.5, -1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 2.0, 3.0, np.inf, 0.0])
    present = np.array([True] * 12 + [not has_missing])
    [bins] = booleans.bins
    codes = np.array(number_codes(bins, Numbers(values, present if has_missing else None)))
    for fold in range(len(train)):
        for spans, cut in ((booleans.train, train[fold]), (booleans.whole, whole[fold])):
            [span] = spans.of(fold, [0])
            expected = np.zeros(13, bool) if cut is None else (values > cut) & present
            assert span.holds(codes, bins.n_codes).tolist() == expected.tolist()


def test_tau_carries_the_cuts_of_all_of_the_folds_training_data():
    columns = [Column("x", Role.NUMBER), Column("c", Role.CATEGORY)]
    cuts = {"x": cuts_at([1.0, 2.0, None], [10.0, 20.0, None])}
    booleans = booleanize(columns, [number(), category("a")], cuts, n_folds=3, keep_missing=False)
    assert booleans.vocabulary(0, [1, 0]).attributes == (
        Equals("c_a", "c", "a"),
        Above("x_above_median", "x", 10.0),
    )
    assert booleans.vocabulary(1, [0]).attributes == (Above("x_above_median", "x", 20.0),)
    assert booleans.vocabulary(2, [0]).attributes == (Above("x_above_median", "x", None),)
    assert booleans.vocabulary(0, []).attributes == ()


def test_cuts_of_whole_numbers_beyond_the_precision_of_floats_keep_the_columns_dtype():
    edges = [2**53 + 1, 2**53 + 3]
    cuts = (
        FoldCuts(
            tuple(Cut(e, np.int64(e)) for e in edges), tuple(Cut(e, np.int64(e)) for e in edges)
        ),
    )
    summary = NumberSummary(0, np.empty(0, dtype=np.int64))
    booleans = booleanize(
        [Column("x", Role.NUMBER)], [summary], {"x": cuts}, n_folds=2, keep_missing=False
    )
    values = np.array([2**53, *edges, 2**53 + 4], dtype=np.int64)
    codes = np.array(number_codes(booleans.bins[0], Numbers(values, None)))
    assert holds(booleans, 0, 0, codes) == [False, False, True, True]
    assert holds(booleans, 0, 1, codes) == [False, False, False, True]


@pytest.mark.parametrize(
    ("summary", "role", "name"),
    [
        (number(3), Role.NUMBER, "x"),
        (category("a", missing=1), Role.CATEGORY, "x"),
        (category(1, 2), Role.FLAG, "x"),
    ],
)
def test_missing_values_are_an_attribute_only_where_there_are_some_and_they_are_kept(
    summary, role, name
):
    dropped = one_column(Column(name, role), summary, keep_missing=False)
    kept = one_column(Column(name, role), summary, keep_missing=True)
    assert not any(isinstance(attribute, IsMissing) for attribute in dropped.attributes)
    found = [attribute for attribute in kept.attributes if isinstance(attribute, IsMissing)]
    assert found == ([IsMissing("x_missing", "x")] if summary.missing else [])


def test_a_missing_value_is_missing_and_nothing_else():
    booleans = one_column(
        Column("c", Role.CATEGORY), category("a", "b", missing=2), keep_missing=True
    )
    codes = booleans.bins[0].encode(Categories(np.array([0, -1, 1]), ("a", "b")))
    assert [holds(booleans, attribute, 0, codes) for attribute in range(3)] == [
        [True, False, False],
        [False, False, True],
        [False, True, False],
    ]


def test_columns_whose_attributes_would_share_a_name_are_spelled_out():
    columns = [Column("a", Role.CATEGORY), Column("a_b", Role.CATEGORY), Column("d", Role.CATEGORY)]
    summaries = [category("b_c"), category("c"), category("e")]
    booleans = booleanize(columns, summaries, {}, n_folds=1, keep_missing=False)
    assert [attribute.name for attribute in booleans.attributes] == ["a = b_c", "a_b = c", "d_e"]


@pytest.mark.parametrize(
    ("values", "larger"),
    [
        ((False, True), True),
        ((1, 2), 2),
        (("no", "yes"), "yes"),
        ((0.5, 1.5), 1.5),
        ((True,), True),
        ((1,), 1),
        (("yes",), "yes"),
        ((2,), 2),
    ],
)
def test_the_larger_value_of_a_two_valued_column_is_true(values, larger):
    assert true_value(values) == (larger, len(values) - 1)
    codes = CategoryBins(values).encode(Categories(np.arange(len(values)), values))
    booleans = one_column(Column("f", Role.FLAG), category(*values))
    assert holds(booleans, 0, 0, codes) == [value == larger for value in values]


@pytest.mark.parametrize(("values", "one"), [((False,), True), ((0,), 1), ((0.0,), 1), ((), True)])
def test_a_two_valued_column_of_which_only_zero_occurs_is_never_true(values, one):
    value, _ = true_value(values)
    assert (value, type(value)) == (one, type(one))
    booleans = one_column(Column("f", Role.FLAG), category(*values, missing=1), keep_missing=True)
    codes = booleans.bins[0].encode(Categories(np.array([*range(len(values)), -1]), values))
    assert not any(holds(booleans, 0, 0, codes))


def test_a_category_without_any_value_has_no_attribute():
    booleans = one_column(Column("c", Role.CATEGORY), category(missing=4))
    assert booleans.attributes == ()
    assert booleans.train.first.shape == (1, 0)


@given(st.data(), st.booleans())
def test_between_two_cuts_is_above_the_lower_and_not_above_the_higher_in_every_fold_and_part(
    data, has_missing
):
    # In each fold the cuts of a column increase, or are the same.
    folds = data.draw(
        st.lists(
            st.lists(st.sampled_from([-2.0, 0.0, 0.5, 2.0]), min_size=3, max_size=3).map(sorted),
            min_size=1,
        )
    )
    places = ("p25", "median", "p75")
    cuts = [
        FoldCuts(
            *([tuple(Cut(fold[i], np.float64(fold[i])) for fold in folds)] * 2), f"above_{place}"
        )
        for i, place in enumerate(places)
    ]
    plain = booleanize(
        [Column("x", Role.NUMBER)],
        [number(missing=int(has_missing))],
        {"x": cuts},
        n_folds=len(folds),
        keep_missing=has_missing,
    )
    n_cuts = sum(isinstance(attribute, Above) for attribute in plain.attributes)
    pairs = [(low, high) for low in range(n_cuts) for high in range(low + 1, n_cuts)]
    booleans = plain.with_intervals(pairs)
    assert booleans.attributes[: len(plain.attributes)] == plain.attributes
    values = np.array([-np.inf, -2.0, -1.5, 0.0, 0.25, 0.5, 0.75, 2.0, 3.0, np.inf, 0.0])
    present = np.array([True] * 10 + [not has_missing])
    coded = np.array(number_codes(booleans.bins[0], Numbers(values, present)))
    for spans in (booleans.train, booleans.whole):
        assert spans.column.tolist() == [0] * len(booleans.attributes)
    for fold in range(len(folds)):
        for place, (low, high) in enumerate(pairs):
            lower, higher = plain.vocabulary(fold, [low, high]).attributes
            expected = (values > lower.value) & (values <= higher.value) & present
            assert holds(booleans, len(plain.attributes) + place, fold, coded) == expected.tolist()
            [between] = booleans.vocabulary(fold, [len(plain.attributes) + place]).attributes
            assert (between.column, between.low, between.high) == ("x", lower.value, higher.value)


def test_an_interval_is_called_by_its_column_and_ends_and_without_rows_it_has_none():
    def cut(value: float | None, name: str) -> FoldCuts:
        parts = (Cut(None, None) if value is None else Cut(value, np.float64(value)),)
        return FoldCuts(parts, parts, f"above_{name}")

    columns = [Column("age", Role.NUMBER), Column("age_18", Role.NUMBER)]
    cuts = {
        "age": [cut(18.0, "18"), cut(65.0, "65")],
        "age_18": [cut(None, "p25"), cut(None, "median")],
    }
    booleans = booleanize(columns, [number(), number()], cuts, n_folds=1, keep_missing=False)
    named = booleans.with_intervals([(0, 1)])
    assert named.vocabulary(0, [len(named.attributes) - 1]).attributes == (
        Between("age_18_to_65", "age", 18.0, 65.0),
    )
    assert booleans.with_intervals([]) is booleans
    # Of cuts that are the same in every fold one is left, here of those that do not exist.
    assert len(booleans.attributes) == 3


def test_of_whole_numbers_those_above_one_and_those_above_one_and_a_half_are_the_same():
    first = tuple(Cut(value, np.int64(value)) for value in (1, 1))
    second = (Cut(1.5, np.int64(1)), Cut(2.5, np.int64(2)))
    cuts = {"n": (FoldCuts(first, first, "above_p30"), FoldCuts(second, second, "above_p40"))}
    summary = NumberSummary(0, np.empty(0, dtype=np.int64))
    booleans = booleanize(
        [Column("n", Role.NUMBER)], [summary], cuts, n_folds=2, keep_missing=False
    )
    assert [attribute.value for attribute in booleans.vocabulary(0, [0, 1]).attributes] == [1, 1.5]
    # What lies between 1 and 1.5 is no whole number; in the other fold, 2 lies between the cuts.
    assert [column.states for column in row_states(booleans.edges(0, [0, 1]))] == [(0b00, 0b11)]
    assert [column.states for column in row_states(booleans.edges(1, [0, 1]))] == [
        (0b00, 0b01, 0b11)
    ]


@pytest.mark.parametrize(
    ("dtype", "missing", "expected"),
    [(np.int64, 0, (True, 0)), (np.int64, 2, (True, None)), (np.float64, 0, (False, None))],
)
def test_cuts_know_whether_their_column_has_whole_numbers_and_the_least_of_them(
    dtype, missing, expected
):
    summary = NumberSummary(missing, np.empty(0, dtype=dtype), (0, 9))
    cut = FoldCuts((Cut(1, dtype(1)),), (Cut(1, dtype(1)),))
    found = booleanize(
        [Column("n", Role.NUMBER)], [summary], {"n": [cut]}, n_folds=1, keep_missing=False
    )
    [attribute] = found.vocabulary(0, [0]).attributes
    assert (attribute.whole, attribute.least) == expected
