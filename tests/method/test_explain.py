"""Explanations against a slow and obvious judge: all types, one after the other."""

from __future__ import annotations

import itertools
import json
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dnfscale.core.counts import TypeCounts
from dnfscale.core.formula import Dnf, Term, of_types
from dnfscale.core.model import Model, formula_of
from dnfscale.core.parts import Part, Unit, stored_column
from dnfscale.core.quantities import Kind, Measure, Quantity
from dnfscale.core.vocabulary import Above, Between, Equals, IsMissing, IsTrue, Vocabulary
from dnfscale.method.certificate import certify, certify_terms
from dnfscale.method.explain import (
    DELTA,
    Flip,
    explain_model,
    explain_type,
    explain_types,
    model_to_record,
    moved_columns,
    to_record,
)
from dnfscale.method.minimize.possible import (
    are_possible,
    column_states,
    n_possible,
    possible_types,
    seen_states,
)
from dnfscale.method.narrate import write, write_model
from tests.judges import by_lines
from tests.method.models import (
    learned_models,
    models,
    possible_columns,
    reachable_types,
    value_columns,
    vocabularies,
)


def accepts(dnf: Dnf, code: int) -> bool:
    """The judge: read the literals one by one."""
    return any(
        all(bool(code >> i & 1) == holds for i, holds in term.literals) for term in dnf.terms
    )


def counts_of(ell: int, rows: dict[int, tuple[int, int]]) -> TypeCounts:
    codes = sorted(rows)
    return TypeCounts(
        ell,
        np.array(codes, dtype=np.int64),
        np.array([rows[code][0] for code in codes], dtype=np.int64),
        np.array([rows[code][1] for code in codes], dtype=np.int64),
    )


def model_of(
    tau: list[object], terms: list[dict[int, bool]], rows: dict[int, tuple[int, int]] | None = None
) -> Model:
    """A model over some attributes; a term says which of them must hold, and which must not."""
    made = (
        Term(sum(1 << i for i in term), sum(1 << i for i, holds in term.items() if holds))
        for term in terms
    )
    vocabulary = Vocabulary(tuple(tau))  # type: ignore[arg-type]
    return Model("y", (True,), vocabulary, Dnf(tuple(made)), counts_of(len(tau), rows or {}))


def size(changed: int, columns: list[int]) -> tuple[int, int, list[int]]:
    """The judge: what changes are compared by, with the bits of each column."""
    attributes = [i for i in range(changed.bit_length()) if changed >> i & 1]
    return len(attributes), sum(changed & mask != 0 for mask in columns), attributes


SMOKER, AGE = IsTrue("smoker", "smoker", True), Above("age_above_median", "age", 38)
RED, BLUE = Equals("colour_red", "colour", "red"), Equals("colour_blue", "colour", "blue")
MID_MARCH = Quantity(Measure(Kind.DATE, 1), 18_336)
LATE = Above("d_above", "d", MID_MARCH)
MARCH, APRIL = (
    Equals(f"d_month_{name}", Part("d", Unit.MONTH), name) for name in ("March", "April")
)


@given(vocabularies(sets=True))
def test_the_possible_types_are_those_that_some_row_has(tau):
    columns = column_states(tau)
    judged = list(value_columns(tau).values())
    assert [column.column for column in columns] == list(value_columns(tau))
    assert [(column.mask, set(column.states)) for column in columns] == judged
    codes = np.concatenate(list(possible_types(columns)))
    everything = np.arange(1 << len(tau))
    expected = [
        t for t in everything.tolist() if all(t & mask in states for mask, states in judged)
    ]
    assert (
        sorted(codes.tolist()) == expected == everything[are_possible(everything, columns)].tolist()
    )
    assert n_possible(columns) == len(expected)


@given(models())
def test_the_possible_states_of_a_column_are_those_that_some_row_was_in(model):
    columns = seen_states(model.tau, model.counts)
    judged = possible_columns(model.tau, model.counts.codes.tolist())
    assert [(column.mask, set(column.states)) for column in columns] == judged


