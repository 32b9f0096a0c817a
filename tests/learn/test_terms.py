"""Formulas that a search of terms finds: counted as plain pandas counts them, within their budget,
and the same whatever the partitions.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dnfscale.core.splits import TEST, TRAIN, VALIDATION
from dnfscale.core.vocabulary import Above, Between, Equals, IsIn, IsMissing, IsTrue
from dnfscale.data.frames import table_source
from dnfscale.engine.serial import SerialEngine
from dnfscale.learn import places, rank, terms
from dnfscale.learn.choose import objective_of
from dnfscale.learn.lengths import Recurring
from dnfscale.learn.line import Learned, LearnedFold, learn
from dnfscale.learn.terms import Asked, Lines
from dnfscale.method.terms.recurring import agreement
from dnfscale.spec.learn import LearnSpec, settled
from tests.examples import one_file_and_many

N_ROWS = 600


@pytest.fixture(params=["few rows", "many rows", "rows left out"])
def sampling(request, monkeypatch):
    """What is searched: W_train alone, all of W_0 too, or a sample of more rows than are ranked."""
    if request.param != "few rows":
        monkeypatch.setattr(places, "_VALIDATED_ROWS", N_ROWS // 2)
    if request.param == "rows left out":
        monkeypatch.setattr(rank, "_SAMPLED_ROWS", N_ROWS // 2)
        monkeypatch.setattr(rank, "_SEARCHED_ROWS", 2 * N_ROWS // 3)
    return request.param


def made_rows(seed: int = 0, n_rows: int = N_ROWS) -> pd.DataFrame:
    """A table whose target is two lines over an interval, a set, a flag and a missing value."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 90, n_rows),
            "dose": np.where(random.random(n_rows) < 0.1, np.nan, random.gamma(2, 10, n_rows)),
            "ward": random.choice(["icu", "surgery", "urology", "heart", "eyes"], n_rows),
            "smokes": random.random(n_rows) < 0.4,
            "noise": random.normal(size=n_rows),
        }
    )
    truth = (frame.age.between(41, 65) & frame.smokes) | (
        frame.ward.isin(["icu", "heart"]) & (frame.dose > 15)
    )
    frame["y"] = truth ^ (random.random(n_rows) < 0.05)
    frame["w"] = random.integers(1, 4, n_rows)
    return frame


def best(**written: object) -> LearnSpec:
    given = {"target": "y", "missing": "indicator", "outer": 2, "validation_splits": 1}
    given |= {"drop": ("w",), "search": ("attributes", "terms"), "max_literals": 40, **written}
    return LearnSpec(**settled(given, profile="best"))


def learned(frame: pd.DataFrame, spec: LearnSpec) -> Learned:
    return learn(table_source(pa.Table.from_pandas(frame), "memory"), spec, SerialEngine())


def holds(attribute: object, frame: pd.DataFrame) -> np.ndarray:
    """Where an attribute is true, as plain pandas says it; a missing value makes it false."""
    values = frame[attribute.column]
    match attribute:
        case Above():
            return (values > attribute.value).to_numpy()
        case Between():
            return ((values > attribute.low) & (values <= attribute.high)).to_numpy()
        case Equals() | IsTrue():
            return (values == attribute.value).to_numpy()
        case IsIn():
            return values.isin(attribute.values).to_numpy()
        case IsMissing():
            return values.isna().to_numpy()
    raise AssertionError(attribute)


