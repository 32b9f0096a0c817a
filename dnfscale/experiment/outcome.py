"""What a result.json says, as values with types: the one place that knows its keys.

Tables and reports read results of studies and fits, with and without baselines, and of versions that record less. A
key that is not there is None or empty here; what a method records beyond the known keys is kept as it came.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dnfscale.errors import DataError
from dnfscale.experiment.paper import PaperDataset, paper_dataset

IDEAL = "ideal"
METHOD_TITLES: Mapping[str, str] = {
    IDEAL: "Formula",
    "random_forest": "Random forest",
    "xgboost": "XGBoost",
    "formula_size": "Formula size",
    "one_rule": "One rule",
    "majority": "Majority",
}
"""Known methods, in the order in which they are shown."""
RANK_TITLES: Mapping[str, str] = {"f": "F-test", "mutual_info": "mutual information", "chi2": "χ² test"}
_SCHEMA = "dnfscale.result/"


@dataclass(frozen=True, slots=True)
class Step:
    """One ell of a sweep: the validation accuracy of each ranking, None where there was no row to validate on."""

    ell: int
    by_rank: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Support:
    """How many rows satisfy a term, and how many of them are positive."""

    n: int
    c: int


@dataclass(frozen=True, slots=True)
class LearnedFormula:
    """A formula and how it came to be chosen."""

    text: str
    ell: int
    rank: str | None
    attributes: tuple[str, ...]
    terms: int
    literals: int
    status: str | None
    """How short it is known to be: proven, bounded, heuristic, as_is."""
    gap_literals: int | None
    sweep: tuple[Step, ...]
    supports: tuple[Support, ...]
    """Of each term on the rows it was learned from; empty where they are not recorded."""


@dataclass(frozen=True, slots=True)
class Fold:
    """What a method did in one fold."""

    number: int
    accuracy: float | None
    test_rows: int | None
    formula: LearnedFormula | None
    facts: Mapping[str, Any]
    """Whatever else is recorded, such as the parameters that were tuned."""


@dataclass(frozen=True, slots=True)
class Method:
    """What a method did in a study; its accuracies are None in a fit."""

    name: str
    accuracy_mean: float | None
    accuracy_std: float | None
    ell_mean: float | None
    folds: tuple[Fold, ...]
    model: LearnedFormula | None
    """The formula of all rows."""
    training_accuracy: float | None

    @property
    def title(self) -> str:
        return method_title(self.name)

    @property
    def failed_folds(self) -> int:
        """Folds in which the method failed; they do not count in its mean."""
        return sum(fold.accuracy is None for fold in self.folds)


@dataclass(frozen=True, slots=True)
class Paired:
    """The mean difference of two methods' accuracies over the same folds, and the interval it is known to."""

    method: str
    other: str
    difference_mean: float
    low: float
    high: float
    level: float
    folds: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result.json."""

    name: str
    kind: str
    seed: int | None
    rows: int
    rows_dropped: int
    columns: int
    attributes: int
    positive_rows: int
    methods: tuple[Method, ...]
    """In the order in which they are shown."""
    comparisons: tuple[Paired, ...]
    seconds: Mapping[str, float]
    """Of each method, for all folds."""
    timing: Mapping[str, Any]
    environment: Mapping[str, Any]

    @property
    def ideal(self) -> Method | None:
        return self.method(IDEAL)

    @property
    def paper(self) -> PaperDataset | None:
        """What the paper says of this dataset, if it is one of its twelve."""
        dataset = self.environment.get("dataset")
        return paper_dataset(dataset) if isinstance(dataset, str) else None

    @property
    def n_folds(self) -> int:
        return max((len(method.folds) for method in self.methods), default=0)

    @property
    def leaves_one_out(self) -> bool:
        """Whether each fold tests one row: then the deviation over folds says nothing."""
        sizes = {fold.test_rows for method in self.methods for fold in method.folds} - {None}
        return sizes == {1}

    @property
    def majority_share(self) -> float | None:
        """How often the more frequent answer is right."""
        return max(self.positive_rows, self.rows - self.positive_rows) / self.rows if self.rows else None

    def method(self, name: str) -> Method | None:
        return next((method for method in self.methods if method.name == name), None)

    def deviation(self, method: Method) -> float | None:
        """Return the deviation over folds where it says something."""
        return None if self.leaves_one_out else method.accuracy_std


def read_outcome(result: Mapping[str, Any]) -> Outcome:
    """Read a parsed result.json."""
    schema = result.get("schema")
    if not isinstance(schema, str) or not schema.startswith(_SCHEMA):
        raise DataError(f"expected the result.json of a study or a fit, schema {_SCHEMA}1, got schema {schema!r}")
    data = result.get("data", {})
    methods = {name: _method(name, record) for name, record in result.get("methods", {}).items()}
    timing = result.get("timing", {})
    return Outcome(
        name=str(result.get("name", "")),
        kind=str(result.get("kind", "study")),
        seed=result.get("seed"),
        rows=data.get("rows", 0),
        rows_dropped=data.get("rows_dropped", 0),
        columns=data.get("columns", 0),
        attributes=data.get("attributes", 0),
        positive_rows=data.get("positive_rows", 0),
        methods=tuple(methods[name] for name in method_order(methods)),
        comparisons=_comparisons(result.get("comparisons") or ()),
        seconds=_seconds(timing, methods),
        timing=timing,
        environment=result.get("environment", {}),
    )


def labels(outcomes: Sequence[Outcome]) -> list[str]:
    """Return what to call each run: the paper's name of its dataset where one run only has it, else its own name."""
    titles = [outcome.paper.title if outcome.paper else None for outcome in outcomes]
    return [
        title if title is not None and titles.count(title) == 1 else outcome.name
        for outcome, title in zip(outcomes, titles, strict=True)
    ]