@given(models(), st.data())
def test_the_reason_of_a_tree_is_the_fewest_literals_that_settle_its_answer(model, data):
    ell = len(model.tau)
    code = data.draw(st.integers(0, (1 << ell) - 1))
    because = explain_type(model, code).because
    assert (because is None) == (model.tree is None)
    if because is None:
        return
    answer = accepts(model.dnf, code)
    settling = next(
        kept
        for n in range(ell + 1)
        for kept in itertools.combinations(range(ell), n)
        if all(
            accepts(model.dnf, other) == answer
            for other in range(1 << ell)
            if all((other ^ code) >> i & 1 == 0 for i in kept)
        )
    )
    assert because == tuple((i, bool(code >> i & 1)) for i in settling)


@given(models(), st.data())
def test_the_flip_is_the_smallest_change_to_a_possible_type_with_the_other_answer(model, data):
    code = data.draw(st.integers(0, (1 << len(model.tau)) - 1))
    columns = [mask for mask, _ in possible_columns(model.tau, model.counts.codes.tolist())]
    answer = accepts(model.dnf, code)
    others = [
        after for after in reachable_types(model, code) if accepts(model.dnf, after) != answer
    ]
    explanation = explain_type(model, code)
    assert explanation.accepted == answer
    if not others:
        assert explanation.flip is None
        return
    nearest = min(others, key=lambda after: size(code ^ after, columns))
    assert explanation.flip is not None
    assert explanation.flip.code == nearest
    assert [i for i, _ in explanation.flip.literals] == size(code ^ nearest, columns)[2]
    assert all(bool(nearest >> i & 1) == holds for i, holds in explanation.flip.literals)


@given(models(kinds="ncbf"), st.data())
def test_the_flip_of_a_formula_of_lines_is_the_smallest_change_that_values_allow(model, data):
    if model.tree is not None:
        model = replace(model, tree=None)
    code = data.draw(st.integers(0, (1 << len(model.tau)) - 1))
    lines = by_lines(model)
    columns = list(value_columns(model.tau).values())
    choices = [sorted(states | {code & mask}) for mask, states in columns]
    answer = accepts(model.dnf, code)
    others = [
        after
        for after in map(sum, itertools.product(*choices))
        if accepts(model.dnf, after) != answer
    ]
    explanation = explain_type(lines, code)
    assert (explanation.accepted, explanation.proven) == (answer, True)
    assert explanation.probability == pytest.approx(
        float(lines.probability(explanation.n, explanation.c, answer))
    )
    masks = [mask for mask, _ in columns]
    nearest = min(others, key=lambda after: size(code ^ after, masks), default=None)
    assert (explanation.flip and explanation.flip.code) == nearest
    record = to_record(lines, explanation)
    held = [bool(code & term.care == term.value) for term in model.dnf.terms]
    assert (record["type"], record["flip_status"]) == (held, "proven")
    alike = [t for t in model.counts.codes.tolist() if lines.type_of(t) == lines.type_of(code)]
    assert explanation.n == sum(model.rows_of(t)[0] for t in alike)


def test_a_search_for_the_smallest_change_that_takes_too_long_gives_some_change():
    # Every column has to change, and each has two states to change to.
    tau, dnf = formula_of([[(Between(f"b{i}", f"x{i}", 1, 2), True)] for i in range(30)])
    tau = Vocabulary((*tau.attributes, *(Above(f"a{i}", f"x{i}", 3) for i in range(30))))
    model = Model("y", (True,), tau, dnf, counts_of(30, {}), types="lines")
    everywhere = sum(term.value for term in dnf.terms)
    began = time.perf_counter()
    explanation = explain_type(model, everywhere)
    assert time.perf_counter() - began < 20
    assert explanation.accepted
    assert not explanation.proven
    assert explanation.flip is not None
    assert not accepts(dnf, explanation.flip.code)
    assert to_record(model, explanation)["flip_status"] == "bounded"
    assert "there may be a smaller one" in write(model, explanation)


