"""The straight line, end to end: a slow and obvious version of the whole method is the judge."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_selection import SelectKBest, chi2, f_classif, mutual_info_classif

from dnfscale.core import medians
from dnfscale.core.columns import Role
from dnfscale.core.medians import Bracket
from dnfscale.core.splits import TEST, TRAIN, VALIDATION, Splits
from dnfscale.core.vocabulary import Above, Vocabulary
from dnfscale.data.frames import table_source
from dnfscale.data.read import TablePartition
from dnfscale.data.source import Source, open_source
from dnfscale.datasets.named import open_named
from dnfscale.engine.api import Progress
from dnfscale.engine.serial import SerialEngine
from dnfscale.errors import DataError, LimitError, SpecError
from dnfscale.learn.line import Learned, LearnedFold, learn
from dnfscale.method.ideal import correct_rows
from dnfscale.method.minimize.minimal import Status
from dnfscale.spec.learn import LearnSpec
from tests.comparing import as_dict, told, told_fold
from tests.examples import in_parts, mixed_table
from tests.strategies import tables

# The judge: the paper's steps, one fold, one ranking and one number of attributes at a time.

SCORES: dict[str, Callable[[Any, Any], Any]] = {
    "f": lambda x, y: f_classif(x, y)[0],
    "mutual_info": partial(mutual_info_classif, discrete_features=True),
    "chi2": lambda x, y: chi2(x, y)[0],
}


@dataclass(frozen=True)
class Judged:
    """What a fold comes to."""

    rows: tuple[int, int, int]
    counted: tuple[int, int, int]
    """The same, with every row as often as it counts."""
    corrects: list[dict[str, int]]
    rank: str
    tau: list[str]
    cuts: dict[str, float | None]
    whole: dict[int, tuple[int, int]]
    accepted: set[int]
    test_correct: int


def judge(
    table: pa.Table, spec: LearnSpec, roles: dict[str, str], positive: Sequence[Any], outer: int
) -> list[Judged]:
    """Carry out the method on the rows of a table that count, each as often as it does."""
    rows = {
        name: [None if v is None or v != v else v for v in table[name].to_pylist()]
        for name in table.column_names
    }
    wanted = [spec.target, *(roles if spec.missing == "drop" else [])]
    often = rows[spec.weight] if spec.weight else [1] * table.num_rows
    whole = [
        row for row in range(table.num_rows) if all(rows[name][row] is not None for name in wanted)
    ]
    dealt = [row for row in whole if often[row]]
    splits = Splits(len(dealt), outer, spec.validation, spec.seed)
    places = [place for place, row in enumerate(dealt) for _ in range(often[row])]
    kept = [dealt[place] for place in places]
    target = np.array([rows[spec.target][row] in positive for row in kept])
    columns = {
        name: _Column(table[name], rows[name], kept, role, spec) for name, role in roles.items()
    }
    parts = splits.parts[:, splits.arcs(0, len(dealt))]
    return [
        replace(_judge_fold(columns, target, part[places], spec), rows=_sizes(part))
        for part in parts[: splits.n_folds]
    ]


def _sizes(part: np.ndarray) -> tuple[int, int, int]:
    train, validation, test = (int((part == kind).sum()) for kind in (TRAIN, VALIDATION, TEST))
    return train, validation, test


class _Column:
    """The kept values of one column, able to become Boolean attributes."""

    def __init__(
        self, data: pa.ChunkedArray, values: list[Any], kept: list[int], role: str, spec: LearnSpec
    ) -> None:
        self.role = role
        self.has_missing = spec.missing == "indicator" and None in values
        self.values = [values[row] for row in kept]
        self.present = np.array([value is not None for value in self.values], dtype=bool)
        if role == "number":
            dtype = data.type.to_pandas_dtype()
            self.numbers = np.array(
                [0 if value is None else value for value in self.values], dtype=dtype
            )

    def cut(self, rows: np.ndarray) -> Any:
        chosen = self.numbers[rows & self.present]
        return np.median(chosen) if len(chosen) else None

    def attributes(self, name: str, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return the attributes of all rows, with the numbers cut at the median of some."""
        found = {}
        occurring = sorted({value for value in self.values if value is not None})
        if self.role == "number":
            cut = self.cut(rows)
            above = np.zeros(len(self.values), bool) if cut is None else self.numbers > cut
            found[f"{name}_above_median"] = above & self.present
        elif self.role == "boolean":
            larger = occurring[-1] if len(occurring) == 2 or any(occurring) else None
            found[name] = np.array([value is not None and value == larger for value in self.values])
        else:
            for value in occurring:
                found[f"{name}_{value}"] = np.array([v == value for v in self.values])
        if self.has_missing:
            found[f"{name}_missing"] = ~self.present
        return found