def lines_hold(fold: LearnedFold, frame: pd.DataFrame) -> np.ndarray:
    """lines_hold[row, line]."""
    true = [holds(attribute, frame) for attribute in fold.tau.attributes]
    return np.array(
        [
            np.logical_and.reduce([true[i] == wanted for i, wanted in term.literals])
            for term in fold.dnf.terms
        ]
    ).T


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.usefixtures("sampling")
def test_patterns_of_lines_are_counted_as_pandas_counts_them(weight):
    frame = made_rows()
    weighted = {} if weight is None else {"weight": weight, "drop": ()}
    spec = best(search=("terms",), forms=("lines",), **weighted)
    found = learned(frame, spec)
    splits = found.table.splits
    arcs = splits.arcs(0, N_ROWS)
    weights = np.ones(N_ROWS, dtype=int) if weight is None else frame.w.to_numpy()
    for fold in (*found.folds, found.model):
        assert fold.search == "terms"
        patterns = lines_hold(fold, frame) @ (1 << np.arange(len(fold.dnf.terms)))
        tested = splits.parts[fold.fold][arcs] == TEST
        for rows, counts in ((~tested, fold.whole), (tested, fold.test)):
            plain = (
                pd.DataFrame({"t": patterns, "n": weights, "c": weights * frame.y})[rows]
                .groupby("t")
                .sum()
                .query("n > 0")
            )
            assert counts.codes.tolist() == plain.index.tolist()
            assert counts.n.tolist() == plain.n.tolist()
            assert counts.c.tolist() == plain.c.tolist()


def test_all_rows_learned_from_are_searched_where_the_sample_holds_them(sampling, monkeypatch):
    searched = []

    def spied(samples, effort):
        searched.append([sample.n_rows for sample in samples])
        return frontiers(samples, effort)

    frontiers = terms.frontiers
    monkeypatch.setattr(terms, "frontiers", spied)
    splits = learned(made_rows(), best(search=("terms",))).table.splits
    for fold, sizes in enumerate(searched):
        train = splits.rows_of(fold, [TRAIN])
        both = [train, splits.rows_of(fold, [TRAIN, VALIDATION])]
        if sampling == "rows left out":
            assert len(sizes) == 1
            assert train / 2 < sizes[0] < train
        else:
            assert sizes == (both if sampling == "many rows" else both[:1])


@pytest.mark.usefixtures("sampling")
def test_every_candidate_is_tested_as_pandas_tests_it():
    frame = made_rows()
    found = learned(frame, best())
    arcs = found.table.splits.arcs(0, N_ROWS)
    for fold in found.folds:
        tested = found.table.splits.parts[fold.fold][arcs] == TEST
        chosen = fold.decision.chosen
        answers = lines_hold(fold, frame).any(axis=1)
        assert chosen.answers.counted == tested.sum()
        assert chosen.answers.correct == (answers == frame.y)[tested].sum()


def test_of_formulas_that_few_rows_cannot_tell_apart_the_one_that_recurs_is_taken():
    def asks(*numbers: int) -> Lines:
        return Lines((tuple(Asked((number,), True) for number in numbers),))

    scores = {asks(1, 4): Fraction(80, 100), asks(1, 2): Fraction(79, 100)}
    scores |= {asks(3): Fraction(60, 100), asks(1, 2, 5): Fraction(85, 100)}
    parts = ((asks(3), asks(1, 4)), (asks(1, 2), asks(1, 2, 5)), (asks(1, 2),))
    every = list(scores)
    same = agreement([list(own.lines[0]) for own in every])
    numbers = {own: number for number, own in enumerate(every)}
    few, many = (Recurring(numbers, {"terms": parts}, same, scores, n) for n in (100, 1_000_000))
    assert few.instead_of(asks(1, 4), "terms") == asks(1, 2)
    assert many.instead_of(asks(1, 4), "terms") == asks(1, 4)
    assert few.instead_of(asks(3), "terms") == asks(3)


def test_a_planted_formula_of_an_interval_a_set_and_a_flag_is_found():
    found = learned(made_rows(n_rows=8_000), best(search=("terms",)))
    columns = {frozenset(str(a.column) for a in found.model.tau.attributes)}
    assert columns == {frozenset({"age", "smokes", "ward", "dose"})}
    assert found.model.dnf.n_literals == 4
    for fold in found.folds:
        assert Fraction(fold.decision.chosen.answers.correct, fold.test_rows) > Fraction(93, 100)