@given(models(kinds="ncbf"))
def test_the_facts_of_a_formula_do_not_depend_on_what_its_types_are(model):
    model = replace(model, tree=None)
    facts, lines = explain_model(model), explain_model(by_lines(model))
    assert (lines.n_rows, lines.n_covered, lines.n_correct, lines.terms) == (
        facts.n_rows,
        facts.n_covered,
        facts.n_correct,
        facts.terms,
    )
    assert (lines.n_possible, lines.n_unseen) == (None, None)
    assert write_model(by_lines(model), lines)


@given(learned_models(), st.data())
def test_a_flip_leaves_every_column_with_its_parts_as_some_row_was_and_none_of_these_is_smaller(
    model, data
):
    seen = model.counts.codes.tolist()
    code = data.draw(st.sampled_from(seen))
    stored: dict[str, int] = {}
    for i, attribute in enumerate(model.tau.attributes):
        column = stored_column(attribute.column)
        stored[column] = stored.get(column, 0) | 1 << i
    had = [{t & mask for t in seen} for mask in stored.values()]
    others = [
        t
        for t in map(sum, itertools.product(*had))
        if accepts(model.dnf, t) != accepts(model.dnf, code)
    ]
    flip = explain_type(model, code).flip
    assert (flip is None) == (not others)
    if flip is not None:
        assert all(
            flip.code & mask in states for mask, states in zip(stored.values(), had, strict=True)
        )
        assert flip.code == min(others, key=lambda after: size(code ^ after, list(stored.values())))


@given(models(), st.data())
def test_terms_that_hold_and_clashes_of_the_others_are_told(model, data):
    code = data.draw(st.integers(0, (1 << len(model.tau)) - 1))
    explanation = explain_type(model, code)
    assert len(explanation.clashes) == len(model.dnf.terms)
    for index, (term, clash) in enumerate(zip(model.dnf.terms, explanation.clashes, strict=True)):
        failing = [(i, holds) for i, holds in term.literals if bool(code >> i & 1) != holds]
        assert (index in explanation.terms) == (not failing)
        assert clash == (failing[0] if failing else None)


@given(
    models(),
    st.sampled_from([Fraction(1, 2), Fraction(1, 10), Fraction(9, 10)]),
    st.sampled_from([1, 1024]),
)
def test_probability_and_counts_are_those_of_the_model(model, threshold, unit):
    model = replace(model, threshold=threshold, unit=unit)
    explained = explain_types(model, range(1 << len(model.tau)))
    given = model.table().probability.tolist()
    assert [explained[t].probability for t in sorted(explained)] == given
    counted = dict(
        zip(
            model.counts.codes.tolist(),
            zip(model.counts.n, model.counts.c, strict=True),
            strict=True,
        )
    )
    for code, explanation in explained.items():
        assert (explanation.n, explanation.c) == counted.get(code, (0, 0))
        if explanation.flip is not None:
            assert (explanation.flip.n, explanation.flip.c) == counted.get(
                explanation.flip.code, (0, 0)
            )