def _booleans(columns: dict[str, _Column], rows: np.ndarray) -> pd.DataFrame:
    found: dict[str, np.ndarray] = {}
    for name, column in columns.items():
        attributes = column.attributes(name, rows)
        assert not set(found) & set(attributes)
        found |= attributes
    return pd.DataFrame(found)


def _judge_fold(
    columns: dict[str, _Column], target: np.ndarray, part: np.ndarray, spec: LearnSpec
) -> Judged:
    train, validation, test = (part == kind for kind in (TRAIN, VALIDATION, TEST))
    booleans = _booleans(columns, train)
    orders = {rank: _best(rank, booleans[train], target[train], spec.max_ell) for rank in spec.rank}
    corrects = []
    for ell in range(1, min(spec.max_ell, booleans.shape[1]) + 1):
        codes = {rank: _types(booleans, order[:ell]) for rank, order in orders.items()}
        corrects.append(
            {
                rank: int(
                    (
                        np.isin(t[validation], list(_ideal(_count(t[train], target[train]))))
                        == target[validation]
                    ).sum()
                )
                for rank, t in codes.items()
            }
        )
    best = max(max(correct.values()) for correct in corrects)
    allowed = Fraction(str(spec.tolerance)) * int(validation.sum())
    ell = next(
        i for i, correct in enumerate(corrects, start=1) if best - max(correct.values()) <= allowed
    )
    rank = next(
        rank for rank in spec.rank if corrects[ell - 1][rank] == max(corrects[ell - 1].values())
    )
    tau = orders[rank][:ell]
    codes = _types(_booleans(columns, ~test), tau)
    whole = _count(codes[~test], target[~test])
    accepted = _ideal(whole)
    return Judged(
        rows=_sizes(part),
        counted=_sizes(part),
        corrects=corrects,
        rank=rank,
        tau=tau,
        cuts={f"{n}_above_median": c.cut(~test) for n, c in columns.items() if c.role == "number"},
        whole=whole,
        accepted=accepted,
        test_correct=_correct(codes, accepted, target, test),
    )


