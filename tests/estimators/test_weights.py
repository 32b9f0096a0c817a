from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale import IdealClassifier
from dnfscale.errors import DataError, SpecError
from dnfscale.estimators.weights import (
    MOST_WEIGHT,
    class_factors,
    repeats,
    sample_weights,
    whole_weights,
)

anything = st.floats(0, 1.7e308, allow_subnormal=True)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=20))
def test_whole_weights_stay_as_they_are(given):
    weights = np.array(given, dtype=float)
    assert repeats(weights, most=10**6).tolist() == given
    whole, unit = whole_weights(weights)
    assert whole.tolist() == given
    assert unit == 1


def test_weights_that_are_not_whole_or_too_many_are_not_repeated():
    assert repeats(np.array([1.0, 0.5]), most=100) is None
    assert repeats(np.array([60.0, 41.0]), most=100) is None
    assert repeats(np.array([60.0, 40.0]), most=100).tolist() == [60, 40]
    assert repeats(np.full(10, 1.7e308), most=100) is None


@given(
    st.lists(anything, min_size=1, max_size=12).filter(any), st.sampled_from([MOST_WEIGHT, 1 << 42])
)
def test_any_weights_become_whole_numbers_in_proportion(weights, most):
    """From the smallest float to the largest, also when they add up to more than a float
    can hold.
    """
    whole, unit = whole_weights(np.array(weights), most=most)
    total, exact = int(whole.sum()), sum(map(Fraction, weights))
    assert 0 < total <= most + len(weights)
    assert whole.min() >= 0
    assert 1 <= unit <= 1 << 60
    for found, weight in zip(whole.tolist(), weights, strict=True):
        assert abs(Fraction(found, total) - Fraction(weight) / exact) < Fraction(
            2 * len(weights), most // 2
        )


@given(st.lists(st.floats(0.01, 100), min_size=2, max_size=20))
def test_the_unit_is_what_a_weight_of_one_became(weights):
    whole, unit = whole_weights(np.array([1.0, 0.3, *weights]))
    assert whole[0] == unit
    assert whole[1] == pytest.approx(0.3 * unit, abs=0.5)


@given(st.lists(st.sampled_from([0.25, 0.5, 1.0, 1.75, 3.0]), min_size=1, max_size=20))
def test_weights_that_are_fractions_of_a_power_of_two_are_exact(weights):
    whole, unit = whole_weights(np.array([*weights, 0.25]))
    assert [Fraction(n, unit) for n in whole.tolist()] == [Fraction(w) for w in [*weights, 0.25]]


def test_one_number_is_the_weight_of_every_row():
    assert sample_weights(2, 3).tolist() == [2.0, 2.0, 2.0]
    assert sample_weights(None, 3) is None


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], "as many weights as rows, got 2 and 3"),
        ([[1.0], [1.0], [1.0]], "must be 1D"),
        ([1.0, -1.0, 1.0], "at least 0"),
        ([1.0, np.nan, 1.0], "finite"),
        ([1.0, np.inf, 1.0], "finite"),
        ([0.0, 0.0, 0.0], "every weight is zero"),
    ],
)
def test_weights_that_are_none_are_refused(weights, message):
    with pytest.raises(DataError, match=message):
        sample_weights(np.array(weights), 3)


CLASSES = np.array(["a", "b", "c"])


def test_balanced_classes_weigh_the_same_in_all():
    labels = np.array([0, 0, 0, 1, 2, 2])
    factors = class_factors("balanced", CLASSES, labels, None)
    totals = np.bincount(labels, weights=factors[labels])
    assert totals == pytest.approx([2.0, 2.0, 2.0])
    weights = np.array([1.0, 1.0, 2.0, 5.0, 0.5, 0.5])
    factors = class_factors("balanced", CLASSES, labels, weights)
    assert np.bincount(labels, weights=weights * factors[labels]) == pytest.approx([10 / 3] * 3)


def test_the_factors_of_two_balanced_classes_are_whole():
    labels = np.array([0, 0, 0, 1])
    assert class_factors("balanced", CLASSES[:2], labels, None).tolist() == [1.0, 3.0]


def test_a_label_that_a_dict_does_not_name_weighs_one():
    assert class_factors({"b": 2.5}, CLASSES, np.array([0, 1, 2]), None).tolist() == [1.0, 2.5, 1.0]
    assert class_factors(None, CLASSES, np.array([0, 1, 2]), None) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("even", "'balanced' or None, got 'even'"),
        ([1.0, 2.0], "must be a dict"),
        ({"z": 1.0}, "labels of y, which are"),
        ({"a": -1.0}, "at least 0, got -1.0 for 'a'"),
        ({"a": float("nan")}, "finite numbers"),
        ({"a": float("inf")}, "finite numbers"),
        ({"a": "much"}, "got 'much'"),
    ],
)
def test_class_weights_that_are_none_are_refused(given, message):
    with pytest.raises(SpecError, match=message):
        class_factors(given, CLASSES, np.array([0, 1, 2]), None)