@given(models())
def test_the_facts_of_a_model_are_sums_over_its_types(model):
    facts = explain_model(model)
    rows = list(
        zip(
            *(a.tolist() for a in (model.counts.codes, model.counts.n, model.counts.c)), strict=True
        )
    )
    held = {code: [accepts(Dnf((term,)), code) for term in model.dnf.terms] for code, _, _ in rows}
    assert facts.n_rows == sum(n for _, n, _ in rows)
    assert facts.n_positive == sum(c for _, _, c in rows)
    assert facts.n_covered == sum(n for code, n, _ in rows if any(held[code]))
    by_line = {
        code: [any(own[place] for place in line.terms) for line, _ in facts.lines]
        for code, own in held.items()
    }
    assert facts.n_shared == sum(n for code, n, _ in rows if sum(by_line[code]) > 1)
    for index, (_, told) in enumerate(facts.lines):
        assert told.n == sum(n for code, n, _ in rows if by_line[code][index])
        assert told.c == sum(c for code, _, c in rows if by_line[code][index])
    assert facts.n_correct == sum(c if any(held[code]) else n - c for code, n, c in rows)
    assert len(facts.terms) == len(model.dnf.terms)
    for index, told in enumerate(facts.terms):
        assert told.n == sum(n for code, n, _ in rows if held[code][index])
        assert told.c == sum(c for code, _, c in rows if held[code][index])
        assert told.n_alone == sum(
            n for code, n, _ in rows if held[code][index] and sum(held[code]) == 1
        )
    possible = {
        int(t) for codes in possible_types(seen_states(model.tau, model.counts)) for t in codes
    }
    unseen = possible - set(held)
    assert (facts.n_possible, facts.n_unseen) == (len(possible), len(unseen))
    assert facts.n_unseen_accepted == sum(accepts(model.dnf, code) for code in unseen)


@given(models())
def test_intervals_are_those_of_a_certificate_of_terms_formed_on_the_same_rows(model):
    certificate = certify(model.counts, delta=DELTA, chosen_on_these_rows=True, formula=model.dnf)
    certified = certify_terms(model.dnf, certificate, delta=DELTA, formed_on_these_rows=True)
    told = explain_model(replace(model, weighted=False)).terms
    assert [(term.n, term.c, term.low, term.high) for term in told] == [
        (term.n, term.c, term.low, term.high) for term in certified
    ]


@given(models(), st.data())
def test_records_are_json_and_name_what_they_speak_of(model, data):
    code = data.draw(st.integers(0, (1 << len(model.tau)) - 1))
    explanation = explain_type(model, code)
    record = json.loads(json.dumps(to_record(model, explanation), allow_nan=False))
    assert record["type"] == [bool(code >> i & 1) for i in range(len(model.tau))]
    assert [clash["term"] for clash in record["clashes"]] == [
        i for i in range(len(model.dnf.terms)) if i not in record["terms"]
    ]
    if record["flip"] is not None:
        after = record["type"].copy()
        for change in record["flip"]["changes"]:
            after[change["attribute"]] = change["value"]
        assert after == record["flip"]["type"]
    facts = json.loads(json.dumps(model_to_record(model, explain_model(model)), allow_nan=False))
    assert len(facts["terms"]) == len(model.dnf.terms)


def test_a_colour_that_becomes_blue_is_no_longer_red():
    model = model_of([RED, BLUE], [{1: True}])
    assert explain_type(model, 0b01).flip == Flip(0b10, ((0, False), (1, True)), 0, 0)


def test_a_number_cannot_pass_the_higher_cut_alone():
    older = Above("age_above_60", "age", 60)
    model = model_of([older, AGE], [{0: True}])
    assert explain_type(model, 0b00).flip == Flip(0b11, ((0, True), (1, True)), 0, 0)
    assert explain_type(model, 0b11).flip == Flip(0b10, ((0, False),), 0, 0)


def test_a_value_that_is_missing_is_above_nothing():
    model = model_of([AGE, IsMissing("age_missing", "age")], [{1: True}])
    assert explain_type(model, 0b01).flip == Flip(0b10, ((0, False), (1, True)), 0, 0)


def test_of_true_and_false_a_value_is_one():
    both = [Equals("b_True", "b", True), Equals("b_False", "b", False)]
    assert explain_type(model_of(both, [{0: True}, {1: True}]), 0b01).flip is None
    # A row without a value is neither, and gets its answer; but nothing is changed to that.
    assert explain_type(model_of(both, [{0: True}, {1: True}]), 0b00).flip == Flip(
        0b01, ((0, True),), 0, 0
    )


