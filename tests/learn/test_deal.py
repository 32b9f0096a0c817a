"""How rows are dealt as the table [folds] says: a row at a time, from its values alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dnfscale.core import dealing
from dnfscale.core.columns import row_numbers
from dnfscale.core.splits import TEST, TRAIN, UNUSED, VALIDATION, Splits
from dnfscale.engine.serial import SerialEngine
from dnfscale.errors import DataError, DnfscaleError, LimitError, SpecError
from dnfscale.learn.deal import deal_rows
from dnfscale.learn.line import learn
from dnfscale.learn.read import check_footers
from dnfscale.learn.table import reading_of
from dnfscale.spec.learn import LearnSpec
from tests.comparing import told
from tests.examples import in_parts

SPEC = LearnSpec(target="y", outer=3)


@dataclass(frozen=True)
class Dealt:
    """The part of every row in every fold, of each inner split."""

    splits: Splits
    parts: list[np.ndarray]

    @property
    def tested(self) -> np.ndarray:
        """Which rows each fold tests, without the fold of all rows."""
        return self.parts[0][:-1] == TEST

    @property
    def learned(self) -> np.ndarray:
        """Which rows each fold learns from, the fold of all rows last."""
        return ~np.isin(self.parts[0], (TEST, UNUSED))


def deal(table: pa.Table, spec: LearnSpec, cuts: Sequence[int] = ()) -> Dealt:
    """Deal the rows of a table whose partitions begin at some rows."""
    source = in_parts(table, cuts)
    reading = reading_of(source, check_footers(source, spec), spec)
    numbers = row_numbers([(own.ordinal, own.n_rows) for own in source.partitions])
    splits = deal_rows(source, reading, spec, SerialEngine(), row_numbers=numbers, counted=False)
    arcs, first_row = [], 0
    for partition in source.partitions:
        dealer = splits.dealer(partition.ordinal)
        for block in partition.blocks(reading):
            arcs.append(dealer(first_row, block))
            first_row += block.n_rows
    of_rows = np.concatenate(arcs)
    return Dealt(splits, [splits.inner_parts(split)[:, of_rows] for split in range(splits.inner)])


def table_of(groups: Sequence[Any], labels: Sequence[Any], **more: Any) -> pa.Table:
    n_rows = len(groups)
    return pa.table({"x": np.arange(n_rows), "g": groups, "y": labels, **more})


@st.composite
def grouped(draw: st.DrawFn, *, least: int = 4) -> tuple[pa.Table, list[int], int]:
    """A table whose rows have groups of many sizes, where to cut it, and a seed."""
    n_groups = draw(st.integers(least, 30))
    sizes = draw(st.lists(st.integers(1, 9), min_size=n_groups, max_size=n_groups))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    rows = random.permutation(np.repeat(np.arange(n_groups), sizes))
    named = draw(
        st.sampled_from(
            [lambda group: group, lambda group: group / 7, lambda group: f"patient {group}"]
        )
    )
    labels = random.random(len(rows)) < 0.4
    table = table_of([named(group) for group in rows.tolist()], labels)
    cuts = draw(st.lists(st.integers(0, len(rows)), max_size=4))
    return table, cuts, draw(st.integers(0, 2**40))


def check_apart(dealt: Dealt, groups: Sequence[Any]) -> None:
    """Check that rows of a group have one part in every fold, outer and inner."""
    for parts in dealt.parts:
        for of_fold in parts:
            kinds: dict[Any, set[int]] = {}
            for group, part in zip(groups, of_fold.tolist(), strict=True):
                kinds.setdefault(group, set()).add(part)
            assert all(len(kind) == 1 for kind in kinds.values())


@pytest.mark.parametrize("most", [5, 100])
@pytest.mark.parametrize("stratify", [False, True])
@settings(deadline=None, max_examples=40)
@given(drawn=grouped())
def test_no_group_is_in_two_parts_of_a_fold_at_any_partitioning_and_seed(
    most: int, stratify: bool, drawn: tuple[pa.Table, list[int], int]
) -> None:
    table, cuts, seed = drawn
    spec = replace(SPEC, group="g", seed=seed, validation_splits=3, stratify=stratify)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dealing, "MOST_GROUPS", most)
        patch.setattr("dnfscale.learn.deal.MOST_GROUPS", most)
        whole, cut = deal(table, spec), deal(table, spec, cuts)
    assert all(map(np.array_equal, whole.parts, cut.parts))
    assert (whole.tested.sum(axis=0) == 1).all()
    check_apart(whole, table["g"].to_pylist())


@settings(deadline=None, max_examples=40)
@given(grouped())
def test_each_fold_tests_as_many_groups_as_another_or_one_more(
    drawn: tuple[pa.Table, list[int], int],
) -> None:
    table, _, seed = drawn
    dealt = deal(table, replace(SPEC, group="g", seed=seed))
    groups = np.array(table["g"].to_pylist())
    tested = [len(set(groups[rows])) for rows in dealt.tested]
    assert max(tested) - min(tested) <= 1
    validated = [len(set(groups[rows == VALIDATION])) for rows in dealt.parts[0]]
    assert all(validated)


@settings(deadline=None, max_examples=60)
@given(st.integers(8, 400), st.integers(1, 4), st.integers(0, 2**40), st.data())
def test_stratified_folds_have_their_share_of_every_label_up_to_a_row(
    n_rows: int, n_labels: int, seed: int, data: st.DataObject
) -> None:
    random = np.random.default_rng(seed)
    labels = random.integers(0, n_labels + 1, n_rows)
    table = table_of(labels, labels)
    outer = data.draw(st.integers(2, 6))
    spec = replace(SPEC, outer=outer, classes="all", stratify=True, seed=seed)
    dealt = deal(table, spec)
    cut = deal(table, spec, data.draw(st.lists(st.integers(0, n_rows), max_size=4)))
    assert np.array_equal(dealt.parts, cut.parts)
    assert (dealt.tested.sum(axis=0) == 1).all()
    for label in set(labels.tolist()):
        rows = labels == label
        for fold in range(outer):
            assert (
                abs((dealt.tested[fold] & rows).sum() - rows.sum() / outer)
                < 1 + rows.sum() / n_rows
            )
        # W_val of the fold of all rows is an arc too.
        validated = (dealt.parts[0][-1] == VALIDATION) & rows
        assert abs(validated.sum() - 0.3 * rows.sum()) < 2


@pytest.mark.parametrize("n_rows", [4, 9, 14, 60])
@pytest.mark.parametrize("how", [{"stratify": True}, {"group": "x"}])
def test_few_rows_are_dealt_into_folds_that_nobody_asked_for(
    n_rows: int, how: dict[str, Any]
) -> None:
    for seed in range(4):
        table = table_of(range(n_rows), np.arange(n_rows) % 3 == 0)
        spec = replace(SPEC, outer=None, seed=seed, **how)
        tested = deal(table, spec).tested
        assert 2 <= len(tested) <= 10
        assert (tested.sum(axis=0) == 1).all()
        assert tested.any(axis=1).all()


def test_stratified_folds_have_about_as_many_groups_of_positives_as_others() -> None:
    random = np.random.default_rng(3)
    groups = np.repeat(np.arange(60), 10)
    labels = np.isin(groups, random.choice(60, 18, replace=False))
    table = table_of(groups, labels)

    def gaps(spec: LearnSpec) -> list[int]:
        tested = (deal(table, replace(spec, seed=seed)).tested for seed in range(20))
        positives = ([int(labels[rows].sum()) // 10 for rows in folds] for folds in tested)
        return [max(of_folds) - min(of_folds) for of_folds in positives]

    by_group = replace(SPEC, outer=6, group="g")
    assert max(gaps(replace(by_group, stratify=True))) <= 2
    assert np.mean(gaps(by_group)) > 3


def test_another_seed_deals_other_groups() -> None:
    table = table_of(np.arange(40), np.arange(40) % 2)
    seen = {deal(table, replace(SPEC, group="g", seed=seed)).tested.tobytes() for seed in range(9)}
    assert len(seen) == 9


def test_equal_groups_are_one_group_however_a_column_stores_them() -> None:
    groups = ["b", "a", "b", "c", "d", "a", "e", "f"]
    labels = [0, 1] * 4
    plain = deal(table_of(groups, labels), replace(SPEC, group="g"))
    stored = pa.array(groups).dictionary_encode()
    coded = deal(table_of(stored, labels), replace(SPEC, group="g"), [3, 5])
    assert np.array_equal(plain.parts, coded.parts)


def noise_of_groups() -> pa.Table:
    """Groups of 20 rows with features and a label of their own, which have nothing to do with each
    other.
    """
    random = np.random.default_rng(5)
    group = np.repeat(np.arange(80), 20)
    columns = {f"x{i}": random.normal(size=80)[group] for i in range(12)}
    label = random.permutation(np.arange(80) % 2)[group]
    return pa.table({**columns, "g": group, "y": label})


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"rank": ("f",)}, {"cuts": 8, "search": ("terms",)}])
def test_on_noise_that_repeats_within_groups_the_accuracy_is_that_of_chance(
    options: dict[str, Any],
) -> None:
    spec = LearnSpec(target="y", outer=8, **options)

    def accuracy(spec: LearnSpec) -> float:
        folds = learn(in_parts(noise_of_groups(), []), spec, SerialEngine()).folds
        right = sum(
            int(fold.test.c[fold.accepts(fold.test)].sum())
            + int((fold.test.n - fold.test.c)[~fold.accepts(fold.test)].sum())
            for fold in folds
        )
        return right / sum(fold.test_rows for fold in folds)

    assert accuracy(replace(spec, drop=("g",))) > 0.7
    assert abs(accuracy(replace(spec, group="g")) - 0.5) < 0.12


def test_the_column_of_groups_is_never_an_attribute() -> None:
    # It would be the best of all.
    label = np.arange(60) % 2
    table = table_of([f"{y} {i % 10}" for i, y in enumerate(label)], label)
    learned = learn(in_parts(table, [20]), replace(SPEC, group="g"), SerialEngine())
    assert learned.attribute_names == ("x_above_median",)


def test_learning_by_groups_does_not_depend_on_partitions() -> None:
    random = np.random.default_rng(8)
    label = random.random(300) < 0.4
    table = table_of(random.integers(0, 40, 300), label, z=label ^ (random.random(300) < 0.2))
    for spec in (replace(SPEC, group="g"), replace(SPEC, group="g", stratify=True)):
        whole, cut = (learn(in_parts(table, cuts), spec, SerialEngine()) for cuts in ([], [7, 199]))
        assert told(whole) == told(cut)
        sizes = [(f.train_rows, f.validation_rows, f.test_rows) for f in whole.folds]
        assert all(sum(of_fold) == 300 for of_fold in sizes)
        assert sum(test for _, _, test in sizes) == 300


def test_rows_that_are_dropped_have_no_part_in_dealing() -> None:
    random = np.random.default_rng(9)
    groups, label = np.repeat(np.arange(10), 12), np.arange(120) % 2
    # Of group 3 no row is left.
    hole = (groups == 3) | (random.random(120) < 0.1)
    z = pa.array(random.normal(size=120), mask=hole)
    table = table_of(groups, label, z=z)
    kept = table.filter(pa.array(~hole))
    spec = replace(SPEC, group="g", outer=9, stratify=True)
    assert (
        told(learn(in_parts(table, [50]), spec, SerialEngine()))[1:]
        == told(learn(in_parts(kept, []), spec, SerialEngine()))[1:]
    )


@pytest.mark.parametrize("how", [{"time": "t"}, {"group": "g"}, {"by": "s"}, {"stratify": True}])
def test_rows_of_weight_0_have_no_part_in_dealing(how: dict[str, Any]) -> None:
    random = np.random.default_rng(10)
    weight, label = random.integers(0, 3, 90), np.arange(90) % 2
    more = {"w": weight, "t": random.integers(0, 60, 90), "s": random.integers(0, 3, 90)}
    table = table_of(random.integers(0, 12, 90), label, z=random.normal(size=90), **more)
    kept = table.filter(pa.array(weight > 0))
    spec = replace(SPEC, weight="w", outer=None if "by" in how else 3, **how)
    assert (
        told(learn(in_parts(table, [50]), spec, SerialEngine()))[1:]
        == told(learn(in_parts(kept, []), spec, SerialEngine()))[1:]
    )


def test_a_table_whose_rows_all_weigh_nothing_has_no_rows_to_cut_by_time() -> None:
    table = table_of(np.arange(9), np.arange(9) % 2, w=np.zeros(9, dtype=int), t=np.arange(9))
    with pytest.raises(DataError, match=r"weigh|rows to learn from"):
        learn(in_parts(table, []), replace(SPEC, weight="w", time="t"), SerialEngine())


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(drawn=grouped(), n_sites=st.integers(2, 5), by_group=st.booleans(), stratify=st.booleans())
def test_each_site_is_tested_by_a_fold_that_learns_from_the_others(
    drawn: tuple[pa.Table, list[int], int], n_sites: int, by_group: bool, stratify: bool
) -> None:
    table, cuts, seed = drawn
    sites = np.random.default_rng(seed).integers(0, n_sites, table.num_rows)
    sites[:2] = 0, 1
    table = table.append_column("site", pa.array([f"s{site}" for site in sites]))
    group = "g" if by_group else None
    spec = LearnSpec(
        target="y", by="site", group=group, seed=seed, stratify=stratify, validation_splits=2
    )
    if not by_group:
        table = table.drop_columns(["g"])
    whole, cut = deal(table, spec), deal(table, spec, cuts)
    assert all(map(np.array_equal, whole.parts, cut.parts))
    for fold, site in enumerate(sorted(set(sites.tolist()))):
        assert (sites[whole.tested[fold]] == site).all()
        assert (sites[whole.learned[fold]] != site).all()
        if by_group:
            groups = np.array(table["g"].to_pylist())
            assert not set(groups[whole.tested[fold]]) & set(groups[whole.learned[fold]])
            check_apart_inside(whole, groups)
        else:
            assert (whole.tested[fold] | whole.learned[fold]).all()
    assert whole.learned[-1].all()


def check_apart_inside(dealt: Dealt, groups: np.ndarray) -> None:
    """Check that no group is learned from and judged on in the same inner split."""
    for parts in dealt.parts:
        for of_fold in parts:
            judged = set(groups[of_fold == VALIDATION])
            assert not judged & set(groups[of_fold == TRAIN])


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(drawn=grouped(), share=st.sampled_from([0.1, 0.25, 0.5]), by_group=st.booleans())
def test_no_fold_learns_from_rows_that_are_held_out(
    drawn: tuple[pa.Table, list[int], int], share: float, by_group: bool
) -> None:
    table, cuts, seed = drawn
    spec = LearnSpec(
        target="y", holdout=share, group="g" if by_group else None, seed=seed, validation_splits=2
    )
    whole, cut = deal(table, spec), deal(table, spec, cuts)
    assert all(map(np.array_equal, whole.parts, cut.parts))
    [tested] = whole.tested
    assert np.array_equal(whole.learned, [~tested] * 2)
    if by_group:
        check_apart(whole, table["g"].to_pylist())
    else:
        assert tested.sum() == max(1, int(share * table.num_rows))


@st.composite
def timed(draw: st.DrawFn) -> tuple[pa.Table, list[int]]:
    """A table whose rows have times, in any order and with ties, as several types."""
    n_rows = draw(st.integers(4, 150))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    ticks = random.integers(-draw(st.sampled_from([1, 3, 40, 10**6])), 40, n_rows)
    ticks[:2] = -1, 39
    kind = draw(
        st.sampled_from([pa.int16(), pa.int64(), pa.date32(), pa.float32(), pa.timestamp("us")])
    )
    if kind == pa.int16():
        ticks = np.clip(ticks, -32000, 32000)
    table = table_of(
        random.integers(0, 12, n_rows),
        random.random(n_rows) < 0.4,
        t=pa.array(ticks.tolist())
        .cast(pa.int32() if kind == pa.date32() else pa.int64())
        .cast(kind),
    )
    return table, draw(st.lists(st.integers(0, n_rows), max_size=4))


def cut_times(ticks: np.ndarray, befores: list[int]) -> list[int | None]:
    """Return the number of rows before each cut: the slow and obvious version."""
    sizes = [int((ticks < tick).sum()) for tick in sorted(set(ticks.tolist()))][1:]
    return [
        min(sizes, key=lambda size: (abs(size - before), size), default=None) for before in befores
    ]


@pytest.mark.slow
@settings(deadline=None, max_examples=80)
@given(timed(), st.sampled_from([None, 2, 5]), st.booleans(), st.sampled_from([0.3, 0.5]))
def test_no_test_row_is_earlier_than_a_training_row(
    drawn: tuple[pa.Table, list[int]], outer: int | None, by_group: bool, validation: float
) -> None:
    table, cuts = drawn
    ticks = np.array(
        table["t"]
        .cast(
            pa.float64()
            if table["t"].type == pa.float32()
            else pa.int32()
            if table["t"].type == pa.date32()
            else pa.int64()
        )
        .to_pylist()
    )
    wanted = min(outer or 10, len(ticks) - 1)
    befores = [number * len(ticks) // (wanted + 1) for number in range(1, wanted + 1)]
    expected = sorted(set(cut_times(ticks, befores)))
    spec = LearnSpec(
        target="y", time="t", outer=outer, group="g" if by_group else None, validation=validation
    )
    if outer is not None and len(expected) < outer:
        with pytest.raises(SpecError, match="leave it out to have as many as there are"):
            deal(table, spec)
        return
    whole, cut = deal(table, spec), deal(table, spec, cuts)
    [parts] = whole.parts
    assert np.array_equal(parts, cut.parts[0])
    groups = np.array(table["g"].to_pylist())
    for fold, of_fold in enumerate(parts):
        train, judged, test = (ticks[of_fold == part] for part in (TRAIN, VALIDATION, TEST))
        learned = ticks[whole.learned[fold]]
        one_time = len(set(learned.tolist())) < 2
        assert not len(test) or not len(learned) or learned.max() < test.min()
        assert one_time or not len(judged) or not len(train) or train.max() < judged.min()
        if by_group:
            of_parts = [set(groups[of_fold == part]) for part in (TRAIN, VALIDATION, TEST)]
            assert not of_parts[0] & of_parts[1]
            assert not (of_parts[0] | of_parts[1]) & of_parts[2]
        else:
            before = [*expected, len(ticks)][fold]
            assert len(learned) == before
            if not one_time:
                early = before - int(validation * before)
                inside = [cut_times(np.sort(ticks)[:before], [min(max(1, early), before - 1)])[0]]
                assert [len(train)] == inside
    if not by_group:
        assert np.array_equal(whole.tested.sum(axis=0), ticks >= np.sort(ticks)[expected[0]])
    assert whole.learned[-1].all()


def test_times_are_told_as_people_write_them() -> None:
    days = pa.array(np.arange(18_262, 18_262 + 60).astype(np.int32), pa.date32())
    table = table_of([1] * 60, [0, 1] * 30, t=days)
    dealt = deal(table, LearnSpec(target="y", time="t", outer=2, drop=("g",)))
    assert dealt.splits.stages.starts == ("2020-01-21", "2020-02-10")
    floats = table.set_column(3, "t", pa.array(np.arange(60) - 30.5))
    dealt = deal(floats, LearnSpec(target="y", time="t", outer=2, drop=("g",)))
    assert dealt.splits.stages.starts == ("-10.5", "9.5")


def test_cuts_between_the_same_two_times_are_one() -> None:
    # The quantiles 1 and 2 of 11 rows are both nearest to the cut between -1 and 2.
    ticks = [-1, 39, 18, 39, 15, 26, 39, 28, 37, 2, -1]
    table = table_of([1] * 11, [0, 1] * 5 + [0], t=pa.array(ticks, pa.int16()))
    dealt = deal(table, LearnSpec(target="y", time="t", drop=("g",)))
    assert dealt.splits.stages.starts == ("2", "15", "18", "26", "28", "37", "39")
    assert dealt.learned.sum(axis=1).tolist() == [2, 3, 4, 5, 6, 7, 8, 11]


def test_time_is_cut_nearest_to_its_quantiles_where_times_are_equal() -> None:
    ticks = [0] * 90 + [1] * 10
    table = table_of([1] * 100, [0, 1] * 50, t=ticks)
    dealt = deal(table, LearnSpec(target="y", time="t", drop=("g",)))
    [tested] = dealt.tested
    assert np.array_equal(tested, np.array(ticks) == 1)
    # All that is learned from is of one time, so W_val is dealt by row numbers.
    assert (dealt.parts[0][0] == VALIDATION).sum() > 20


BAD: dict[str, tuple[dict[str, Any], dict[str, Any], type[DnfscaleError], str]] = {
    "a group without a value": (
        {"g": [1, 2, None, 4, 5, 6]},
        {"group": "g"},
        DataError,
        "column 'g': expected a value in every row, because folds.group deals rows by it",
    ),
    "one group": (
        {"g": [1] * 6},
        {"group": "g"},
        DataError,
        "at least 2 groups to test on others than were learned from, but column 'g' has one value",
    ),
    "more folds than groups": (
        {"g": [1, 2, 3, 1, 2, 3]},
        {"group": "g", "outer": 4},
        SpecError,
        "folds.outer must be at most the number of groups, and column 'g' has 3; got 4; lower it",
    ),
    "no such column": (
        {"g": [1, 2] * 3},
        {"group": "gg"},
        SpecError,
        "folds.group must name columns of memory, got 'gg'; did you mean 'g'?",
    ),
    "the target": (
        {"g": [1, 2] * 3},
        {"group": "y"},
        SpecError,
        "a column has one role, but 'y' is folds.group and in data.target; take it out of one",
    ),
    "a category": (
        {"g": [1, 2] * 3},
        {"group": "g", "categorical": ("g",)},
        SpecError,
        "a column has one role, but 'g' is folds.group and in data.categorical",
    ),
    "a column without values": (
        {"g": pa.nulls(6)},
        {"group": "g"},
        DataError,
        "folds.group must name a column of numbers, dates, booleans or strings, but 'g' has the "
        "type null and no values",
    ),
    "one site": (
        {"g": ["north"] * 6},
        {"by": "g"},
        DataError,
        "expected at least 2 values to make folds of, but column 'g' has one",
    ),
    "a site without a value": (
        {"g": ["north", None, "east"] * 2},
        {"by": "g"},
        DataError,
        "column 'g': expected a value in every row, because folds.by deals rows by it",
    ),
    "one time": (
        {"g": [5] * 6},
        {"time": "g", "outer": None},
        DataError,
        "expected at least 2 different times to test after what was learned from, but column 'g' "
        "has one",
    ),
    "a row without a time": (
        {"g": [1.0, 2.0, float("nan")] * 2},
        {"time": "g", "outer": None},
        DataError,
        "column 'g': expected a value in every row, because folds.time deals rows by it",
    ),
    "texts as times": (
        {"g": ["monday", "tuesday"] * 3},
        {"time": "g"},
        DataError,
        "folds.time must name a column of dates, times or numbers, but 'g' has the type string",
    ),
    "too few times": (
        {"g": [1, 1, 1, 1, 2, 2]},
        {"time": "g", "outer": 3},
        SpecError,
        "can be cut into, here 1, got 3; leave it out to have as many as there are",
    ),
    "times and single rows": (
        {"g": range(6)},
        {"time": "g", "outer": "leave-one-out"},
        SpecError,
        "folds.time tests spans of time, not single rows",
    ),
    "times and labels": (
        {"g": range(6)},
        {"time": "g", "stratify": True},
        SpecError,
        "folds.time decides which rows are tested, whatever their labels",
    ),
    "times and several inner splits": (
        {"g": range(6)},
        {"time": "g", "validation_splits": 4},
        SpecError,
        "folds.time validates once, on the latest rows, but validation_splits is 4",
    ),
    "files of a table in memory": (
        {"g": range(6)},
        {"test": "2025/*.parquet", "outer": None},
        SpecError,
        "folds.test names files to test on, but a table in memory has none; give a path",
    ),
    "a column of lists": (
        {"g": [[1]] * 6},
        {"group": "g"},
        DataError,
        "but 'g' has the type list<item: int64>; choose another",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_column_that_cannot_deal_rows_is_told_with_what_to_change(name: str) -> None:
    columns, options, error, message = BAD[name]
    table = pa.table({"x": range(6), "y": [0, 1] * 3, **columns})
    given = {"outer": None if "by" in options else 2, **options}
    with pytest.raises(error, match=re.escape(message)):
        learn(in_parts(table, [2]), LearnSpec(target="y", **given), SerialEngine())


def test_more_labels_than_can_be_stratified_are_told() -> None:
    table = pa.table({"x": range(600), "y": range(600)})
    spec = replace(SPEC, stratify=True, positive=(3,))
    with pytest.raises(LimitError, match=re.escape("folds.stratify takes at most 250 labels")):
        learn(in_parts(table, [300]), spec, SerialEngine())


def test_more_sites_than_there_may_be_folds_are_told() -> None:
    table = pa.table({"x": range(6000), "s": range(6000), "y": np.arange(6000) % 2})
    message = "folds.by makes every value a fold, at most 5,000, but column 's' has at least 6,000"
    with pytest.raises(LimitError, match=re.escape(message)):
        learn(in_parts(table, [3000]), LearnSpec(target="y", by="s"), SerialEngine())


def test_leaving_one_group_out_tests_each_group_by_itself() -> None:
    groups = [3, 1, 2, 3, 1, 2, 2, 4]
    dealt = deal(table_of(groups, [0, 1] * 4), replace(SPEC, group="g", outer="leave-one-out"))
    tested = [{groups[row] for row in np.flatnonzero(rows)} for rows in dealt.tested]
    assert sorted(tested, key=min) == [{1}, {2}, {3}, {4}]
    assert all(
        (parts[rows] == TRAIN).any()
        for parts, rows in zip(dealt.parts[0], dealt.learned, strict=True)
    )
