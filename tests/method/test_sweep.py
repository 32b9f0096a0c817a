"""The sweep: every prefix of every ranking, the smallest ell within a point of the best, ties to
the first.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.arrays import Bools
from dnfscale.method.shrink import Shrink
from dnfscale.method.sweep import Judging, RankedCounts, Step, choose, sweep
from tests.judges import tally
from tests.strategies import boolean_rows


def steps_of(corrects: list[int], rows: int) -> list[Step]:
    """Steps that get so many of the rows right."""
    return [
        Step(ell, "f", tuple(range(ell)), correct, {"f": correct}, Fraction(correct, max(1, rows)))
        for ell, correct in enumerate(corrects, start=1)
    ]


def chosen_ell(corrects: list[int], rows: int, tolerance: float, rule: str = "tolerance") -> int:
    return choose(
        steps_of(corrects, rows),
        Judging(tolerance=tolerance, rule=rule),
        distinct_rows=rows,
        validation_per_train=Fraction(3, 7),
    ).ell


def ranked(
    order: list[int], train: tuple[Bools, Bools], validation: tuple[Bools, Bools]
) -> RankedCounts:
    (holds, target), (val_holds, val_target) = train, validation
    return RankedCounts(
        tuple(order), tally(holds[:, order], target), tally(val_holds[:, order], val_target)
    )


def plain_correct(
    order: list[int], train: tuple[Bools, Bools], validation: tuple[Bools, Bools]
) -> int:
    """The judge: look up each validation row's type among the training rows."""
    seen: dict[tuple[bool, ...], list[bool]] = {}
    for row, q in zip(train[0][:, order].tolist(), train[1].tolist(), strict=True):
        seen.setdefault(tuple(row), []).append(q)
    right = 0
    for row, q in zip(validation[0][:, order].tolist(), validation[1].tolist(), strict=True):
        votes = seen.get(tuple(row), [])
        right += (bool(votes) and 2 * sum(votes) >= len(votes)) == q
    return right


@given(boolean_rows(min_rows=1, max_attributes=5), st.data())
def test_every_step_is_the_best_ranking_on_the_validation_rows(rows, choice):
    holds, target = rows
    cut = choice.draw(st.integers(0, len(target)))
    train, validation = (holds[:cut], target[:cut]), (holds[cut:], target[cut:])
    names = ("f", "mutual_info", "chi2")
    orders = {name: choice.draw(st.permutations(range(holds.shape[1]))) for name in names}
    found = sweep({name: [ranked(orders[name], train, validation)] for name in names}, Judging())
    assert found.validation_rows == len(target) - cut
    assert [s.ell for s in found.steps] == list(range(1, holds.shape[1] + 1))
    for s in found.steps:
        correct = {name: plain_correct(orders[name][: s.ell], train, validation) for name in names}
        best = next(name for name in names if correct[name] == max(correct.values()))
        assert dict(s.correct_by_rank) == correct
        assert (s.rank, s.correct, s.attributes) == (
            best,
            correct[best],
            tuple(orders[best][: s.ell]),
        )


@given(
    st.lists(st.integers(0, 1000), min_size=1, max_size=10),
    st.integers(0, 1000),
    st.integers(0, 100),
)
def test_the_smallest_ell_within_the_tolerance_of_the_best_is_chosen(corrects, more, percent):
    rows = max(corrects) + more
    steps = steps_of(corrects, rows)
    chosen = choose(
        steps,
        Judging(tolerance=percent / 100),
        distinct_rows=rows,
        validation_per_train=Fraction(3, 7),
    )
    allowed = Fraction(percent, 100)
    within = [s for s in steps if rows == 0 or Fraction(max(corrects) - s.correct, rows) <= allowed]
    assert chosen is within[0]


@pytest.mark.parametrize(("lost", "ell"), [(0, 1), (9, 1), (10, 1), (11, 2), (500, 2)])
def test_one_point_below_the_best_is_within_the_tolerance_and_a_row_more_is_not(lost, ell):
    assert chosen_ell([900 - lost, 900, 880], 1000, 0.01) == ell


