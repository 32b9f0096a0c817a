"""What to learn, and how: every choice of the method with its key, and the profiles that make
choices for a user.

What wins, in this order: what the user wrote, the record of a named dataset, the profile, the
default. Two keys conflict only where the user wrote both; otherwise the one that the user did not
write gives way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from dnfscale.core.about import About, Label
from dnfscale.core.arrays import Scalar
from dnfscale.core.model import HALF, MISSING, MOST_ELL, MOST_LINES, UNSEEN
from dnfscale.core.parts import Unit
from dnfscale.errors import SpecError
from dnfscale.spec import checks
from dnfscale.spec.keys import Key, key, keys_of
from dnfscale.spec.registry import RANKINGS
from dnfscale.spec.storage import file_path

PROFILES = ("paper", "best")
""""paper" follows the paper to the letter, "best" is what we recommend."""
DEFAULT_PROFILE = "best"
Parts = tuple[str | tuple[str, tuple[str, ...]], ...]
"""What to tell of dates and times: each a part of all columns that have it, or a column and its
parts.
"""


def _best(value: Any) -> Mapping[str, Any]:
    """Return the value that the profile "best" gives to a key."""
    return {"best": value}


@dataclass(frozen=True, slots=True)
class LearnSpec:
    """What to learn: the columns and their roles, and the method's choices."""

    target: str = key(
        checks.column,
        "",
        "the column to predict",
        table="data",
        example="readmitted",
        parameter=False,
    )
    positive: tuple[Scalar, ...] | None = key(
        checks.labels,
        None,
        (
            'default: true, or the larger of two values; "distill" needs it unless the target '
            "is Boolean"
        ),
        table="data",
        example=["yes"],
        parameter=False,
    )
    classes: str = key(
        checks.one_of("two", "all"),
        "two",
        '"all": one formula per label; then leave out positive',
        table="data",
        parameter=False,
    )
    """"two": positive labels against the others; "all": every label against the others, a formula
    for each; "auto", in Python alone: the former for two labels, the latter for more."""
    others: tuple[tuple[Scalar, ...], ...] = ()
    """Other readings of the target, each given by the labels that count as true; the chosen types
    are counted for them too, on the test part."""
    weight: str | None = key(
        checks.column,
        None,
        "column with the weight of each row; by default every row counts once",
        table="data",
        example="persons",
        parameter=False,
    )
    drop: tuple[str, ...] = key(checks.texts, (), "columns to ignore", table="data")
    protected: tuple[str, ...] = key(
        checks.texts,
        (),
        "columns that no formula may use; report.slices has them",
        table="data",
        example=["sex"],
        parameter=False,
    )
    categorical: tuple[str, ...] = key(
        checks.texts,
        (),
        "columns to treat as categories, besides strings and dictionaries: one attribute per value",
        table="data",
    )
    boolean: tuple[str, ...] = key(
        checks.texts,
        (),
        "two-valued columns, besides bool columns: the larger value is true",
        table="data",
    )
    missing: str = key(
        checks.one_of(*MISSING),
        "drop",
        '"drop" the row, "error", or "indicator": "is missing" becomes an attribute',
        table="data",
        profiles=_best("indicator"),
    )
    max_dropped: float = key(
        checks.between(0, 1),
        0.2,
        "a larger share of the rows dropped for missing values ends the job with exit code 3",
        table="data",
    )
    max_categories: int = key(
        checks.whole(1, 60_000),
        10_000,
        "a column with more distinct values is an error",
        table="data",
    )
    cuts: str | int = key(
        checks.cuts("median", "auto", "entropy"),
        "median",
        'where numbers are cut: or a number of quantiles, "auto", "entropy"',
        table="booleanize",
        profiles=_best("auto"),
    )
    """"auto": as many quantiles as the rows are good for; "entropy": those of many quantiles that
    tell about the target."""
    at: tuple[tuple[str, tuple[int | float | str, ...]], ...] = key(
        checks.given_cuts,
        (),
        "fixed cuts for some columns",
        table="booleanize",
        example={"age": [18, 65]},
        # `at` is a method of the estimators.
        parameter="cut_at",
    )
    """Given cuts of some columns; those of dates and times are written as texts."""
    intervals: bool = key(
        checks.yes_no,
        False,
        'also try "between two cuts" as one attribute; a ranking that finds them must be listed',
        table="booleanize",
        profiles=_best(True),
    )
    parts: Parts = key(
        checks.parts_of_times(tuple(map(str, Unit))),
        (),
        'from dates and times: "weekday", "hour", "month"; or per column: {admitted = ["weekday"]}',
        table="booleanize",
        profiles=_best(tuple(map(str, Unit))),
    )
    rare: int = key(
        checks.whole(0),
        0,
        "categories with fewer training rows than this get no attribute of their own",
        table="booleanize",
    )
    rank: tuple[str, ...] = key(
        checks.some_registered(RANKINGS, "rankings"),
        ("f", "mutual_info", "chi2"),
        lambda: (
            f"how attributes are ranked: one by one by {_ranked(False)}, together by "
            f"{_ranked(True)}"
        ),
        table="select",
        profiles=_best(("forward", "exchange", "additive", "mutual_info")),
    )
    search: tuple[str, ...] = key(
        checks.some_of("attributes", "terms"),
        ("attributes",),
        '"attributes": the best ones, whose types are answered; "terms": lines over all columns',
        table="select",
        profiles=_best(("attributes", "terms")),
    )
    max_ell: int = key(
        checks.whole(1, MOST_ELL), 10, "most attributes that a formula may use", table="select"
    )
    validation: float = key(
        checks.between(0.01, 0.9),
        0.3,
        "share of the training rows that chooses the ranking and ell",
        table="select",
    )
    validation_splits: int | str = key(
        checks.whole_or("auto", 1, 100),
        1,
        'average that choice over this many inner splits; or "auto": the more rows, the fewer',
        table="select",
        profiles=_best("auto"),
    )
    tolerance: float = key(
        checks.between(0, 1),
        0.01,
        "validation accuracy that a smaller ell may give up",
        table="select",
        profiles=_best(0.005),
    )
    rule: str = key(
        checks.one_of("tolerance", "standard_error"),
        "tolerance",
        '"standard_error": give up at most the tolerance and one standard error of the loss',
        table="select",
        profiles=_best("standard_error"),
    )
    """How close to the best validation accuracy is close enough: see method/sweep.py."""
    drop_duplicates: bool = key(
        checks.yes_no,
        False,
        "leave out attributes that equal or negate another one",
        table="select",
        profiles=_best(True),
    )
    objective: str = key(
        checks.one_of("accuracy", "balanced_accuracy", "f_beta"),
        "accuracy",
        'or "balanced_accuracy", "f_beta"',
        table="formula",
    )
    beta: Fraction = key(
        checks.fraction_above_0,
        Fraction(1),
        'for "f_beta": how many times as much recall counts as precision',
        table="formula",
    )
    threshold: Fraction = key(
        checks.proper_fraction,
        HALF,
        "accept a type from this share of positives on; 0.2: a miss costs four false alarms",
        table="formula",
    )
    shrink: str = key(
        checks.one_of("none", "support", "parent", "linear"),
        "none",
        'what types with few training rows are pulled towards: "support", "parent", "linear"',
        table="formula",
        profiles=_best("linear"),
    )
    """The rule for types of few rows: see method/shrink.py."""
    shrink_rows: tuple[float, ...] = key(
        checks.some_above_0,
        (8.0,),
        "prior strength in pseudo-rows; from a list, validation picks",
        table="formula",
        profiles=_best((2.0, 8.0, 32.0)),
    )
    freedom: float = key(
        checks.between(0, 1),
        0.0,
        "share of the rows that a shorter formula may additionally get wrong, in expectation",
        table="formula",
        profiles=_best(0.005),
    )
    max_literals: int | str = key(
        checks.whole_or("none", 1, 1_000),
        "none",
        'the most conditions of a formula, or "none": as many as it takes',
        table="formula",
        profiles=_best(40),
    )
    max_terms: int | None = key(
        checks.none_or(checks.whole(1, MOST_LINES)),
        None,
        "the most lines of a formula",
        table="formula",
        example=12,
    )
    forms: tuple[str, ...] = key(
        checks.some_of("lines", "checklist"),
        ("lines",),
        'what a formula may be: "lines" of which one must hold, a "checklist" of conditions',
        table="formula",
        profiles=_best(("lines", "checklist")),
    )
    unseen: str = key(
        checks.one_of(*UNSEEN),
        "negative",
        (
            'types without training rows: answered no; "dont_care": as is shortest; "follow": '
            "as shrink says"
        ),
        table="formula",
        profiles=_best("follow"),
    )
    minimize: str = key(
        checks.one_of("exact", "sympy", "none"),
        "exact",
        '"exact", "sympy" (as in the paper), "none"',
        table="formula",
    )
    min_rows: int = key(
        checks.whole(1),
        5,
        "fewest rows with a value for model files to list it among those of its column",
        table="privacy",
        parameter=False,
    )
    columns: bool = key(
        checks.yes_no,
        True,
        "model files say what the columns of the formula held: ends, values, share missing",
        table="privacy",
        parameter=False,
    )
    title: str | None = key(
        checks.none_or(checks.words),
        None,
        "what the page and the model card call it",
        table="",
        example="Readmission within 30 days",
        parameter=False,
    )
    description: str | None = key(
        checks.none_or(checks.words),
        None,
        "what it is for, and for whom",
        table="",
        example="For nurses who plan a discharge.",
        parameter=False,
    )
    labels: Mapping[str, Any] | None = key(
        checks.none_or(checks.column_labels),
        None,
        "[labels.COLUMN]: title, unit, values (names of values), note, for all who read",
        table="",
        example={"age": {"title": "Age", "unit": "years"}},
        parameter=False,
    )
    unit: int = 1
    """What one row counts; more than 1 if fractional weights were scaled to whole numbers."""
    outer: int | str | None = key(
        checks.whole_or("leave-one-out", 2),
        None,
        'default: 10, or "leave-one-out" below 100 rows',
        table="folds",
        example=10,
        parameter=False,
    )
    """Test folds: a number, 0 for none, "leave-one-out", or None: ten, or leave-one-out below a
    hundred rows.
    """
    group: str | None = key(
        checks.column,
        None,
        "column whose rows of equal value stay together, in the same part of every fold",
        table="folds",
        example="patient",
        parameter=False,
    )
    time: str | None = key(
        checks.column,
        None,
        "column of times: train before, test after, in expanding windows; validate on the latest",
        table="folds",
        example="admitted",
        parameter=False,
    )
    by: str | None = key(
        checks.column,
        None,
        "column each value of which is a fold, such as the site: tested on it, learned elsewhere",
        table="folds",
        example="site",
        parameter=False,
    )
    test: str | None = key(
        checks.none_or(file_path),
        None,
        "file, directory, glob or URL: tested on these files alone, learned from the others",
        table="folds",
        example="2025/*.parquet",
        parameter=False,
    )
    holdout: float | None = key(
        checks.between(0.01, 0.9),
        None,
        "one test part of this share of the rows, from which no formula is learned",
        table="folds",
        example=0.2,
        parameter=False,
    )
    stratify: bool = key(
        checks.yes_no,
        False,
        "give every fold the same share of each label, up to a row",
        table="folds",
        parameter=False,
    )
    frontier: bool = key(
        checks.yes_no,
        True,
        "also test the formulas of every other length, or ell; false: only those chosen",
        table="folds",
        parameter=False,
    )
    slices: tuple[str, ...] = key(
        checks.texts,
        (),
        "columns: all metrics on test rows for each of their values, and the gaps between these",
        table="report",
        example=["sex", "age_group"],
        parameter=False,
    )
    check: bool = key(
        checks.yes_no,
        False,
        "look at all columns as `dnfscale check` does, for the page: one more scan",
        table="report",
        parameter=False,
    )
    seed: int = key(checks.whole(0), 0, "deals the rows into folds", table="", parameter=False)

    def __post_init__(self) -> None:
        for name, known in parameters().items():
            object.__setattr__(self, name, known.checked(getattr(self, name), name))
        for conflict in CONFLICTS:
            if conflict.holds(self):
                raise conflict.error(self)

    @property
    def looks_together(self) -> bool:
        """Whether ranking has to compare attributes with each other, not only each with the
        target.
        """
        return self.drop_duplicates or any(RANKINGS[name].together for name in self.rank)

    def about(self, columns: Sequence[str]) -> About:
        """Return what people call the model and these of its columns."""
        given = self.labels or {}
        labels = {column: Label(**given[column]) for column in columns if column in given}
        return About(self.title or "", self.description or "", labels)

    @property
    def dealt_by(self) -> dict[str, str]:
        """The columns by which rows are dealt into folds, by the key that names each."""
        named = {"folds.group": self.group, "folds.time": self.time, "folds.by": self.by}
        return {path: name for path, name in named.items() if name is not None}

    @property
    def sliced(self) -> tuple[str, ...]:
        """The columns for whose values metrics are given."""
        return tuple(dict.fromkeys((*self.slices, *self.protected)))

    @property
    def dealing(self) -> tuple[object, ...]:
        """All that says how rows are dealt into folds, besides their numbers."""
        return self.group, self.time, self.by, self.test, self.holdout, self.stratify

    @property
    def tests_once(self) -> bool:
        """Whether there is one test part, which nothing is learned from."""
        return self.test is not None or self.holdout is not None

    @property
    def by_length(self) -> bool:
        """Whether formulas are chosen by their length, not by their number of attributes."""
        return (
            "terms" in self.search
            or "checklist" in self.forms
            or self.max_literals != "none"
            or self.max_terms is not None
        )

    @property
    def most_literals(self) -> int | None:
        """The budget as a number; None if there is none."""
        return None if isinstance(self.max_literals, str) else self.max_literals

    @property
    def cuts_by_train(self) -> bool:
        """Whether W_train has cuts of its own, as in the paper.

        Otherwise it has those of W_0, which do not depend on labels either.
        """
        return self.cuts == "median" and self.validation_splits == 1


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two keys that cannot both hold: an error where the user wrote both.

    Otherwise the first of `gives_way` that the user did not write takes the value given there;
    where there is none, what the user wrote cannot be had, which is an error too.
    """

    key: str
    """The key that the error is about."""
    holds: Callable[[Any], bool]
    """Whether they conflict, by the names of LearnSpec."""
    message: Callable[[Any], str]
    gives_way: Mapping[str, Any]

    def error(self, spec: Any) -> SpecError:
        return SpecError(self.message(spec), self.key)


def tested_by(spec: Any) -> list[str]:
    """Return the keys given that say which rows are tested, by the names of LearnSpec."""
    names = ("time", "by", "test", "holdout")
    return [f"folds.{name}" for name in names if getattr(spec, name) is not None]


CONFLICTS = (
    Conflict(
        "booleanize.intervals",
        lambda spec: spec.intervals and not any(RANKINGS[name].intervals for name in spec.rank),
        lambda spec: (
            f"intervals are looked for by the ranking {_finders()} alone, but rank lists "
            f"{checks.listed(spec.rank)}; add it to select.rank, or leave out booleanize.intervals"
        ),
        {"intervals": False},
    ),
    Conflict(
        "formula.unseen",
        lambda spec: spec.unseen == "follow" and spec.shrink == "none",
        lambda _spec: (
            'unseen = "follow" goes by the rule for types of few rows, but shrink is '
            '"none"; set formula.shrink, '
            "or formula.unseen to another"
        ),
        {"unseen": "negative"},
    ),
    Conflict(
        "formula.threshold",
        lambda spec: spec.objective != "accuracy" and spec.threshold != HALF,
        lambda spec: (
            "threshold is for the objective accuracy, but objective is "
            f"{spec.objective!r}; leave out one of them"
        ),
        {"threshold": HALF, "objective": "accuracy"},
    ),
    Conflict(
        "formula.max_literals",
        lambda spec: spec.minimize == "sympy" and spec.max_literals != "none",
        lambda _spec: (
            'minimize = "sympy" writes a formula as long as it comes out, so that no budget can be '
            "kept; leave out formula.max_literals, or formula.minimize"
        ),
        {"max_literals": "none", "minimize": "exact"},
    ),
    Conflict(
        "formula.max_terms",
        lambda spec: spec.minimize == "sympy" and spec.max_terms is not None,
        lambda _spec: (
            'minimize = "sympy" writes a formula as long as it comes out, so that no budget can be '
            "kept; leave out formula.max_terms, or formula.minimize"
        ),
        {"max_terms": None, "minimize": "exact"},
    ),
    Conflict(
        "select.search",
        lambda spec: spec.minimize == "sympy" and "terms" in spec.search,
        lambda _spec: (
            'minimize = "sympy" writes the answers to types of attributes, which a search of lines '
            'does not have; set select.search = ["attributes"], or leave out formula.minimize'
        ),
        {"search": ("attributes",), "minimize": "exact"},
    ),
    Conflict(
        "formula.forms",
        lambda spec: spec.minimize == "sympy" and "checklist" in spec.forms,
        lambda _spec: (
            'minimize = "sympy" writes lines, which a checklist has none of; set formula.forms = '
            '["lines"], or leave out formula.minimize'
        ),
        {"forms": ("lines",), "minimize": "exact"},
    ),
    Conflict(
        "formula.max_terms",
        lambda spec: (
            spec.max_terms is not None
            and spec.max_literals != "none"
            and spec.max_terms > spec.max_literals
        ),
        lambda spec: (
            "a line has at least one condition, but max_terms allows "
            f"{spec.max_terms} lines and max_literals {spec.max_literals} conditions; lower "
            "formula.max_terms, or raise formula.max_literals"
        ),
        {"max_literals": "none", "max_terms": None},
    ),
    Conflict(
        "data.classes",
        lambda spec: spec.classes == "all" and spec.positive is not None,
        lambda spec: (
            'classes = "all" learns a formula for every label, but positive lists '
            f"{checks.listed(spec.positive)}; "
            "leave out one of the two"
        ),
        {"positive": None, "classes": "two"},
    ),
    Conflict(
        "folds",
        lambda spec: len(tested_by(spec)) > 1,
        lambda spec: (
            f"rows are tested in one way, but {' and '.join(tested_by(spec))} are given; "
            "leave out all but one"
        ),
        {},
    ),
    Conflict(
        "folds.outer",
        lambda spec: bool(tested_by(spec)) and spec.time is None and spec.outer not in (None, 0),
        lambda spec: (
            f"{tested_by(spec)[0]} says what the folds are, but folds.outer is "
            f"{spec.outer!r}; leave out one"
        ),
        {},
    ),
    Conflict(
        "folds.outer",
        lambda spec: spec.time is not None and spec.outer == "leave-one-out",
        lambda _spec: (
            "folds.time tests spans of time, not single rows; give folds.outer as a number, or "
            "leave it out"
        ),
        {},
    ),
    Conflict(
        "folds.stratify",
        lambda spec: spec.time is not None and spec.stratify,
        lambda _spec: (
            "folds.time decides which rows are tested, whatever their labels; leave out "
            "folds.stratify"
        ),
        {},
    ),
    Conflict(
        "select.validation_splits",
        lambda spec: spec.time is not None and spec.validation_splits not in (1, "auto"),
        lambda spec: (
            "folds.time validates once, on the latest rows, but validation_splits is "
            f"{spec.validation_splits}; leave out select.validation_splits"
        ),
        {"validation_splits": 1},
    ),
)
"""The pairs of keys that conflict, and what gives way."""


@cache
def learn_keys() -> Mapping[str, Key]:
    """Return the keys of LearnSpec by their names in Python."""
    return {known.name: known for known in keys_of(LearnSpec).values()}


@cache
def parameters() -> Mapping[str, Key]:
    """Return the keys that are parameters of the estimators too."""
    return {name: known for name, known in learn_keys().items() if known.parameter}


def profile_values(profile: str) -> dict[str, Any]:
    """Return what a profile sets, by the names of LearnSpec."""
    return {
        name: known.profiles[profile]
        for name, known in learn_keys().items()
        if profile in known.profiles
    }


@dataclass(slots=True)
class _Choices:
    """Choices that are not settled yet, by the names of LearnSpec."""

    values: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None


def settled(
    written: Mapping[str, Any], *, profile: str, record: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return every choice by the names of LearnSpec, given what the user wrote and what a dataset's
    record says.

    All values have been checked.
    """
    record = dict(record or {})
    if "target" in written and written["target"] != record.get("target"):
        # The record's labels are those of its own target.
        record.pop("positive", None)
    defaults = {name: known.default for name, known in learn_keys().items()}
    choices = _Choices({**defaults, **profile_values(profile), **record, **written})
    for conflict in CONFLICTS:
        if not conflict.holds(choices):
            continue
        yielding = [name for name in conflict.gives_way if name not in written]
        if not yielding:
            raise conflict.error(choices)
        choices.values[yielding[0]] = conflict.gives_way[yielding[0]]
    return choices.values


def _ranked(together: bool) -> str:
    return ", ".join(
        f'"{name}"' for name, ranking in RANKINGS.items() if ranking.together is together
    )


def _finders() -> str:
    return " or ".join(repr(name) for name, ranking in RANKINGS.items() if ranking.intervals)