def test_there_is_no_other_value_where_no_row_had_one():
    tau, rows = [RED, BLUE, SMOKER], {0b001: (9, 9), 0b010: (9, 0), 0b101: (9, 9)}
    assert explain_type(model_of(tau, [{0: True}]), 0b001).flip == Flip(0b000, ((0, False),), 0, 0)
    assert explain_type(model_of(tau, [{0: True}], rows), 0b001).flip == Flip(
        0b010, ((0, False), (1, True)), 9, 0
    )
    # That no row is blue and smokes is another matter.
    assert explain_type(model_of(tau, [{1: True, 2: True}], rows), 0b001).flip == Flip(
        0b110, ((0, False), (1, True), (2, True)), 0, 0
    )


def test_a_date_changes_together_with_its_parts():
    # Early in March, later in March, in April; each with and without SMOKER.
    rows = {
        part | smoker: (9, 0) for part in (0b0010, 0b0011, 0b0101) for smoker in (0b0000, 0b1000)
    }
    tau = [LATE, MARCH, APRIL, SMOKER]
    in_april = model_of(tau, [{2: True}], rows)
    # No row of April was before the cut.
    assert explain_type(in_april, 0b0010).flip == Flip(
        0b0101, ((0, True), (1, False), (2, True)), 9, 0
    )
    assert moved_columns(in_april, explain_type(in_april, 0b0010).flip) == ("d", MARCH.column)
    late = model_of(tau, [{0: True}], rows)
    assert explain_type(late, 0b0010).flip == Flip(0b0011, ((0, True),), 9, 0)
    # The month stays; but a later date of another month is another change.
    assert moved_columns(late, explain_type(late, 0b0010).flip) == ("d", MARCH.column)
    assert explain_type(model_of(tau, [{0: False, 2: True}], rows), 0b0010).flip is None
    facts = explain_model(in_april)
    assert (facts.n_possible, facts.n_unseen) == (6, 0)


def test_a_date_and_its_parts_are_one_column_that_changes():
    rows = dict.fromkeys((0b0100, 0b1000, 0b1011), (9, 0))
    # Another date is one column, to smoke and to be older are two.
    model = model_of([SMOKER, AGE, LATE, MARCH], [{0: True, 1: True}, {2: True}], rows)
    assert [i for i, _ in explain_type(model, 0b1000).flip.literals] == [2, 3]


def test_a_date_that_is_missing_has_no_parts():
    gone = IsMissing("d_missing", "d")
    model = model_of(
        [gone, MARCH, APRIL], [{0: True}], {0b001: (3, 3), 0b010: (9, 0), 0b100: (9, 0)}
    )
    assert explain_type(model, 0b010).flip == Flip(0b001, ((0, True), (1, False)), 3, 3)
    assert explain_type(model, 0b001).flip == Flip(0b010, ((0, False), (1, True)), 9, 0)


def test_without_rows_a_date_and_its_parts_change_by_themselves():
    assert explain_type(model_of([LATE, MARCH, APRIL], [{2: True}]), 0b010).flip == Flip(
        0b100, ((1, False), (2, True)), 0, 0
    )


def test_a_term_that_no_row_can_satisfy_is_no_way_out():
    assert explain_type(model_of([RED, BLUE], [{0: True, 1: True}]), 0b00).flip is None


def test_of_equally_many_changes_the_one_in_fewer_columns_is_smaller_then_the_better_ranked():
    # From red: to smoke and to be older are two columns, to become blue is one.
    model = model_of([SMOKER, AGE, RED, BLUE], [{0: True, 1: True}, {3: True}])
    assert [i for i, _ in explain_type(model, 0b0100).flip.literals] == [2, 3]
    assert [
        i for i, _ in explain_type(model_of([SMOKER, AGE], [{0: True}, {1: True}]), 0).flip.literals
    ] == [0]


