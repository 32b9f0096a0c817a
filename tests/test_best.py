"""Beyond the paper, end to end: several cuts and inner splits, rankings of attributes together,
other objectives.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dnfscale import IdealClassifier
from dnfscale.core.arrays import Bools
from dnfscale.core.splits import TEST, TRAIN, VALIDATION, Splits
from dnfscale.core.vocabulary import Above, Between, cuts_of
from dnfscale.data.frames import table_source
from dnfscale.engine.serial import SerialEngine
from dnfscale.errors import DataError, LimitError, SpecError
from dnfscale.learn.line import Learned, learn
from dnfscale.learn.places import splits_of
from dnfscale.spec.learn import LearnSpec, profile_values
from tests.comparing import told
from tests.examples import in_parts, mixed_table

BEST = LearnSpec(
    "y", outer=3, max_ell=4, seed=1, **{**profile_values("best"), "validation_splits": 3}
)
SPECS = {
    "best": BEST,
    "entropy": replace(BEST, cuts="entropy", validation_splits=2),
    "given": replace(
        BEST,
        cuts=4,
        at=(("x", (0, 0.5)), ("rank", (-200, 10.5))),
        rank=("jmi", "exchange"),
        unseen="dont_care",
    ),
    "support": replace(
        BEST, validation_splits=1, shrink="support", objective="balanced_accuracy", freedom=0.01
    ),
    "f_beta": replace(
        BEST, shrink="parent", objective="f_beta", beta=Fraction(2), missing="indicator", rare=30
    ),
    "scores": replace(
        BEST,
        rank=("f", "chi2"),
        intervals=False,
        validation_splits=3,
        shrink="none",
        unseen="negative",
    ),
}


def learn_here(table: pa.Table, spec: LearnSpec) -> Learned:
    return learn(table_source(table, "memory"), spec, SerialEngine())


@pytest.mark.slow
@pytest.mark.parametrize("name", SPECS)
def test_partitions_change_nothing(name):
    table = mixed_table(5, 240, missing=0.03)
    expected = told(learn_here(table, SPECS[name]))
    for cuts in ([100], [0, 1, 2, 90, 91, 239]):
        assert told(learn(in_parts(table, cuts), SPECS[name], SerialEngine())) == expected


def test_workers_change_nothing(cluster):
    table = mixed_table(6, 240, missing=0.03)
    for spec in (SPECS["best"], SPECS["entropy"], SPECS["given"]):
        assert told(learn(in_parts(table, [50, 60, 200]), spec, cluster)) == told(
            learn_here(table, spec)
        )


# The judge: quantile cuts, greedy entropy and several inner splits, row by row.


def judged_attributes(
    columns: dict[str, np.ndarray[Any, Any]], rows: Bools, k: int
) -> dict[tuple[str, float], Bools]:
    found = {}
    for name, values in columns.items():
        cuts = np.quantile(
            values[rows], [j / (k + 1) for j in range(1, k + 1)], method="averaged_inverted_cdf"
        )
        found.update({(name, float(cut)): values > cut for cut in cuts})
    return found


def judged_order(
    attributes: dict[Any, Bools], target: Bools, rows: Bools, length: int
) -> list[Any]:
    """Take, again and again, the attribute that leaves the least entropy."""
    order: list[Any] = []
    while len(order) < length:

        def left(attribute: Any) -> float:
            groups = defaultdict(list)
            for row in np.flatnonzero(rows):
                groups[tuple(attributes[a][row] for a in (*order, attribute))].append(
                    bool(target[row])
                )
            return -sum(
                count * math.log(count / len(labels))
                for labels in groups.values()
                for count in (sum(labels), len(labels) - sum(labels))
                if count
            )

        costs = {
            attribute: round(left(attribute), 9)
            for attribute in attributes
            if attribute not in order
        }
        order.append(min(costs, key=lambda attribute: costs[attribute]))
    return order


def judged_correct(
    attributes: dict[Any, Bools], tau: list[Any], target: Bools, fitted: Bools, held: Bools
) -> int:
    votes = defaultdict(list)
    for row in np.flatnonzero(fitted):
        votes[tuple(attributes[a][row] for a in tau)].append(bool(target[row]))
    right = 0
    for row in np.flatnonzero(held):
        seen = votes.get(tuple(attributes[a][row] for a in tau), [])
        right += (bool(seen) and 2 * sum(seen) >= len(seen)) == target[row]
    return right


def test_several_cuts_and_splits_and_forward_selection_are_what_a_slow_version_finds():
    random = np.random.default_rng(7)
    columns = {
        "u": random.normal(size=90),
        "v": random.random(90),
        "w": random.normal(size=90) ** 3,
    }
    target = (columns["u"] > 0.3) ^ ((columns["v"] > 0.6) & (random.random(90) < 0.9))
    table = pa.table({**columns, "y": target})
    spec = LearnSpec(
        "y", outer=3, max_ell=3, seed=2, cuts=3, validation_splits=4, rank=("forward",)
    )
    learned = learn_here(table, spec)
    splits = Splits(90, 3, 0.3, 2, 4)
    arcs = splits.arcs(0, 90)
    for fold, found in enumerate((*learned.folds, learned.model)):
        whole = splits.parts[fold][arcs] != TEST
        attributes = judged_attributes(columns, whole, 3)
        corrects = [0, 0, 0]
        for split in range(4):
            parts = splits.inner_parts(split)[fold][arcs]
            order = judged_order(attributes, target, parts == TRAIN, 3)
            for ell in range(3):
                corrects[ell] += judged_correct(
                    attributes, order[: ell + 1], target, parts == TRAIN, parts == VALIDATION
                )
        assert [step.correct for step in found.sweep.steps] == corrects
        rows = found.sweep.validation_rows
        ell = next(
            i for i, right in enumerate(corrects, 1) if 100 * (max(corrects) - right) <= rows
        )
        tau = judged_order(attributes, target, whole, ell)
        assert [(a.column, a.value) for a in found.tau.attributes if isinstance(a, Above)] == tau
        tested = ~whole
        right = judged_correct(attributes, tau, target, whole, tested)
        accepted = found.dnf.accepts(found.test.codes)
        assert int(np.where(accepted, found.test.c, found.test.n - found.test.c).sum()) == right


def test_every_row_validates_equally_often_and_in_the_first_split_as_in_the_paper():
    splits, alone = Splits(100, 5, 0.3, 3, 10), Splits(100, 5, 0.3, 3)
    arcs = splits.arcs(0, 100)
    assert np.array_equal(splits.inner_parts(0)[:, arcs], alone.parts[:, alone.arcs(0, 100)])
    times = np.sum(
        [splits.inner_parts(split)[:, arcs] == VALIDATION for split in range(10)], axis=0
    )
    for fold in range(6):
        learned = splits.parts[fold][arcs] != TEST
        assert set(times[fold][learned].tolist()) == {3}
        assert not times[fold][~learned].any()


def test_the_more_rows_the_fewer_splits():
    spec = replace(BEST, outer=0, validation_splits="auto")
    numbers = [splits_of(n, spec).inner for n in (100, 3000, 4424, 20_000, 30_000, 10**6)]
    assert numbers == [10, 10, 7, 2, 1, 1]


def test_names_of_cuts_say_where_they_are():
    learned = learn_here(mixed_table(3, 200), SPECS["given"])
    names = set(learned.attribute_names)
    assert {"x_above_0", "x_above_0.5", "rank_above_-200", "rank_above_10.5"} <= names
    assert {"noise_above_p20", "noise_above_p40", "noise_above_p60", "noise_above_p80"} <= names
    ties = [name for name in names if name.startswith("ties_")]
    assert len(ties) < 4, "cuts that are the same in every fold are one"


def test_rare_categories_have_no_attribute_of_their_own():
    table = pa.table({"c": ["a"] * 50 + ["b"] * 48 + ["z"] * 2, "y": [True, False] * 50})
    spec = LearnSpec("y", outer=0, rare=10)
    assert learn_here(table, spec).attribute_names == ("c_a", "c_b")
    with pytest.raises(
        DataError, match=r"every category has fewer than 99 rows; lower booleanize.rare"
    ):
        learn_here(table, replace(spec, rare=99))


def test_a_duplicate_is_left_out_and_leaves_room_for_another():
    random = np.random.default_rng(4)
    x, z = random.random(300) < 0.5, random.random(300) < 0.5
    table = pa.table(
        {"a": x, "same": x, "opposite": ~x, "z": z, "y": x ^ (z & (random.random(300) < 0.4))}
    )
    spec = LearnSpec("y", outer=0, rank=("f",), max_ell=2)
    together = (
        learn_here(table, replace(spec, drop_duplicates=True)).model.sweep.steps[-1].attributes
    )
    assert len({*together} & {0, 1, 2}) == 1
    assert 3 in together
    alone = learn_here(table, spec).model.sweep.steps[-1].attributes
    assert 3 not in alone


def test_two_attributes_that_tell_only_together_are_found_by_exchange():
    random = np.random.default_rng(9)
    flags = random.random((600, 5)) < 0.5
    target = flags[:, 1] ^ flags[:, 3]
    table = pa.table({f"f{i}": flags[:, i] for i in range(5)} | {"y": target})
    learned = learn_here(table, replace(BEST, rank=("exchange",), max_ell=2, outer=0))
    assert sorted(learned.model.tau.names) == ["f1", "f3"]
    assert learned.model.whole.n_rows == 600


@pytest.mark.slow
def test_a_given_cut_below_all_that_a_column_can_hold_ends_no_interval():
    for seed in range(8):
        random = np.random.default_rng(seed)
        u = random.integers(0, 20, 80).astype(np.uint8)
        table = pa.table({"u": u, "y": ((u > 4) & (u <= 9)) ^ (random.random(80) < 0.3)})
        spec = replace(
            BEST, at=(("u", (-5, 4, 9, 14)),), rank=("exchange",), outer=2, max_ell=3, seed=seed
        )
        learned = learn_here(table, spec)
        assert not [name for name in learned.attribute_names if "_to_" in name and "-5" in name]
        for fold in (*learned.folds, learned.model):
            assert all(
                cuts_of(attribute)
                for attribute in fold.tau.attributes
                if isinstance(attribute, Between)
            )


@pytest.mark.slow
@pytest.mark.parametrize("rank", ["forward", "exchange", "additive", "mutual_info"])
@pytest.mark.parametrize("shrink", ["none", "parent", "linear"])
def test_what_a_row_counts_does_not_matter(rank, shrink):
    unseen = "negative" if shrink == "none" else "follow"
    for seed in range(2):
        table = mixed_table(seed, 150)
        found = []
        for unit in (1, 1024, 2**40):
            weighed = table.append_column("w", pa.array(np.full(150, unit)))
            spec = replace(
                BEST,
                rank=(rank,),
                intervals=rank == "exchange",
                shrink=shrink,
                unseen=unseen,
                outer=0,
            )
            model = learn_here(weighed, replace(spec, weight="w", unit=unit)).model
            found.append(
                (model.tau, model.dnf, [count // unit for count in model.whole.n.tolist()])
            )
        assert found[0] == found[1] == found[2]


def test_a_column_may_be_called_like_a_part_of_another():
    random = np.random.default_rng(0)
    at = np.datetime64("2024-01-01T00", "s") + 3600 * random.integers(0, 24 * 365, 500)
    value = random.integers(0, 2000, 500)
    for at_given in ((), (("hour of admitted", (999,)),)):
        table = pa.table({"admitted": at, "hour of admitted": value, "y": value > 999})
        found = learn_here(
            table, replace(BEST, parts=("hour",), at=at_given, cuts=19, outer=0, max_ell=2)
        )
        assert found.model.tau.attributes[0].column == "hour of admitted"
        wrong = np.minimum(found.model.whole.c, found.model.whole.n - found.model.whole.c).sum()
        assert wrong <= (0 if at_given else 30)


def test_a_range_of_numbers_is_one_attribute_where_intervals_are_looked_for():
    random = np.random.default_rng(12)
    bmi, noise = random.normal(26, 5, 2000), random.normal(size=2000)
    target = (bmi > 22) & (bmi <= 30) & (random.random(2000) < 0.95)
    table = pa.table({"bmi": bmi, "noise": noise, "y": target})
    spec = replace(BEST, cuts=19, outer=2, max_ell=3)
    found = learn_here(table, spec)
    [attribute] = found.model.tau.attributes
    assert isinstance(attribute, Between)
    assert found.model.tau.names[0] in found.attribute_names
    accepts = (bmi > attribute.low) & (bmi <= attribute.high)
    assert found.model.whole.n.tolist() == [int((~accepts).sum()), int(accepts.sum())]
    assert found.model.whole.c.tolist() == [
        int((~accepts & target).sum()),
        int((accepts & target).sum()),
    ]
    assert found.n_attributes == 38
    # A search of lines and shortened types say two cuts of a column in one condition by themselves.
    attributes = replace(spec, search=("attributes",), forms=("lines",), max_literals="none")
    without = learn_here(table, replace(attributes, intervals=False))
    assert all(isinstance(a, Above) for a in without.model.tau.attributes)
    assert len(without.model.tau) > 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"unseen": "follow", "shrink": "none"}, 'shrink is "none"; set formula.shrink'),
        (
            {"objective": "f_beta", "threshold": Fraction(1, 5)},
            "threshold is for the objective accuracy",
        ),
        ({"rank": ("forward", "jmi")}, "intervals are looked for by the ranking 'exchange' alone"),
        ({"cuts": 0}, "a number of quantiles between 1 and 63, got 0"),
        (
            {"validation_splits": 0},
            "validation_splits must be a whole number between 1 and 100, or",
        ),
        (
            {"shrink_rows": (8.0, 0.0)},
            r"shrink_rows must be a number above 0, or a list .*, got \(8.0, 0.0\)",
        ),
        ({"shrink_rows": ()}, "shrink_rows must be a number above 0, or a list of different ones"),
        ({"freedom": 2.0}, "freedom must be a number between 0 and 1"),
        ({"beta": Fraction(0)}, "beta must be a number above 0"),
        ({"rank": ("anova",)}, "rank must be a list of different rankings out of"),
    ],
)
def test_choices_that_make_no_sense_are_refused(change, message):
    with pytest.raises(SpecError, match=message):
        replace(BEST, **change)


def test_too_many_splits_of_too_many_folds_are_over_the_limit():
    with pytest.raises(LimitError, match="at most 5,000 inner splits of all folds together"):
        splits_of(4000, replace(BEST, outer="leave-one-out", validation_splits=10))


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["negative", "dont_care", "follow"])
def test_a_model_answers_as_its_formula_whatever_it_says_of_the_unseen(rule):
    random = np.random.default_rng(3)
    x = random.normal(size=(200, 4))
    y = (x[:, 0] > 0.4) ^ (x[:, 1] > 1)
    # Only types that are written as they are may be unseen: a budget would shorten them.
    model = IdealClassifier(profile="best", unseen=rule, cuts=5, max_literals="none").fit(x, y)
    codes = np.zeros(200, dtype=int)
    for i, a in enumerate(model.models_[0].tau.attributes):
        values = x[:, int(a.column.removeprefix("x"))]
        holds = (
            (values > a.low) & (values <= a.high) if isinstance(a, Between) else values > a.value
        )
        codes |= holds.astype(int) << i
    assert np.array_equal(model.predict(x), model.models_[0].dnf.accepts(codes))
    assert model.score(x, y) > 0.9
    assert np.array_equal(model.predict_proba(x)[:, 1] > 0.5, model.predict(x))


def test_the_best_profile_weighs_rows_as_if_they_were_repeated():
    table = mixed_table(11, 120).to_pandas()
    x, y = table[["x", "noise", "colour"]], table["y"]
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    params: dict[str, Any] = {"profile": "best", "max_ell": 4}
    weighted = IdealClassifier(**params).fit(x, y, sample_weight=weights)
    chosen = list(itertools.chain.from_iterable([i] * w for i, w in enumerate(weights)))
    repeated = IdealClassifier(**params).fit(x.iloc[chosen], y.iloc[chosen])
    assert weighted.formula_ == repeated.formula_