def _best(rank: str, booleans: pd.DataFrame, target: np.ndarray, max_ell: int) -> list[str]:
    """Return the best attributes in rank order: SelectKBest's sets for k = 1, 2, ... grow by one
    each time.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        scores = SCORES[rank](booleans.to_numpy().astype(np.float64), target)
    names = booleans.columns.to_list()
    order: list[str] = []
    for k in range(1, min(max_ell, len(names)) + 1):
        chosen = SelectKBest(lambda _x, _y: scores, k=k).fit(np.zeros((2, len(names))), [0, 1])
        [new] = {names[i] for i in chosen.get_support(indices=True)} - set(order)
        order.append(new)
    return order


def _types(booleans: pd.DataFrame, tau: list[str]) -> np.ndarray:
    return booleans[tau].to_numpy().astype(np.int64) @ (1 << np.arange(len(tau)))


def _count(codes: np.ndarray, target: np.ndarray) -> dict[int, tuple[int, int]]:
    return {
        int(t): (int((codes == t).sum()), int(target[codes == t].sum())) for t in np.unique(codes)
    }


def _ideal(counts: dict[int, tuple[int, int]]) -> set[int]:
    return {t for t, (n, c) in counts.items() if 2 * c >= n}


def _correct(codes: np.ndarray, accepted: set[int], target: np.ndarray, rows: np.ndarray) -> int:
    """Return how many of some rows a classifier gets right that accepts these types."""
    return int((np.isin(codes[rows], list(accepted)) == target[rows]).sum())


# What is compared.


def assert_as_judged(fold: LearnedFold, judged: Judged) -> None:
    assert (fold.train_rows, fold.validation_rows, fold.test_rows) == judged.rows
    assert [dict(step.correct_by_rank) for step in fold.sweep.steps] == judged.corrects
    assert (fold.rank, list(fold.tau.names)) == (judged.rank, judged.tau)
    found = {a.name: a.value for a in fold.tau.attributes if isinstance(a, Above)}
    assert found == {name: cut for name, cut in judged.cuts.items() if name in judged.tau}
    assert as_dict(fold.whole) == judged.whole
    types = np.array([t for t in range(1 << len(fold.tau)) if can_exist(t, fold.tau)])
    assert set(types[fold.dnf.accepts(types)].tolist()) == judged.accepted
    assert fold.test.n_rows == judged.counted[2]
    assert correct_rows(fold.dnf.accepts(fold.test.codes), fold.test) == judged.test_correct


def can_exist(code: int, tau: Vocabulary) -> bool:
    """Return whether a row can have a type: with one cut a column, no two attributes of a column
    hold together.
    """
    holding = [attribute.column for i, attribute in enumerate(tau.attributes) if code >> i & 1]
    return len(holding) == len(set(holding))


def assert_learned_as_judged(learned: Learned, judged: list[Judged]) -> None:
    assert len(learned.folds) == len(judged) - 1
    for fold, of_judge in zip((*learned.folds, learned.model), judged, strict=True):
        assert_as_judged(fold, of_judge)


def learn_here(source: Source, spec: LearnSpec) -> Learned:
    return learn(source, spec, SerialEngine())


def natural_roles(table: pa.Table) -> dict[str, str]:
    """Return the role that each column of a table of ours has by its type."""

    def role(kind: pa.DataType) -> str:
        if pa.types.is_boolean(kind):
            return "boolean"
        return "category" if pa.types.is_string(kind) or pa.types.is_dictionary(kind) else "number"

    return {field.name: role(field.type) for field in table.schema if field.name != "y"}


@pytest.mark.slow
@pytest.mark.portable
@given(
    tables(max_rows=25),
    st.sampled_from([0, 2, 3]),
    st.sampled_from(["drop", "indicator"]),
    st.integers(0, 99),
)
@settings(max_examples=25)
def test_small_tables_are_learned_as_the_judge_learns_them(table, outer, missing, seed):
    spec = LearnSpec(
        "y",
        positive=(True,),
        missing=missing,
        max_dropped=1,
        max_ell=4,
        outer=outer,
        seed=seed,
    )
    source = table_source(table, "memory")
    learned = learn_here(
        source, replace(spec, outer=min(outer, learn_here(source, replace(spec, outer=0)).rows))
    )
    judged = judge(table, spec, natural_roles(table), (True,), len(learned.folds))
    assert_learned_as_judged(learned, judged)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "n_rows", "missing", "mode"),
    [
        (0, 400, 0.0, "drop"),
        (1, 401, 0.03, "drop"),
        (2, 300, 0.1, "indicator"),
        (3, 57, 0.02, "drop"),
    ],
)
def test_mixed_tables_are_learned_as_the_judge_learns_them(seed, n_rows, missing, mode):
    table = mixed_table(seed, n_rows, missing)
    spec = LearnSpec("y", missing=mode, max_dropped=1, max_ell=6, outer=4, seed=seed)
    learned = learn_here(table_source(table, "memory"), spec)
    assert_learned_as_judged(learned, judge(table, spec, natural_roles(table), (True,), 4))
    assert learned.positive == (True,)
    assert learned.rows + learned.rows_dropped == n_rows


@pytest.mark.slow
@pytest.mark.parametrize(
    "choice",
    [
        {"tolerance": 0.0},
        {"tolerance": 0.05},
        {"validation": 0.5},
        {"validation": 0.01},
        {"rank": ("chi2",)},
        {"rank": ("chi2", "mutual_info", "f")},
        {"max_ell": 1},
        {"max_ell": 12},
    ],
    ids=str,
)
def test_every_choice_of_the_method_is_obeyed_as_the_judge_obeys_it(choice):
    table = mixed_table(5, 240)
    spec = LearnSpec("y", outer=2, **{"max_ell": 5, **choice})
    judged = judge(table, spec, natural_roles(table), (True,), 2)
    assert_learned_as_judged(learn_here(table_source(table, "memory"), spec), judged)


def test_roles_that_the_spec_gives_are_obeyed_as_the_judge_obeys_them():
    table = (
        mixed_table(6, 240)
        .append_column("two", pa.array([5, 9] * 120))
        .append_column("id", pa.array(range(240)))
    )
    spec = LearnSpec(
        "y", categorical=("ties",), boolean=("two",), drop=("id", "noise"), outer=2, max_ell=5
    )
    roles = {**natural_roles(table), "ties": "category", "two": "boolean"}
    roles = {name: role for name, role in roles.items() if name not in spec.drop}
    learned = learn_here(table_source(table, "memory"), spec)
    assert_learned_as_judged(learned, judge(table, spec, roles, (True,), 2))
    assert [column.name for column in learned.columns] == list(roles)
    assert {column.name for column in learned.columns if column.role is Role.FLAG} == {
        "flag",
        "two",
    }


@pytest.mark.parametrize("name", ["breast_cancer", "heart_disease", "german_credit"])
@pytest.mark.usefixtures("paper_data")
def test_the_papers_datasets_are_learned_as_the_judge_learns_them(name):
    source, record = open_named(f"paper:{name}")
    spec = LearnSpec(
        record.target,
        positive=record.positive,
        drop=record.drop,
        categorical=record.categorical,
        boolean=record.boolean,
    )
    learned = learn_here(source, spec)
    roles = {column.name: column.role.value for column in learned.columns}
    assert len(learned.folds) == 10
    assert_learned_as_judged(
        learned, judge(pq.read_table(source.path), spec, roles, record.positive, 10)
    )


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "missing", "heaviest"), [(0, 0.0, 3), (1, 0.05, 9), (2, 0.02, 1)])
def test_a_row_of_weight_three_counts_as_three_in_whatever_part_it_is(seed, missing, heaviest):
    weights = np.random.default_rng(seed).integers(0, heaviest + 1, 260)
    table = mixed_table(seed, 260, missing).append_column("weight", pa.array(weights))
    spec = LearnSpec("y", weight="weight", max_dropped=1, max_ell=5, outer=3, seed=seed)
    roles = {name: role for name, role in natural_roles(table).items() if name != "weight"}
    learned = learn_here(table_source(table, "memory"), spec)
    assert_learned_as_judged(learned, judge(table, spec, roles, (True,), 3))
    assert learned.table.summary.weightless == int((weights == 0).sum())


# What makes no difference.


@pytest.mark.slow
@given(
    st.integers(0, 3),
    st.lists(st.integers(1, 119), max_size=9),
    st.sampled_from(["drop", "indicator"]),
)
@settings(max_examples=15)
def test_what_is_learned_does_not_depend_on_partitions(seed, cuts, missing):
    table = mixed_table(seed, 120, missing=0.05)
    spec = LearnSpec("y", missing=missing, max_dropped=1, outer=3, max_ell=5)
    assert told(learn_here(in_parts(table, cuts), spec)) == told(
        learn_here(table_source(table, "memory"), spec)
    )


def seven_files(table: pa.Table, folder: Path) -> Source:
    """Write a table as seven files of odd row groups, and return it as seven partitions."""
    bounds = [0, 1, 60, 61, 150, 151, 290, table.num_rows]
    files = [folder / f"part-{number}.parquet" for number in range(7)]
    for number, file in enumerate(files):
        part = table.slice(bounds[number], bounds[number + 1] - bounds[number])
        pq.write_table(part, file, row_group_size=[3, 7, 64, 1000, 1, 13, 50][number])
    partitions = [open_source(str(file)).partitions for file in files]
    whole = open_source(str(folder))
    return replace(
        whole, partitions=tuple(replace(part, ordinal=i) for i, (part,) in enumerate(partitions))
    )


@pytest.mark.parametrize("missing", ["drop", "indicator"])
def test_what_is_learned_from_one_file_and_from_seven_is_the_same(tmp_path, missing):
    table = mixed_table(8, 400, missing=0.04)
    spec = LearnSpec("y", missing=missing, max_dropped=1, outer=5, max_ell=6)
    one = tmp_path / "one.parquet"
    pq.write_table(table, one)
    (tmp_path / "seven").mkdir()
    parts = seven_files(table, tmp_path / "seven")
    expected = told(learn_here(table_source(table, "memory"), spec))
    assert told(learn_here(open_source(str(one)), spec)) == expected
    assert told(learn_here(open_source(str(tmp_path / "seven")), spec)) == expected
    assert told(learn_here(parts, spec)) == expected


@pytest.mark.portable
def test_what_is_learned_on_a_cluster_is_the_same(tmp_path, cluster):
    table = mixed_table(9, 400, missing=0.04)
    spec = LearnSpec("y", max_dropped=1, outer=4, max_ell=6)
    expected = told(learn_here(table_source(table, "memory"), spec))
    assert told(learn(seven_files(table, tmp_path), spec, cluster)) == expected


def test_the_model_of_all_rows_is_the_same_in_a_fit_and_in_a_study():
    table = mixed_table(10, 150)
    fit = learn_here(table_source(table, "memory"), LearnSpec("y", outer=0))
    study = learn_here(table_source(table, "memory"), LearnSpec("y", outer=5))
    assert fit.folds == ()
    assert told_fold(fit.model)[1:] == told_fold(study.model)[1:]
    assert fit.model.test_rows == 0


def test_another_seed_deals_the_rows_otherwise():
    table = mixed_table(11, 150)
    first, second = (
        learn_here(table_source(table, "m"), LearnSpec("y", outer=5, seed=seed)) for seed in (0, 1)
    )
    assert told(first) != told(second)
    assert told(first) == told(
        learn_here(table_source(table, "m"), LearnSpec("y", outer=5, seed=0))
    )


def test_a_bracket_that_misses_costs_another_scan_and_changes_nothing(monkeypatch):
    table = mixed_table(12, 200, missing=0.05)
    spec = LearnSpec("y", max_dropped=1, outer=3, max_ell=5)
    expected = told(learn_here(table_source(table, "memory"), spec))
    bracket = medians.bracket

    def narrow(
        sample: Any, *, n_rows: int, widening: int, spread: float, share: Fraction
    ) -> Bracket:
        # The first bracket of the floats is one value, the largest; that of the others is as it
        # should be.
        if widening == 0 and sample.dtype.kind == "f":
            return Bracket(sample.max(), sample.max())
        return bracket(sample, n_rows=n_rows, widening=widening, spread=spread, share=share)

    monkeypatch.setattr(medians, "bracket", narrow)
    heard: list[Progress] = []
    found = learn(in_parts(table, [50, 51, 170]), spec, SerialEngine(heard.append))
    assert told(found) == expected
    assert heard.count(Progress("locate medians", 0, 4)) == 2


# Formulas.


@pytest.mark.parametrize(
    ("minimize", "status"),
    [("exact", Status.PROVEN), ("sympy", Status.SIMPLIFIED), ("none", Status.AS_IS)],
)
def test_a_formula_says_the_same_however_it_is_written(minimize, status):
    table = mixed_table(13, 200)
    spec = LearnSpec("y", outer=2, max_ell=4, tolerance=0.0, minimize=minimize)
    learned = learn_here(table_source(table, "memory"), spec)
    assert_learned_as_judged(learned, judge(table, spec, natural_roles(table), (True,), 2))
    assert {fold.minimized.status for fold in learned.folds} == {status}


def test_types_that_never_occur_may_be_answered_as_it_suits_if_the_spec_says_so():
    table = mixed_table(14, 80)
    spec = LearnSpec("y", outer=3, max_ell=7, tolerance=0.0, validation=0.5)
    negative = learn_here(table_source(table, "memory"), spec)
    free = learn_here(table_source(table, "memory"), replace(spec, unseen="dont_care"))
    for one, other in zip(negative.folds, free.folds, strict=True):
        assert as_dict(one.whole) == as_dict(other.whole)
        seen = one.whole.codes
        assert one.dnf.accepts(seen).tolist() == other.dnf.accepts(seen).tolist()
        assert other.dnf.n_literals <= one.dnf.n_literals
        unseen = [t for t in range(1 << len(one.tau)) if t not in seen and can_exist(t, one.tau)]
        assert not one.dnf.accepts(np.array(unseen, dtype=np.int64)).any()


# Edges.


def simple(n_rows: int, **columns: Any) -> Source:
    labels = ["no" if row % 3 else "yes" for row in range(n_rows)]
    return table_source(pa.table({"x": list(range(n_rows)), **columns, "y": labels}), "memory")


@pytest.mark.parametrize(("n_rows", "n_folds"), [(2, 2), (40, 40), (99, 99), (100, 10), (101, 10)])
def test_below_a_hundred_rows_each_row_is_left_out_once_by_default(n_rows, n_folds):
    learned = learn_here(simple(n_rows), LearnSpec("y", max_ell=2))
    assert len(learned.folds) == n_folds
    assert sum(fold.test_rows for fold in learned.folds) == n_rows
    if n_folds == n_rows:
        assert {fold.test_rows for fold in learned.folds} == {1}


@pytest.mark.slow
def test_leave_one_out_is_learned_as_the_judge_learns_it():
    table = mixed_table(15, 15)
    spec = LearnSpec("y", max_ell=3, outer="leave-one-out")
    learned = learn_here(table_source(table, "memory"), spec)
    assert_learned_as_judged(learned, judge(table, spec, natural_roles(table), (True,), 15))


def test_a_constant_column_alone_gives_a_constant_formula():
    for labels, accepted in ((["a", "a", "b"] * 10, False), (["a", "b", "b"] * 10, True)):
        table = pa.table({"x": [5] * 30, "y": labels})
        learned = learn_here(table_source(table, "memory"), LearnSpec("y", outer=0))
        assert learned.model.tau.names == ("x_above_median",)
        assert learned.model.dnf.accepts(np.array([0])).tolist() == [accepted]


def test_the_larger_of_two_labels_is_positive_unless_the_spec_says_otherwise():
    assert learn_here(simple(10), LearnSpec("y", outer=0)).positive == ("yes",)
    other = learn_here(simple(10), LearnSpec("y", positive=("no",), outer=0))
    assert (other.positive, other.positive_rows, other.rows) == (("no",), 6, 10)


def test_several_labels_may_be_positive():
    source = table_source(pa.table({"x": range(9), "y": [1, 2, 3] * 3}), "memory")
    learned = learn_here(source, LearnSpec("y", positive=(3, 1), outer=0))
    assert (learned.positive, learned.positive_rows) == ((1, 3), 6)


def test_missing_values_are_an_error_where_the_spec_says_so():
    source = simple(
        6, z=[1.0, None, 3.0, float("nan"), 5.0, 6.0], c=["a", None, "b", "a", "b", "a"]
    )
    message = (
        r"expected no missing values, but 2 of 6 rows have some, in 'z' \(2\), 'c' \(1\); "
        r"fill them, or set"
    )
    with pytest.raises(DataError, match=message) as caught:
        learn_here(source, LearnSpec("y", missing="error", outer=0))
    assert caught.value.key == "data.missing"
    assert learn_here(source, LearnSpec("y", max_dropped=0.4, outer=0)).rows_dropped == 2
    assert learn_here(simple(6), LearnSpec("y", missing="error", outer=0)).rows_dropped == 0


def test_missing_values_become_attributes_where_the_spec_says_so():
    source = simple(6, z=[1.0, None, 3.0, 4.0, 5.0, 6.0], c=["a", None, "b", "a", "b", "a"])
    learned = learn_here(source, LearnSpec("y", missing="indicator", outer=0))
    assert learned.rows_dropped == 0
    assert learned.attribute_names == (
        "x_above_median",
        "z_above_median",
        "z_missing",
        "c_a",
        "c_b",
        "c_missing",
    )


def test_a_partition_whose_rows_are_all_dropped_makes_no_difference():
    table = mixed_table(16, 90)
    holed = pa.concat_tables(
        [table.slice(0, 40), with_nulls(table.slice(40, 20), "x"), table.slice(60)]
    )
    spec = LearnSpec("y", max_dropped=1, outer=3, max_ell=4)
    rest = pa.concat_tables([table.slice(0, 40), table.slice(60)])
    found, expected = (
        learn_here(in_parts(holed, [40, 60]), spec),
        learn_here(table_source(rest, "memory"), spec),
    )
    assert (found.rows, found.rows_dropped) == (70, 20)
    assert told(found)[1:] == told(expected)[1:]


def with_nulls(table: pa.Table, name: str) -> pa.Table:
    place = table.column_names.index(name)
    return table.set_column(
        place, table.schema.field(name), pa.nulls(table.num_rows, table.schema.field(name).type)
    )


REFUSED: dict[str, tuple[Source, LearnSpec, type[Exception], str, str]] = {
    "one row": (
        simple(1),
        LearnSpec("y"),
        DataError,
        "expected at least 2 rows to cross-validate, got 1",
        "folds.outer",
    ),
    "one class": (
        table_source(pa.table({"x": [1, 2, 3], "y": ["a"] * 3}), "memory"),
        LearnSpec("y"),
        DataError,
        "expected two classes to tell apart, but the target 'y' has only the value 'a'",
        "data.target",
    ),
    "no rows": (
        table_source(
            pa.table({"x": pa.array([], pa.int64()), "y": pa.array([], pa.string())}), "memory"
        ),
        LearnSpec("y"),
        DataError,
        "memory: expected rows to learn from, but the dataset has none",
        "data.path",
    ),
    "three labels and no positive": (
        table_source(pa.table({"x": [1, 2, 3], "y": ["a", "b", "c"]}), "memory"),
        LearnSpec("y"),
        SpecError,
        "data.positive must say which labels are the positive class, .* 3 values: 'a', 'b', 'c'",
        "data.target",
    ),
    "a positive that never occurs": (
        simple(9),
        LearnSpec("y", positive=("yes", "maybe")),
        SpecError,
        (
            "data.positive must list values of the target 'y', which are 'no', 'yes'; got "
            "'maybe', which never occurs"
        ),
        "data.positive",
    ),
    "a positive of another kind": (
        table_source(pa.table({"x": [1, 2, 3], "y": [True, False, True]}), "memory"),
        LearnSpec("y", positive=(1,)),
        SpecError,
        "got 1, which never occurs",
        "data.positive",
    ),
    "all labels positive": (
        simple(9),
        LearnSpec("y", positive=("yes", "no")),
        SpecError,
        "data.positive must leave some label for the negative class",
        "data.positive",
    ),
    "a boolean of three values": (
        simple(9, three=[1, 2, 3] * 3),
        LearnSpec("y", boolean=("three",)),
        SpecError,
        "data.boolean must name columns of two values, but 'three' has 3: 1, 2, 3",
        "data.boolean",
    ),
    "an unknown target": (
        simple(9),
        LearnSpec("z"),
        SpecError,
        "data.target must name columns of memory, got 'z'; it has 'x', 'y'",
        "data.target",
    ),
    "an unknown column with a label": (
        simple(9),
        LearnSpec("y", labels={"z": {"title": "Z"}}),
        SpecError,
        "labels must name columns of memory, got 'z'",
        "labels",
    ),
    "an unknown column to drop": (
        simple(9),
        LearnSpec("y", drop=("z",)),
        SpecError,
        "data.drop must name",
        "data.drop",
    ),
    "two roles": (
        simple(9, c=[1, 2, 3] * 3),
        LearnSpec("y", categorical=("c",), boolean=("c",)),
        SpecError,
        "a column has one role, but 'c' is in data.categorical and in data.boolean",
        "data.boolean",
    ),
    "no feature": (
        simple(9),
        LearnSpec("y", drop=("x",)),
        SpecError,
        "expected at least one feature",
        "data.drop",
    ),
    "more folds than rows": (
        simple(9),
        LearnSpec("y", outer=10),
        SpecError,
        "folds.outer must be at most the number of rows, 9, got 10",
        "folds.outer",
    ),
    "too many categories": (
        simple(9, c=[str(i) for i in range(9)]),
        LearnSpec("y", max_categories=8),
        LimitError,
        "column 'c': at most 8 different values",
        "data.max_categories",
    ),
    "an empty column": (
        simple(9, c=pa.nulls(9)),
        LearnSpec("y"),
        DataError,
        "expected rows without missing values, but 'c' has no value at all; add it to data.drop",
        "data.missing",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_learned_from_is_refused_with_its_key(case):
    source, spec, error, message, key = REFUSED[case]
    with pytest.raises(error, match=message) as caught:
        learn_here(source, spec)
    assert caught.value.key == key


# Data that changes meanwhile.


class MeddlingEngine(SerialEngine):
    """Lets somebody rewrite the data just before a phase."""

    def __init__(self, phase: str, meddle: Callable[[], object]) -> None:
        super().__init__(self._heard)
        self._phase = phase
        self._meddle = meddle

    def _heard(self, progress: Progress) -> None:
        if progress.phase == self._phase and progress.done == 0:
            self._meddle()


@pytest.mark.parametrize(
    ("phase", "missing"), [("summarize columns", 0.05), ("read rows", 0.05), ("read rows", 0.0)]
)
def test_a_file_that_is_rewritten_during_a_job_is_an_error(tmp_path, phase, missing):
    file = tmp_path / "rows.parquet"
    pq.write_table(mixed_table(17, 100, missing=missing), file)
    engine = MeddlingEngine(phase, lambda: pq.write_table(mixed_table(18, 90), file))
    with pytest.raises(
        DataError, match=r"rows\.parquet: expected the file that the job began with"
    ):
        learn(open_source(str(file)), LearnSpec("y", max_dropped=1, outer=2), engine)


def test_rows_that_change_between_scans_unnoticed_by_the_file_are_an_error():
    rows = {"x": list(range(10)), "c": ["a", "b", None, "a", "b"] * 2, "y": ["n", "p"] * 5}
    table = pa.table(rows)
    partition = Swapped(0, table)
    engine = MeddlingEngine(
        "read rows", lambda: partition.swap(pa.table({**rows, "c": ["a", None] * 5}))
    )
    with pytest.raises(
        DataError, match="expected 8 rows in partition 0 as in the first scan, got 5"
    ):
        learn(
            replace(table_source(table, "memory"), partitions=(partition,)),
            LearnSpec("y", outer=0),
            engine,
        )


def test_more_rows_than_in_the_first_scan_are_an_error(in_time):
    # With six rows and this seed, the keyed permutation never sends the number 7 into 0..5.
    rows = {"x": list(range(8)), "c": ["a", None, None, *"babab"], "y": ["n", "p"] * 4}
    table = pa.table(rows)
    partition = Swapped(0, table)
    engine = MeddlingEngine(
        "read rows", lambda: partition.swap(pa.table({**rows, "c": list("abababab")}))
    )
    source = replace(table_source(table, "memory"), partitions=(partition,))
    message = "expected 6 rows in partition 0 as in the first scan"
    with in_time(5), pytest.raises(DataError, match=message):
        learn(source, LearnSpec("y", max_dropped=1, outer=0, seed=0), engine)


class Swapped:
    """Rows in memory that can be exchanged for others."""

    def __init__(self, ordinal: int, table: pa.Table) -> None:
        self.ordinal = ordinal
        self.swap(table)

    def swap(self, table: pa.Table) -> None:
        self._rows = TablePartition(self.ordinal, table)
        self.n_rows = table.num_rows
        self.blocks = self._rows.blocks


@pytest.mark.portable
@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_a_label_is_met_in_the_precision_of_its_column(kind):
    y = pa.array(np.array([0.1, 0.7] * 30, dtype=kind.to_pandas_dtype()), kind)
    table = pa.table({"x": pa.array(range(60)), "y": y})
    learned = learn(
        table_source(table, "memory"),
        LearnSpec("y", positive=(0.1,), outer=2, max_ell=1),
        SerialEngine(),
    )
    assert learned.positive == (y[0].as_py(),)
    assert learned.positive_rows == 30


def test_a_column_that_is_missing_only_in_rows_without_a_target_gets_no_attribute_for_it():
    random = np.random.default_rng(3)
    n_rows = 60
    x, s = random.normal(size=n_rows).tolist(), random.choice(["a", "b"], n_rows).tolist()
    y: list[str | None] = ["p" if value > 0 else "n" for value in x]
    table = {
        "x": [None, *x],
        "s": [None, *s],
        "b": [None, *([True, False] * (n_rows // 2))],
        "y": [None, *y],
    }
    learned = learn_here(
        table_source(pa.table(table), "t"), LearnSpec("y", missing="indicator", outer=0)
    )
    assert not [name for name in learned.attribute_names if name.endswith("_missing")]
    table["x"][7] = None
    learned = learn_here(
        table_source(pa.table(table), "t"), LearnSpec("y", missing="indicator", outer=0)
    )
    assert [name for name in learned.attribute_names if name.endswith("_missing")] == ["x_missing"]
