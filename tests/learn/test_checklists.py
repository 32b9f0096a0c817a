"""Checklists that validation chooses: counted as plain pandas counts them, and the same whatever
the partitions.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dnfscale.core.model import signs_held
from dnfscale.core.splits import TEST
from dnfscale.data.frames import table_source
from dnfscale.engine.serial import SerialEngine
from dnfscale.errors import SpecError
from dnfscale.learn.classes import learn_classes
from dnfscale.learn.frontier import grow_formulas
from dnfscale.learn.line import LearnedFold, fold_model, learn, learn_targets
from dnfscale.spec.learn import LearnSpec, settled
from tests.examples import one_file_and_many
from tests.learn.test_terms import best, holds, learned

N_ROWS = 500


def signs_of(frame: pd.DataFrame) -> np.ndarray:
    return np.array(
        [
            frame.age > 60,
            frame.smokes,
            frame.dose > 25,
            frame.ward.isin(["icu", "heart"]),
            frame.pulse > 90,
        ]
    ).sum(axis=0)


def patients(seed: int = 0, n_rows: int = N_ROWS, noise: float = 0.05) -> pd.DataFrame:
    """A table whose target is at least 3 of 5 signs, of all kinds."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 90, n_rows),
            "dose": np.where(random.random(n_rows) < 0.1, np.nan, random.gamma(2, 12, n_rows)),
            "ward": random.choice(["icu", "surgery", "urology", "heart", "eyes"], n_rows),
            "smokes": random.random(n_rows) < 0.5,
            "pulse": random.normal(88, 15, n_rows).round(),
            "noise": random.normal(size=n_rows),
        }
    )
    frame["y"] = (signs_of(frame) >= 3) ^ (random.random(n_rows) < noise)
    frame["w"] = random.integers(1, 4, n_rows)
    return frame


def checklists(**written: object) -> LearnSpec:
    return best(forms=("checklist",), **written)


def held(fold: LearnedFold, frame: pd.DataFrame) -> np.ndarray:
    """How many conditions of a fold's checklist hold in each row."""
    true = [holds(attribute, frame) for attribute in fold.tau.attributes]
    [term] = fold.dnf.terms
    return np.sum([true[i] == wanted for i, wanted in term.literals], axis=0)


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("search", ["attributes", "terms"])
def test_signs_are_counted_as_pandas_counts_them(weight, search):
    frame = patients()
    given = {} if weight is None else {"weight": weight, "drop": ()}
    found = learned(frame, checklists(search=(search,), max_literals=6, **given))
    arcs = found.table.splits.arcs(0, N_ROWS)
    weights = np.ones(N_ROWS, dtype=int) if weight is None else frame.w.to_numpy()
    n_signs = 0
    for fold in (*found.folds, found.model):
        tested = found.table.splits.parts[fold.fold][arcs] == TEST
        if fold.written.types != "signs":
            continue
        n_signs += 1
        signs = held(fold, frame)
        for rows, counts in ((~tested, fold.whole), (tested, fold.test)):
            plain = (
                pd.DataFrame({"s": signs, "n": weights, "c": weights * frame.y})[rows]
                .groupby("s")
                .sum()
            )
            assert [signs_held(code) for code in counts.codes.tolist()] == plain.index.tolist()
            assert counts.n.tolist() == plain.n.tolist()
            assert counts.c.tolist() == plain.c.tolist()
        [term] = fold.dnf.terms
        right = (signs >= term.at_least) == frame.y
        assert fold.decision.chosen.answers.correct == right[tested].sum() or weight is not None
    assert n_signs