def test_a_change_of_fewer_attributes_is_smaller_even_in_more_columns():
    cuts = [Above(f"x_{cut}", "x", cut) for cut in (1, 2, 3)]
    model = model_of([*cuts, SMOKER, AGE], [{2: True}, {3: True, 4: True}])
    assert [i for i, _ in explain_type(model, 0).flip.literals] == [3, 4]


@pytest.mark.parametrize(
    ("terms", "accepted"), [([], False), ([{}], True), ([{0: True}, {0: False}], True)]
)
def test_a_formula_that_always_says_the_same_has_no_flip(terms, accepted):
    for explanation in explain_types(model_of([SMOKER, AGE], terms), range(4)).values():
        assert (explanation.accepted, explanation.flip) == (accepted, None)


def test_a_model_without_rows_has_facts_without_shares():
    facts = explain_model(model_of([SMOKER], [{0: True}]))
    assert (
        facts.n_rows,
        facts.n_correct,
        facts.n_possible,
        facts.n_unseen,
        facts.n_unseen_accepted,
    ) == (0, 0, 2, 2, 1)
    [term] = facts.terms
    assert (term.n, term.confidence, term.low, term.high) == (0, None, 0.0, 1.0)
    assert model_to_record(model_of([SMOKER], [{0: True}]), facts)["accuracy"] is None


def test_counts_of_weights_have_no_intervals():
    model = replace(
        model_of([SMOKER], [{0: True}], {0: (1024, 0), 1: (2048, 1024)}), unit=1024, weighted=True
    )
    [term] = explain_model(model).terms
    assert (term.n, term.c, term.confidence, term.low, term.high) == (2048, 1024, 0.5, None, None)


def test_a_type_of_other_attributes_is_refused():
    with pytest.raises(ValueError, match="at least 0 and below 4"):
        explain_type(model_of([SMOKER, AGE], []), 4)


@pytest.mark.slow
def test_long_formulas_over_many_attributes_are_explained_quickly():
    random = np.random.default_rng(0)
    tau = Vocabulary(tuple(Above(f"x{i}", f"x{i}", 0) for i in range(20)))
    types = np.unique(random.integers(0, 1 << 20, 2000))
    shortened = []
    for _ in range(200):
        care = sum(1 << int(i) for i in random.choice(20, 6, replace=False))
        shortened.append(Term(care, int(random.integers(1 << 20)) & care))
    for dnf in (of_types(types, 20), Dnf(tuple(shortened))):
        model = Model("y", (True,), tau, dnf, counts_of(20, {int(t): (1, 1) for t in types}))
        began = time.perf_counter()
        explained = explain_types(model, types[:50].tolist())
        assert time.perf_counter() - began < 20
        for code, explanation in explained.items():
            assert explanation.flip is not None
            assert accepts(dnf, explanation.flip.code) != accepts(dnf, code)


@given(models(kinds="ncbf"), st.data())
def test_a_formula_of_the_other_answer_is_explained_by_the_lines_that_hold(model, data):
    lines = by_lines(replace(model, tree=None))
    other = replace(lines, answer=False)
    code = data.draw(st.integers(0, (1 << len(model.tau)) - 1))
    one, opposite = explain_type(lines, code), explain_type(other, code)
    assert one.accepted != opposite.accepted
    assert (one.terms, one.clashes, one.flip) == (opposite.terms, opposite.clashes, opposite.flip)
    assert (opposite.probability > 0.5) == opposite.accepted
    facts, opposite_facts = explain_model(lines), explain_model(other)
    assert facts.n_correct + opposite_facts.n_correct == facts.n_rows
    assert facts.terms == opposite_facts.terms
    told = write(other, opposite)
    assert told.startswith("The formula says yes" if opposite.accepted else "The formula says no")
    if lines.dnf.terms:
        assert write_model(other, opposite_facts).startswith("not y when ")
