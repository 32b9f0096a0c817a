"""Tuning chains: what they ask, what they remember, and that a resumed one ends as an undisturbed
one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dnfscale.compare import random_forest, xgboost
from dnfscale.compare.trial import Fit, Scored, hard_limit_s
from dnfscale.compare.tuning import Budget, Tuned, Untuned, tune
from dnfscale.engine.api import Failure
from dnfscale.results.confusion import correct_of
from dnfscale.spec.registry import COMPETITORS
from tests.compare.notes import KeptNotes
from tests.compare.recorder import Recorder

Answer = Callable[[Fit], Scored | Failure]


def scored(correct: int, rows: int, seconds: float) -> Scored:
    """Return how a model did that is right about some rows, half of them positive."""
    right = correct // 2
    return Scored(((correct - right, 0), (rows - correct, right)), seconds)


def deep_is_good(fit: Fit) -> Scored:
    return scored(50 + int(fit.params["max_depth"] or 0), 100, 0.5)


def drive(
    notes: KeptNotes,
    answer: Answer,
    *,
    trials: int = 6,
    stop_after: int | None = None,
    pruner: str = "none",
    first: str = "drawn",
) -> tuple[Any, list[Fit]]:
    """Run a chain by hand, perhaps not to its end, and return how it ended and what it had done."""
    budget = Budget(trials, pruner=pruner, first=first)
    chain = tune(COMPETITORS["xgboost"], 3, budget, seed=1, notes=notes)
    asked: list[Fit] = []
    try:
        fit = next(chain)
        while stop_after is None or len(asked) < stop_after:
            asked.append(fit)
            fit = chain.send(answer(fit))
    except StopIteration as end:
        return end.value, asked
    return None, asked


def test_the_best_trial_on_the_validation_rows_is_fitted_last_and_tested() -> None:
    tuned, asked = drive(KeptNotes(), deep_is_good)
    assert isinstance(tuned, Tuned)
    assert [fit.final for fit in asked] == [False] * 6 + [True]
    best = max(asked[:-1], key=lambda fit: fit.params["max_depth"])
    assert tuned.best.params == best.params == asked[-1].params
    assert (tuned.best.correct, correct_of(tuned.answers)) == (50 + best.params["max_depth"],) * 2
    assert (tuned.trials, tuned.failed_trials, tuned.seconds) == (6, 0, 3.5)


@pytest.mark.parametrize("pruner", ["none", "median"])
def test_the_first_trial_is_what_the_library_does_by_itself_and_others_are_drawn(
    pruner: str,
) -> None:
    def few_trees_are_good(fit: Fit) -> Scored:
        return scored(90 if len(fit.params) == 1 else 60, 100, 0.5)

    tuned, asked = drive(KeptNotes(), few_trees_are_good, pruner=pruner, first="default")
    assert asked[0].params == {"n_estimators": 100} == tuned.best.params == asked[-1].params
    assert all("max_depth" in fit.params for fit in asked if len(fit.params) > 1)
    assert tuned.trials == 6
    notes = KeptNotes()
    drive(notes, few_trees_are_good, pruner=pruner, first="default", stop_after=3)
    resumed, _ = drive(notes, few_trees_are_good, pruner=pruner, first="default")
    assert resumed == tuned


def test_of_trials_that_tie_the_first_is_taken() -> None:
    tuned, asked = drive(KeptNotes(), lambda _fit: scored(7, 10, 0.0))
    assert tuned.best.params == asked[0].params


def test_a_chain_asks_the_same_whenever_it_runs() -> None:
    assert drive(KeptNotes(), deep_is_good) == drive(KeptNotes(), deep_is_good)


@pytest.mark.parametrize("stop_after", [1, 3, 6])
def test_a_chain_that_was_cut_off_repeats_no_trial_and_ends_the_same(stop_after: int) -> None:
    whole, all_asked = drive(KeptNotes(), deep_is_good)
    notes = KeptNotes()
    _, first = drive(notes, deep_is_good, stop_after=stop_after)
    resumed, rest = drive(notes, deep_is_good)
    assert resumed == whole
    noted = stop_after - 1 if stop_after < len(all_asked) else stop_after
    assert first[:noted] + rest == all_asked or first + rest == all_asked


def test_a_finished_chain_asks_for_nothing() -> None:
    notes = KeptNotes()
    whole, _ = drive(notes, deep_is_good)
    assert drive(notes, deep_is_good) == (whole, [])


def test_the_notes_of_a_chain_say_what_each_fit_was_and_how_it_ended() -> None:
    notes = KeptNotes()
    answers = iter([Failure("out of luck"), scored(7, 10, 0.5), scored(6, 9, 0.25)])
    _, asked = drive(notes, lambda _fit: next(answers), trials=2)
    params = [dict(fit.params) for fit in asked]
    assert notes.entries["xgboost-fold3"] == [
        {"step": "trial 0", "params": params[0], "error": "out of luck"},
        {"step": "trial 1", "params": params[1], "answers": [[4, 0], [3, 3]], "seconds": 0.5},
        {"step": "final", "params": params[1], "answers": [[3, 0], [3, 3]], "seconds": 0.25},
    ]


def test_a_failed_trial_is_counted_and_the_others_go_on() -> None:
    def every_second(fit: Fit) -> Scored | Failure:
        return (
            Failure("out of luck")
            if fit.params["max_depth"] % 2 and not fit.final
            else deep_is_good(fit)
        )

    tuned, asked = drive(KeptNotes(), every_second)
    assert isinstance(tuned, Tuned)
    assert tuned.failed_trials == sum(fit.params["max_depth"] % 2 for fit in asked[:-1])
    assert tuned.best.params["max_depth"] % 2 == 0


def test_a_chain_without_a_successful_trial_says_why() -> None:
    ended, asked = drive(KeptNotes(), lambda _fit: Failure("ValueError: no"))
    assert isinstance(ended, Untuned)
    assert ended.error == "no trial succeeded; the last said: ValueError: no"
    assert not any(fit.final for fit in asked)


def test_the_space_of_forests_is_the_papers() -> None:
    recorder = Recorder()
    random_forest.suggest(recorder)
    assert recorder.asked == {
        "max_depth": ("one of", None, 2, 3, 4),
        "n_estimators": ("int", 10, 3000, 1, True),
        "criterion": ("one of", "gini", "entropy"),
        "max_features": (
            "one of",
            "sqrt",
            "log2",
            None,
            0.1,
            0.2,
            0.3,
            0.4,
            0.5,
            0.6,
            0.7,
            0.8,
            0.9,
        ),
        "min_samples_split": ("one of", 2, 3),
        "min_samples_leaf": ("int", 2, 50, 1, False),
        "bootstrap": ("one of", True, False),
        "min_impurity_decrease": ("one of", 0.0, 0.01, 0.02, 0.05),
    }


def test_the_space_of_boosted_trees_is_the_papers() -> None:
    recorder = Recorder()
    xgboost.suggest(recorder)
    assert recorder.asked == {
        "max_depth": ("int", 1, 11, 1, False),
        "n_estimators": ("int", 100, 5900, 200, False),
        "min_child_weight": ("float", 1.0, 100.0, True),
        "subsample": ("float", 0.5, 1.0, False),
        "learning_rate": ("float", 1e-5, 0.7, True),
        "colsample_bylevel": ("float", 0.5, 1.0, False),
        "colsample_bytree": ("float", 0.5, 1.0, False),
        "gamma": ("float", 1e-8, 7.0, True),
        "reg_lambda": ("float", 1.0, 4.0, True),
        "reg_alpha": ("float", 1e-8, 100.0, True),
    }


@pytest.mark.parametrize("pruner", ["median", "halving"])
def test_a_pruner_gives_up_trials_after_their_first_trees_and_the_best_is_fitted_whole(
    pruner: str,
) -> None:
    tuned, asked = drive(KeptNotes(), deep_is_good, trials=20, pruner=pruner)
    assert isinstance(tuned, Tuned)
    whole = [fit for fit in asked if fit.share == 1 and not fit.final]
    assert tuned.trials == 20
    assert 0 < tuned.pruned_trials == 20 - len(whole)
    assert {fit.share for fit in asked} == {Fraction(1, 9), Fraction(1, 3), Fraction(1)}
    assert asked[-1].final
    assert asked[-1].share == 1
    assert tuned.best.correct == max(50 + fit.params["max_depth"] for fit in whole)
    assert tuned.seconds == 0.5 * len(asked)


@pytest.mark.slow
def test_a_pruned_chain_that_is_resumed_repeats_nothing_and_ends_the_same() -> None:
    undisturbed, asked = drive(KeptNotes(), deep_is_good, trials=12, pruner="median")
    for stop in range(1, len(asked)):
        notes = KeptNotes()
        _, first = drive(notes, deep_is_good, trials=12, pruner="median", stop_after=stop)
        again, second = drive(notes, deep_is_good, trials=12, pruner="median")
        assert again == undisturbed
        # What was answered was noted, except the last: its answer came when the chain had been
        # given up.
        assert first[:stop] + second in (asked, asked[:stop] + asked[stop - 1 :])


def test_the_first_trees_are_a_share_of_all_and_at_least_one() -> None:
    fit = Fit("xgboost", 0, {"n_estimators": 100}, 0, final=False)
    assert (fit.n_trees, replace(fit, share=Fraction(1, 9)).n_trees) == (100, 12)
    assert replace(fit, params={"n_estimators": 2}, share=Fraction(1, 9)).n_trees == 1


@pytest.mark.parametrize("timeout_s", [0.001, 2.0, 3600.0])
def test_a_trial_may_give_up_itself_before_it_is_given_up(timeout_s):
    fit = Fit("xgboost", 0, {}, seed=0, final=False)
    assert hard_limit_s(fit) is None
    assert hard_limit_s(replace(fit, timeout_s=timeout_s)) > timeout_s


def timed(trials: int, limit_s: float, trial_s: float) -> tuple[Any, list[Fit]]:
    """Run a chain whose trials take their time, of which there is only so much."""
    asked: list[Fit] = []
    chain = tune(
        COMPETITORS["xgboost"],
        3,
        Budget(trials, timeout_s=50.0, first="drawn"),
        seed=1,
        notes=KeptNotes(),
        left_s=lambda: limit_s - trial_s * len(asked),
    )
    try:
        fit = next(chain)
        while True:
            asked.append(fit)
            fit = chain.send(deep_is_good(fit))
    except StopIteration as end:
        return end.value, asked


def test_no_trial_begins_when_the_time_is_over_and_the_best_so_far_is_tested() -> None:
    tuned, asked = timed(6, limit_s=25.0, trial_s=10.0)
    assert [fit.final for fit in asked] == [False, False, False, True]
    assert [fit.timeout_s for fit in asked] == [50.0, 15.0, 5.0, None]
    assert (tuned.trials, tuned.cut_short) == (3, True)


def test_the_first_trial_is_carried_out_however_little_time_there_is() -> None:
    tuned, asked = timed(6, limit_s=0.0, trial_s=10.0)
    assert [fit.final for fit in asked] == [False, True]
    assert (tuned.trials, tuned.cut_short) == (1, True)


def test_enough_time_leaves_all_trials() -> None:
    tuned, asked = timed(4, limit_s=1e6, trial_s=1.0)
    assert len(asked) == 5
    assert (tuned.trials, tuned.cut_short) == (4, False)


def test_the_last_fit_has_as_many_trees_as_were_best_on_the_validation_rows() -> None:
    def stopped(fit: Fit) -> Scored:
        return replace(deep_is_good(fit), n_trees=None if fit.final else 7)

    tuned, asked = drive(KeptNotes(), stopped, trials=3)
    assert all(fit.params["n_estimators"] > 7 for fit in asked[:-1])
    assert asked[-1].params["n_estimators"] == 7
    assert tuned.best.params["n_estimators"] == 7