def method_title(name: str) -> str:
    """Return what to call a method."""
    return METHOD_TITLES.get(name, name.replace("_", " "))


def method_order(names: Iterable[str]) -> list[str]:
    """Return methods in the order in which they are shown: the known ones first, trivial ones last."""
    known = list(METHOD_TITLES)
    trivial = known.index("one_rule")
    return sorted(names, key=lambda name: (known.index(name), "") if name in known else (trivial - 0.5, name))


def _method(name: str, record: Mapping[str, Any]) -> Method:
    model = record.get("model")
    return Method(
        name=name,
        accuracy_mean=record.get("accuracy_mean"),
        accuracy_std=record.get("accuracy_std"),
        ell_mean=record.get("ell_mean"),
        folds=tuple(_fold(number, fold) for number, fold in enumerate(record.get("folds") or ())),
        model=_formula(model) if model else None,
        training_accuracy=model.get("training_accuracy") if model else None,
    )


def _comparisons(records: Sequence[Mapping[str, Any]]) -> tuple[Paired, ...]:
    order = method_order({record["other"] for record in records})
    found = [Paired(**{key: record[key] for key in Paired.__dataclass_fields__}) for record in records]
    return tuple(sorted(found, key=lambda paired: order.index(paired.other)))


_FORMULA_KEYS = ("formula", "ell", "rank", "attributes", "terms", "literals", "minimized", "sweep", "term_counts")
_FOLD_KEYS = ("fold", "accuracy", *_FORMULA_KEYS)


def _fold(number: int, record: Mapping[str, Any]) -> Fold:
    is_dnf = "formula" in record and "terms" in record
    return Fold(
        number=record.get("fold", number),
        accuracy=record.get("accuracy"),
        test_rows=record.get("test_rows"),
        formula=_formula(record) if is_dnf else None,
        facts={key: value for key, value in record.items() if key not in (_FOLD_KEYS if is_dnf else _FOLD_KEYS[:2])},
    )


def _formula(record: Mapping[str, Any]) -> LearnedFormula:
    minimized = record.get("minimized") or {}
    return LearnedFormula(
        text=str(record.get("formula", "")),
        ell=record.get("ell", 0),
        rank=record.get("rank"),
        attributes=tuple(record.get("attributes") or ()),
        terms=record.get("terms", 0),
        literals=record.get("literals", 0),
        status=minimized.get("status"),
        gap_literals=minimized.get("gap_literals"),
        sweep=tuple(
            Step(step["ell"], dict(step.get("by_rank") or {str(step.get("rank")): step.get("validation_accuracy")}))
            for step in record.get("sweep") or ()
        ),
        supports=tuple(Support(count["n"], count["c"]) for count in record.get("term_counts") or ()),
    )


def _seconds(timing: Mapping[str, Any], methods: Mapping[str, Method]) -> dict[str, float]:
    given = timing.get("methods_s")
    if given:
        return {name: float(given[name]) for name in method_order(given) if given[name] is not None}
    learn_s = timing.get("learn_s")
    return {IDEAL: float(learn_s)} if learn_s is not None and set(methods) == {IDEAL} else {}