@st.composite
def boolean_frames(
    draw: st.DrawFn, *, max_rows: int = 40
) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Rows of three truth values and labels of which both occur."""
    rows = draw(st.lists(st.tuples(*[st.booleans()] * 4), min_size=2, max_size=max_rows))
    frame = pd.DataFrame(rows, columns=["a", "b", "c", "y"])
    frame.loc[0, "y"], frame.loc[1, "y"] = True, False
    return frame[["a", "b", "c"]], frame["y"].to_numpy()


def types(model: IdealClassifier, frame: pd.DataFrame) -> list[int]:
    """The type of each row, in plain pandas."""
    tau = model.models_[0].tau.attributes
    return [
        sum(1 << i for i, a in enumerate(tau) if row[a.column] == a.value)
        for _, row in frame.iterrows()
    ]


def sums(
    model: IdealClassifier, frame: pd.DataFrame, y: Any, weights: list[Fraction]
) -> dict[int, list[Fraction]]:
    """What the positive and the negative rows of each type weigh."""
    found: dict[int, list[Fraction]] = {}
    for code, label, weight in zip(types(model, frame), y, weights, strict=True):
        found.setdefault(code, [Fraction(0), Fraction(0)])[0 if label else 1] += weight
    return found


def same(one: IdealClassifier, other: IdealClassifier) -> bool:
    return all(
        (a.tau, a.dnf, a.counts) == (b.tau, b.dnf, b.counts)
        for a, b in zip(one.models_, other.models_, strict=True)
    )


@pytest.mark.slow
@given(boolean_frames(max_rows=15), st.data())
def test_a_whole_weight_is_as_many_rows(rows, data):
    frame, y = rows
    weights = np.array(
        [1, 1, *data.draw(st.lists(st.integers(0, 4), min_size=len(y) - 2, max_size=len(y) - 2))]
    )
    repeated_rows = np.repeat(np.arange(len(y)), weights)
    weighed = IdealClassifier(profile="paper").fit(frame, y, sample_weight=weights)
    plain = IdealClassifier(profile="paper").fit(frame.iloc[repeated_rows], y[repeated_rows])
    assert same(weighed, plain)
    assert weighed.predict_proba(frame).tolist() == plain.predict_proba(frame).tolist()
    assert weighed.models_[0].counts.n_rows == weights.sum()
    both = IdealClassifier(profile="paper", class_weight="balanced").fit(
        frame, y, sample_weight=weights
    )
    assert same(
        both,
        IdealClassifier(profile="paper", class_weight="balanced").fit(
            frame.iloc[repeated_rows], y[repeated_rows]
        ),
    )


@pytest.mark.slow
@given(boolean_frames(), st.sampled_from([0.5, 1.25]), st.data())
def test_rows_without_weight_are_not_there(rows, weight, data):
    """The rows that weigh nothing are spoilt: with other labels, and nothing but gaps."""
    frame, y = rows
    away = np.array(
        [
            False,
            False,
            *data.draw(st.lists(st.booleans(), min_size=len(y) - 2, max_size=len(y) - 2)),
        ]
    )
    spoilt = frame.astype("boolean")
    spoilt.loc[away] = pd.NA
    weights = np.where(away, 0.0, weight)
    found = IdealClassifier(profile="paper", missing="error").fit(
        spoilt[["a", "b", "c"]], np.where(away, ~y, y), sample_weight=weights
    )
    assert same(
        found,
        IdealClassifier(profile="paper").fit(frame[~away], y[~away], sample_weight=weights[~away]),
    )


@pytest.mark.parametrize("weight", [0.5, 0.1, 3.7, 1e-200, 1e16, 1e300])
def test_rows_that_all_weigh_the_same_give_the_formula_of_rows_without_weights(weight):
    random = np.random.default_rng(3)
    frame = pd.DataFrame(random.normal(size=(300, 4)), columns=list("abcd"))
    y = (frame["a"] + frame["b"] * frame["c"] + random.normal(size=300) > 0).to_numpy()
    weighed = IdealClassifier(profile="paper").fit(frame, y, sample_weight=np.full(len(y), weight))
    plain = IdealClassifier(profile="paper").fit(frame, y)
    assert (weighed.models_[0].tau, weighed.models_[0].dnf) == (
        plain.models_[0].tau,
        plain.models_[0].dnf,
    )
    ratio = weighed.models_[0].counts.n_rows // len(y)
    assert weighed.models_[0].counts.n.tolist() == (ratio * plain.models_[0].counts.n).tolist()
    assert same(
        IdealClassifier(profile="paper", class_weight={False: weight, True: weight}).fit(frame, y),
        weighed,
    )


@pytest.mark.slow
@given(boolean_frames(), st.data())
def test_types_are_accepted_whose_positive_rows_weigh_at_least_half(rows, data):
    frame, y = rows
    known = st.sampled_from([0.25, 0.5, 1.0, 1.75, 3.0])
    weights = data.draw(st.lists(known, min_size=len(y), max_size=len(y)))
    model = IdealClassifier(profile="paper").fit(frame, y, sample_weight=weights)
    accepted = model.models_[0].table().accepted
    for code, (positive, negative) in sums(model, frame, y, [Fraction(w) for w in weights]).items():
        assert accepted[code] == (positive >= negative)


@pytest.mark.slow
@given(
    boolean_frames(),
    st.sampled_from([{True: 3}, {True: 0.25, False: 0.75}, {False: 7}, "balanced"]),
)
def test_the_weight_of_a_class_is_the_weight_of_each_of_its_rows(rows, class_weight):
    frame, y = rows
    model = IdealClassifier(profile="paper", class_weight=class_weight).fit(frame, y)
    accepted = model.models_[0].table().accepted
    if class_weight == "balanced":
        factor = {label: Fraction(len(y), 2 * int((y == label).sum())) for label in (True, False)}
    else:
        factor = {label: Fraction(class_weight.get(label, 1)) for label in (True, False)}
    weighed = sums(model, frame, y, [factor[bool(label)] for label in y])
    for code, (positive, negative) in weighed.items():
        assert accepted[code] == (positive >= negative)
    # A probability is smoothed by a row of weight one, also where all weights were scaled.
    found = dict(zip(types(model, frame), model.predict_proba(frame)[:, 1].tolist(), strict=True))
    for code, (positive, negative) in weighed.items():
        smoothed = (positive + 1) / (positive + negative + 2)
        exact = (
            max(smoothed, Fraction(1, 2)) if positive >= negative else min(smoothed, Fraction(1, 2))
        )
        assert found[code] == pytest.approx(
            float(exact), rel=0.5 if class_weight == "balanced" else 1e-9
        )


def test_a_probability_with_balanced_classes_is_smoothed_by_an_average_row():
    frame = pd.DataFrame({"a": [True] * 10 + [False] * 310})
    y = np.array([True] * 10 + [True] * 10 + [False] * 300)
    model = IdealClassifier(profile="paper", class_weight="balanced").fit(frame, y)
    positive, negative = 320 / 40, 320 / 600
    expected = [
        (10 * positive + 1) / (10 * positive + 2),
        (10 * positive + 1) / (10 * positive + 300 * negative + 2),
    ]
    assert model.predict_proba(frame)[[0, -1], 1].tolist() == pytest.approx(expected, rel=0.01)


THRESHOLDS = [0.5, 0.3, 0.25, 0.1, 0.75, 1 / 3, 2 / 3, 0.123456]


@pytest.mark.slow
@given(boolean_frames(), st.sampled_from(THRESHOLDS))
def test_a_threshold_accepts_exactly_the_types_with_that_share_of_positive_rows(rows, threshold):
    frame, y = rows
    model = IdealClassifier(profile="paper", threshold=threshold).fit(frame, y)
    exact = Fraction(str(threshold)).limit_denominator(1_000_000)
    assert model.models_[0].threshold == exact
    accepted = model.models_[0].table().accepted
    counted = sums(model, frame, y, [Fraction(1)] * len(y))
    for code, (positive, negative) in counted.items():
        assert accepted[code] == (positive / (positive + negative) >= exact)
    given_yes = model.predict_proba(frame)[:, 1] >= float(exact)
    assert given_yes.tolist() == model.predict(frame).tolist()


@pytest.mark.slow
@given(boolean_frames(max_rows=20), st.sampled_from(THRESHOLDS))
def test_no_function_of_the_attributes_costs_less(rows, threshold):
    """All Boolean functions of tau, one after the other."""
    frame, y = rows
    model = IdealClassifier(profile="paper", threshold=threshold, max_ell=3).fit(frame, y)
    exact = model.models_[0].threshold
    counted = sums(model, frame, y, [Fraction(1)] * len(y))
    codes = sorted(counted)

    def cost(answers: Any) -> Fraction:
        wrong = zip(answers, (counted[code] for code in codes), strict=True)
        return sum(
            (exact * no if yes_said else (1 - exact) * yes for yes_said, (yes, no) in wrong),
            Fraction(0),
        )

    least = min(cost(answers) for answers in itertools.product([False, True], repeat=len(codes)))
    assert cost(model.models_[0].table().accepted[codes]) == least


@pytest.mark.parametrize("threshold", [1 / 3, 0.3333333333333333, 0.1 + 0.2, 0.7071067811865476])
def test_a_threshold_of_many_digits_is_right_for_many_rows(threshold):
    """Counts times a denominator of sixteen digits would not fit in 64 bits."""
    n = 30_000
    frame = pd.DataFrame({"a": np.arange(n) % 2 == 0, "b": np.arange(n) % 3 == 0})
    y = np.where(frame["a"], np.arange(n) % 20 < 8, np.arange(n) % 10 < 3)
    model = IdealClassifier(profile="paper", threshold=threshold).fit(frame, y)
    counts = model.models_[0].counts
    expected = (counts.c / counts.n >= threshold).tolist()
    assert model.models_[0].table().accepted[counts.codes].tolist() == expected
    weighed = IdealClassifier(profile="paper", threshold=threshold).fit(
        frame, y, sample_weight=np.full(n, 0.7)
    )
    assert weighed.predict(frame).tolist() == model.predict(frame).tolist()


@pytest.mark.filterwarnings("ignore:fit left out")
def test_a_class_that_weighs_nothing_is_no_class():
    random = np.random.default_rng(2)
    frame = pd.DataFrame({"a": random.normal(size=90), "b": random.normal(size=90)})
    y = np.array(["p", "q", "r"])[np.arange(90) % 3]
    kept = y != "q"
    for weights in (kept.astype(int), np.where(kept, 0.5, 0.0)):
        model = IdealClassifier(profile="paper").fit(frame, y, sample_weight=weights)
        assert model.classes_.tolist() == ["p", "r"]
        assert same(
            model,
            IdealClassifier(profile="paper").fit(frame[kept], y[kept], sample_weight=weights[kept]),
        )
        assert set(model.predict(frame)) <= {"p", "r"}
    gone = IdealClassifier(profile="paper", class_weight={"q": 0}).fit(frame, y)
    assert gone.classes_.tolist() == ["p", "r"]
    four = np.where(np.arange(90) % 4 == 0, "s", y)
    left = IdealClassifier(profile="paper").fit(
        frame, four, sample_weight=(four != "q").astype(int)
    )
    assert left.classes_.tolist() == list(left.formula_) == ["p", "r", "s"]
    holes = frame.mask(np.column_stack([~kept, ~kept]))
    assert IdealClassifier(profile="paper", max_dropped=1).fit(holes, y).classes_.tolist() == [
        "p",
        "r",
    ]


@pytest.mark.parametrize("how", [{}, {"class_weight": "balanced"}, {"class_weight": {0: 1.5}}])
@pytest.mark.parametrize("weight", [1, 0.5])
def test_one_class_that_weighs_something_is_an_error_that_names_it(how, weight):
    frame, y = pd.DataFrame({"a": [1.0, 2.0, 3.0]}), np.array([0, 1, 1])
    with pytest.raises(
        DataError,
        match=(
            r"two classes to tell apart, but the rows that weigh more than zero have the "
            r"labels \[1\]"
        ),
    ):
        IdealClassifier(profile="paper", **how).fit(
            frame, y, sample_weight=np.array([0, weight, weight])
        )


def test_classes_that_all_weigh_nothing_are_an_error():
    with pytest.raises(DataError, match=r"more than zero have the labels \[\]"):
        IdealClassifier(profile="paper", class_weight={0: 0, 1: 0}).fit([[1.0], [2.0]], [0, 1])


def test_balanced_weights_without_a_class_are_those_of_the_others():
    labels = np.array([0, 0, 0, 2])
    assert class_factors("balanced", CLASSES, labels, None).tolist() == [1.0, 0.0, 3.0]


def test_weights_that_become_too_large_are_an_error():
    with pytest.raises(DataError, match="stay finite"):
        IdealClassifier(profile="paper", class_weight={1: 10}).fit(
            [[1.0], [2.0]], [0, 1], sample_weight=[1e308, 1e308]
        )


@pytest.mark.slow
@given(boolean_frames(max_rows=12), st.sampled_from([0.1, 1.1, 3]))
def test_a_whole_weight_is_as_many_rows_whatever_a_class_weighs(rows, weight):
    frame, y = rows
    weights = np.arange(len(y)) % 4 + 1
    often = np.repeat(np.arange(len(y)), weights)
    model = IdealClassifier(profile="paper", class_weight={True: weight}).fit(
        frame, y, sample_weight=weights
    )
    assert same(
        model,
        IdealClassifier(profile="paper", class_weight={True: weight}).fit(
            frame.iloc[often], y[often]
        ),
    )