def test_the_tolerance_holds_where_floats_would_go_wrong():
    # In floats 0.90 - 0.89 is 0.010000000000000009: the first step would be passed over.
    assert 90 / 100 - 89 / 100 > 0.01
    assert chosen_ell([89, 90], 100, 0.01) == 1
    # In floats 0.07 * 100 is 7.000000000000001, and 0.29 * 100 is 28.999999999999996.
    assert 0.29 * 100 < 29
    assert chosen_ell([61, 90], 100, 0.29) == 1
    assert chosen_ell([60, 90], 100, 0.29) == 2


@given(st.integers(1, 10**6), st.integers(1, 99))
def test_a_loss_of_exactly_the_tolerance_is_within_it_for_any_number_of_rows(hundreds, percent):
    rows = 100 * hundreds
    assert chosen_ell([rows - percent * hundreds, rows], rows, percent / 100) == 1
    assert chosen_ell([rows - percent * hundreds - 1, rows], rows, percent / 100) == 2


@pytest.mark.parametrize("tolerance", [1e-05, 1e-3])
def test_a_tiny_tolerance_is_read_as_it_is_written(tolerance):
    assert chosen_ell([10**6 - round(10**6 * tolerance), 10**6], 10**6, tolerance) == 1
    assert chosen_ell([10**6 - round(10**6 * tolerance) - 1, 10**6], 10**6, tolerance) == 2


@pytest.mark.parametrize("names", [("f", "chi2"), ("chi2", "f"), ("mutual_info", "f", "chi2")])
def test_rankings_that_tie_go_to_the_first_of_the_list(names):
    holds, target = np.array([[True], [False], [True]]), np.array([True, False, True])
    same = {name: [ranked([0], (holds, target), (holds, target))] for name in names}
    assert sweep(same, Judging()).chosen.rank == names[0]


def test_a_better_ranking_wins_over_an_earlier_one():
    target = np.array([True, False, True, False])
    holds = np.array([[True, True, False, False], [True, False, True, False]]).T
    rankings = {
        name: [ranked(order, (holds, target), (holds, target))]
        for name, order in (("f", [0]), ("chi2", [1]))
    }
    chosen = sweep(rankings, Judging()).chosen
    assert (chosen.rank, chosen.attributes, chosen.correct) == ("chi2", (1,), 4)


def test_without_validation_rows_the_first_step_of_the_first_ranking_is_chosen():
    holds, target = np.ones((3, 2), bool), np.ones(3, bool)
    nothing = (holds[:0], target[:0])
    found = sweep(
        {name: [ranked([0, 1], (holds, target), nothing)] for name in ("chi2", "f")}, Judging()
    )
    assert found.validation_rows == 0
    assert (found.chosen.ell, found.chosen.rank, found.chosen.correct) == (1, "chi2", 0)


@pytest.mark.parametrize(("corrects", "ell"), [([880, 900], 2), ([891, 900], 1), ([889, 900], 2)])
def test_one_standard_error_is_that_of_the_best_share(corrects, ell):
    # The root of 0.9 * 0.1 / 1000 is 0.0095.
    assert chosen_ell(corrects, 1000, 0.05, "standard_error") == ell


def test_the_standard_error_never_gives_up_more_than_the_tolerance():
    assert chosen_ell([19, 20], 40, 0.01, "standard_error") == 2
    assert chosen_ell([19, 20], 40, 0.10, "standard_error") == 1


def split_steps(*shares: list[float]) -> list[Step]:
    """Steps with so large a share right in each inner split."""
    exact = [tuple(Fraction(str(share)) for share in of_step) for of_step in shares]
    return [
        Step(
            ell,
            "f",
            tuple(range(ell)),
            0,
            {},
            score=sum(by_split) / len(by_split),
            by_split=by_split,
        )
        for ell, by_split in enumerate(exact, start=1)
    ]