@pytest.mark.parametrize("search", [("attributes",), ("terms",), ("attributes", "terms")])
@pytest.mark.parametrize("budget", [1, 3, 7])
def test_a_budget_is_kept_in_every_fold_and_in_the_model_of_all_rows(search, budget):
    found = learned(made_rows(), best(search=search, max_literals=budget, max_terms=1))
    for fold in (*found.folds, found.model):
        assert fold.decision.chosen.literals <= budget
        assert len(fold.lines) <= 1


@pytest.mark.usefixtures("sampling")
def test_what_is_found_does_not_depend_on_partitions(tmp_path):
    sources = one_file_and_many(made_rows(), tmp_path)
    one, many = (learn(source, best(), SerialEngine()) for source in sources)
    for a, b in zip((*one.folds, one.model), (*many.folds, many.model), strict=True):
        assert (a.tau, a.dnf, a.whole, a.test) == (b.tau, b.dnf, b.whole, b.test)
        assert [own.point for own in a.decision.candidates] == [
            own.point for own in b.decision.candidates
        ]


@pytest.mark.usefixtures("sampling")
def test_what_is_found_on_a_cluster_is_the_same(cluster):
    source = table_source(pa.Table.from_pandas(made_rows()), "memory")
    spec = best()
    here, there = (learn(source, spec, engine) for engine in (SerialEngine(), cluster))
    for a, b in zip((*here.folds, here.model), (*there.folds, there.model), strict=True):
        assert (a.tau, a.dnf, a.whole, a.test) == (b.tau, b.dnf, b.whole, b.test)


@pytest.mark.usefixtures("sampling")
def test_nothing_of_the_test_rows_changes_a_fold():
    frame = made_rows()
    spec = best()
    before = learned(frame, spec)
    splits = before.table.splits
    tested = splits.parts[0][splits.arcs(0, N_ROWS)] == TEST
    changed = frame.copy()
    changed.loc[tested, "y"] = ~changed.loc[tested, "y"]
    after = learned(changed, spec)
    assert (before.folds[0].tau, before.folds[0].dnf) == (after.folds[0].tau, after.folds[0].dnf)
    assert before.folds[0].whole == after.folds[0].whole


def test_pure_noise_gets_a_constant_answer_or_a_short_formula():
    frame = made_rows()
    frame["y"] = np.random.default_rng(5).random(N_ROWS) < 0.2
    found = learned(frame, best())
    assert found.model.decision.chosen.literals <= 3


@pytest.mark.parametrize("objective", ["balanced_accuracy", "f_beta"])
def test_other_objectives_choose_by_their_own_score(objective):
    frame = made_rows(n_rows=3_000)
    rare = frame.y & (np.arange(len(frame)) % 5 == 0)
    kept = frame[~frame.y | rare].reset_index(drop=True)
    plain, own = (
        learned(kept, best(search=("terms",), objective=name)) for name in ("accuracy", objective)
    )

    goal = objective_of(best(objective=objective))
    scores = [
        goal.score(found.model.accepts(found.model.whole), found.model.whole)
        for found in (own, plain)
    ]
    assert scores[0] >= scores[1]


def test_a_cost_moves_the_answers():
    frame = made_rows()
    careful, plain = (
        learned(frame, best(search=("terms",), threshold=threshold)) for threshold in (0.1, 0.5)
    )

    def accepted(found: Learned) -> int:
        return int(found.model.whole.n[found.model.accepts(found.model.whole)].sum())

    assert accepted(careful) >= accepted(plain)


def test_several_labels_each_have_their_lines():
    from dnfscale.learn.classes import learn_classes

    frame = made_rows()
    frame["y"] = np.where(frame.y, "yes", np.where(frame.age > 60, "old", "no"))
    spec = best(classes="all", search=("terms",))
    found = learn_classes(table_source(pa.Table.from_pandas(frame), "memory"), spec, SerialEngine())
    assert found.confusion.sum() == N_ROWS
    assert np.trace(found.confusion.sum(axis=0)) > 0.8 * N_ROWS