def test_every_candidate_is_tested_as_pandas_tests_it():
    frame = patients()
    spec = checklists()
    source = table_source(pa.Table.from_pandas(frame), "memory")
    found = learn_targets(source, spec, SerialEngine())
    grown = grow_formulas(found, spec, SerialEngine())
    for own in grown:
        model = own.model
        accepted = model.accepts(model.counts.codes)
        right = np.where(accepted, model.counts.c, model.counts.n - model.counts.c).sum()
        true = [holds(attribute, frame) for attribute in model.tau.attributes]
        types = np.sum([value << i for i, value in enumerate(map(np.int64, true))], axis=0)
        assert right == (model.dnf.accepts(types) == frame.y).sum()
    assert any(own.model.types == "signs" for own in grown)


def test_a_planted_checklist_is_chosen_among_lines_and_checklists():
    found = learned(patients(n_rows=6_000), best(forms=("lines", "checklist")))
    columns = {str(a.column) for a in found.model.tau.attributes}
    assert columns == {"age", "smokes", "dose", "ward", "pulse"}
    [term] = found.model.dnf.terms
    assert (term.at_least, term.care.bit_count()) == (3, 5)
    for fold in found.folds:
        assert Fraction(fold.decision.chosen.answers.correct, fold.test_rows) > Fraction(92, 100)


@pytest.mark.parametrize("budget", [1, 2, 4])
def test_a_budget_is_kept_in_every_fold(budget):
    found = learned(patients(), checklists(max_literals=budget))
    for fold in (*found.folds, found.model):
        assert fold.decision.chosen.literals <= budget
        assert fold.decision.chosen.terms == len(fold.lines)


def test_what_is_found_does_not_depend_on_partitions(tmp_path):
    sources = one_file_and_many(patients(), tmp_path)
    one, many = (learn(source, checklists(), SerialEngine()) for source in sources)
    for a, b in zip((*one.folds, one.model), (*many.folds, many.model), strict=True):
        assert (a.tau, a.dnf, a.whole, a.test) == (b.tau, b.dnf, b.whole, b.test)


def test_several_labels_are_answered_by_their_checklists_together():
    frame = patients()
    frame["y"] = np.where(signs_of(frame) >= 3, "ill", np.where(frame.noise > 0.5, "odd", "well"))
    spec = checklists(classes="all")
    source = table_source(pa.Table.from_pandas(frame), "memory")
    found = learn_classes(source, spec, SerialEngine())
    arcs = found.kept.table.splits.arcs(0, N_ROWS)
    for fold in range(2):
        tested = found.kept.table.splits.parts[fold][arcs] == TEST
        given = []
        for own in found.classes:
            model = fold_model(own.folds[fold], own, spec)
            true = [holds(attribute, frame) for attribute in model.tau.attributes]
            types = [
                model.type_of(sum(int(value) << i for i, value in enumerate(row)))
                for row in np.array(true).T
            ]
            given.append(model.table().probability[model.table().places(np.array(types))])
        answers = np.array(found.labels)[np.argmax(given, axis=0)]
        plain = pd.crosstab(frame.y[tested], answers[tested])
        plain = plain.reindex(index=found.labels, columns=found.labels, fill_value=0)
        assert (found.confusion[fold] == plain.to_numpy()).all()


def test_no_form_is_refused():
    with pytest.raises(SpecError, match="forms"):
        best(forms=())


def test_sympy_writes_no_checklists():
    with pytest.raises(SpecError, match="leave out formula"):
        best(forms=("checklist",), minimize="sympy", search=("attributes",), max_literals="none")


def test_the_forms_of_the_profile_give_way_to_sympy():
    settled_ = settled({"minimize": "sympy"}, profile="best")
    assert settled_["forms"] == ("lines",)


def test_the_share_of_rows_above_a_cut_is_what_pandas_counts():
    frame = patients()
    found = learned(frame, best(forms=("lines", "checklist"), max_literals=8))
    n_cuts = 0
    for fold in found.folds:
        for (column, cut), share in fold.conditions.above.items():
            assert share == Fraction(int((frame[str(column)] > cut).sum()), N_ROWS)
            n_cuts += 1
        assert fold.conditions.said
    assert n_cuts