def test_a_loss_that_every_split_shows_is_not_given_up():
    judging = Judging(tolerance=0.02, rule="standard_error")
    steady = split_steps([0.79, 0.69, 0.89], [0.80, 0.70, 0.90])
    assert choose(steady, judging, distinct_rows=1000, validation_per_train=Fraction()).ell == 2
    by_chance = split_steps([0.82, 0.72, 0.83], [0.80, 0.70, 0.90])
    assert choose(by_chance, judging, distinct_rows=1000, validation_per_train=Fraction()).ell == 1


@given(
    st.lists(
        st.tuples(st.integers(0, 100), st.integers(0, 100), st.integers(0, 100)),
        min_size=1,
        max_size=6,
    ),
    st.integers(1, 300),
    st.integers(1, 99),
)
def test_one_standard_error_of_a_loss_is_that_of_paired_splits(shares, rows, percent):
    steps = split_steps(*([share / 100 for share in of_step] for of_step in shares))
    per_train = Fraction(percent, 100 - percent)
    chosen = choose(
        steps,
        Judging(tolerance=1.0, rule="standard_error"),
        distinct_rows=rows,
        validation_per_train=per_train,
    )
    table = np.array(shares) / 100
    best = int(table.mean(axis=1).round(9).argmax())
    p = table[best].mean()
    losses = table[best] - table
    paired = losses.var(axis=1, ddof=1) * (1 / 3 + float(per_train))
    allowed = np.minimum(p * (1 - p) / rows, paired)
    # Floats cannot tell a tie: within their error either answer is right.
    within = losses.mean(axis=1) ** 2 - allowed
    assert within[chosen.ell - 1] <= 1e-9
    assert (within[: chosen.ell - 1] >= -1e-9).all()


@given(boolean_rows(min_rows=4, max_attributes=4), st.data())
def test_several_splits_are_judged_by_their_sum_and_the_final_ranking_is_taken(rows, choice):
    holds, target = rows
    cuts = [choice.draw(st.integers(0, len(target))) for _ in range(3)]
    parts = [((holds[:cut], target[:cut]), (holds[cut:], target[cut:])) for cut in cuts]
    orders = [choice.draw(st.permutations(range(holds.shape[1]))) for _ in parts]
    final = tuple(choice.draw(st.permutations(range(holds.shape[1]))))
    splits = [ranked(order, *part) for order, part in zip(orders, parts, strict=True)]
    found = sweep({"f": splits}, Judging(), final={"f": final}, distinct_rows=len(target))
    assert found.validation_rows == sum(len(target) - cut for cut in cuts)
    for s in found.steps:
        correct = [
            plain_correct(order[: s.ell], *part) for order, part in zip(orders, parts, strict=True)
        ]
        assert s.correct == sum(correct)
        shares = [
            Fraction(right, max(1, len(target) - cut))
            for right, cut in zip(correct, cuts, strict=True)
        ]
        assert s.by_split == tuple(shares)
        assert s.score == sum(shares) / 3
        assert s.attributes == final[: s.ell]


@given(boolean_rows(min_rows=4, max_attributes=3), st.data())
def test_each_step_goes_by_what_is_best_on_the_validation_rows(rows, choice):
    holds, target = rows
    cuts = [choice.draw(st.integers(0, len(target))) for _ in range(2)]
    splits = [
        ranked(range(holds.shape[1]), (holds[:c], target[:c]), (holds[c:], target[c:]))
        for c in cuts
    ]
    shrinks = tuple(Shrink("parent", m) for m in choice.draw(st.permutations([0.5, 2.0, 8.0])))
    found = sweep({"f": splits}, Judging(shrinks=shrinks))
    alone = [sweep({"f": splits}, Judging(shrinks=(each,))) for each in shrinks]
    for step, *by_rule in zip(found.steps, *(each.steps for each in alone), strict=True):
        best = max(by_rule, key=lambda each: each.score)
        assert (step.score, step.correct, step.shrink) == (best.score, best.correct, best.shrink)
