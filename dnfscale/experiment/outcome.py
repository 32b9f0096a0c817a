"""The contents of a result.json as typed values: the one place that knows its keys.

Tables and reports read results of studies, fits and distillations, of two labels and of several, with and without
baselines, and of versions that record less. A missing key is None or empty here; what a method records beyond the known
keys is kept unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dnfscale.errors import DataError
from dnfscale.experiment.confusion import Confusion, summed_confusion
from dnfscale.experiment.paper import PaperDataset, paper_dataset

IDEAL = "ideal"
FORMULA_SIZE = "formula_size"
BLACK_BOX = "black_box"
"""The classifier that a formula was made to explain."""
METHOD_TITLES: Mapping[str, str] = {
    IDEAL: "Formula",
    BLACK_BOX: "Classifier explained",
    "random_forest": "Random forest",
    "xgboost": "XGBoost",
    FORMULA_SIZE: "Formula size",
    "ebm": "Boosting machine",
    "decision_tree": "Decision tree",
    "ripper": "RIPPER",
    "one_rule": "One rule",
    "majority": "Majority",
}
"""Known methods, in the order in which they are shown."""
_SCHEMA = "dnfscale.result/"
_MOST_ELL = 64
"""The most attributes that a result may claim, more than any formula has; charts have a tick for each."""


@dataclass(frozen=True, slots=True)
class Step:
    """One ell of a sweep: the validation accuracy of each ranking, None if there was no row to validate on."""

    ell: int
    by_rank: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Support:
    """How many rows satisfy a term, and how many of them are positive; or the weights of these rows."""

    n: int | float
    c: int | float
    weighted: bool = False
    """Whether these are weights."""


@dataclass(frozen=True, slots=True)
class Certified:
    """What the certificate of a formula says, on the rows it was made from; earlier versions record less."""

    rows: int
    delta: float
    epsilon: float | None
    chosen_on_the_same_rows: bool
    """Whether these rows were used to choose the attributes: then nothing is promised."""
    types: int | None
    types_seen: int | None
    types_certified: int | None
    types_refuted: int | None
    certified_share: float | None
    certified_mass: float | None
    """A lower bound for the share of the population whose answer is certified."""
    excess_error: float | None
    """An upper bound for how much more often the formula errs than the best one over the same attributes; in errors of
    average cost, if they do not all cost the same."""
    threshold: float = 0.5
    """The chance of a positive from which the formula is to say yes."""

    @property
    def counts_cost(self) -> bool:
        """Whether errors do not all cost the same."""
        return self.threshold != 0.5

    @property
    def most_excess(self) -> float:
        """The largest possible excess error: a bound this large says nothing."""
        return 2 * max(self.threshold, 1 - self.threshold)


@dataclass(frozen=True, slots=True)
class LearnedFormula:
    """A formula and how it was chosen."""

    text: str
    ell: int
    rank: str | None
    attributes: tuple[str, ...]
    terms: int
    literals: int
    status: str | None
    """What is known about its length: proven, bounded, heuristic, simplified, as_is."""
    gap_literals: int | None
    sweep: tuple[Step, ...]
    supports: tuple[Support, ...]
    """The support of each term on the rows learned from; empty if it is not recorded."""
    label: str | None = None
    """The label that it tells from the others; None for the formula of two."""
    certificate: Certified | None = None
    """The certificate of a fold's formula, from the fold's test rows."""


@dataclass(frozen=True, slots=True)
class SizeStep:
    """One size of a search: the errors of its best formula, and that formula's validation accuracy."""

    size: int
    errors: int | float
    validation_accuracy: float | None
    proved: bool


@dataclass(frozen=True, slots=True)
class SizedFormula:
    """A formula of bounded size, and how its size came to be chosen."""

    text: str
    size: int
    """Its own."""
    chosen: int
    """The bound that did best on validation rows."""
    attributes: tuple[str, ...]
    proved: bool
    """Whether no formula of this size over the attributes searched has fewer errors."""
    searched: int | None
    """The number of attributes that were searched."""
    exact: bool
    """Whether these are all attributes."""
    path: tuple[SizeStep, ...]
    label: str | None = None
    """The label that it tells from the others; None for the formula of two."""


@dataclass(frozen=True, slots=True)
class Fold:
    """What a method did in one fold."""

    number: int
    accuracy: float | None
    fidelity: float | None
    """The share of test rows on which the formula answers as the classifier that it explains."""
    test_rows: int | None
    formulas: tuple[LearnedFormula, ...]
    """One, or one for each of several labels; none if the method has no formulas."""
    sized: tuple[SizedFormula, ...]
    """What the formula-size method found: one, or one for each of several labels."""
    confusion: Sequence[Sequence[int | float]] | None
    facts: Mapping[str, Any]
    """Whatever else is recorded, such as the parameters that were tuned."""


@dataclass(frozen=True, slots=True)
class Objective:
    """What formulas were learned for, if not for accuracy, and how good they are at it on test rows."""

    name: str
    """balanced_accuracy, f_beta or cost."""
    beta: float | None
    threshold: float | None
    mean: float | None
    std: float | None
    constant_mean: float | None
    """How good the better constant answer is at it."""

    @property
    def title(self) -> str:
        """What it is called."""
        return "expected cost" if self.name == "cost" else self.words

    @property
    def words(self) -> str:
        """The objective in words that can follow its mean as a percentage."""
        if self.name == "cost" and self.threshold is not None:
            miss, alarm = 1 - self.threshold, self.threshold
            times = f"{max(miss, alarm) / min(miss, alarm):.3g}"
            costly, cheap = ("miss", "false alarms") if miss > alarm else ("false alarm", "misses")
            return f"of the cost avoided, where a {costly} costs as much as {times} {cheap}"
        return {"f_beta": f"F-score with beta {self.beta or 1:g}"}.get(self.name, self.name.replace("_", " "))


@dataclass(frozen=True, slots=True)
class Grown:
    """The formulas of one number of attributes: their mean accuracy on test rows, and their mean length."""

    ell: int
    accuracy: float
    literals: float


@dataclass(frozen=True, slots=True)
class Method:
    """What a method did in a study; its accuracies are None in a fit."""

    name: str
    accuracy_mean: float | None
    accuracy_std: float | None
    fidelity_mean: float | None
    fidelity_std: float | None
    ell_mean: float | None
    used_mean: float | None
    """The number of attributes that a fold's formula uses, the mean over folds."""
    folds: tuple[Fold, ...]
    models: tuple[LearnedFormula, ...]
    """The formula of all rows, or one for each of several labels."""
    sized_models: tuple[SizedFormula, ...]
    """The formula of all rows that the formula-size method found, or one for each of several labels."""
    size_mean: float | None
    literals_mean: float | None
    """The mean number of literals of the folds' formulas, or of a peer's rules."""
    grown: tuple[Grown, ...]
    """The formulas of every number of attributes."""
    training_accuracy: float | None
    objective: Objective | None = None
    """None if the formulas were learned for accuracy."""

    @property
    def title(self) -> str:
        return method_title(self.name)

    @property
    def failed_folds(self) -> int:
        """Folds in which the method failed; they do not count in its mean."""
        return sum("error" in fold.facts for fold in self.folds)


@dataclass(frozen=True, slots=True)
class Paired:
    """The mean difference of two methods' accuracies over the same folds, with an interval."""

    method: str
    other: str
    difference_mean: float
    low: float
    high: float
    level: float
    folds: int


@dataclass(frozen=True, slots=True)
class LabelRows:
    """One of several labels, and how many rows have it."""

    label: str
    rows: int
    weight: float | None = None
    """The total weight of these rows; None if each counts once."""


@dataclass(frozen=True, slots=True)
class Weight:
    """The total weight of the rows, if they have weights."""

    column: str
    total: float
    positive: float | None
    """None in a study of several labels."""
    rows_without: int
    """Rows that were dropped because they weigh nothing."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result.json."""

    name: str
    kind: str
    seed: int | None
    profile: str
    rows: int
    rows_dropped: int
    columns: int
    attributes: int
    positive_rows: int
    """0 in a study of several labels."""
    label_rows: tuple[LabelRows, ...]
    """The rows of each of several labels; empty in a study of two classes."""
    silent_columns: tuple[str, ...]
    """Columns whose attributes tell no rows apart."""
    weight: Weight | None
    """None if every row counts once."""
    methods: tuple[Method, ...]
    """In the order in which they are shown."""
    comparisons: tuple[Paired, ...]
    seconds: Mapping[str, float]
    """The time of each method, for all folds."""
    timing: Mapping[str, Any]
    environment: Mapping[str, Any]

    @property
    def ideal(self) -> Method | None:
        return self.method(IDEAL)

    @property
    def explains(self) -> bool:
        """Whether the formula explains a classifier."""
        return self.kind == "distill" or bool(self.ideal and self.ideal.fidelity_mean is not None)

    @property
    def confusion(self) -> Confusion | None:
        """The joint answers of the formulas of several labels on all test rows."""
        folds = self.ideal.folds if self.ideal else ()
        return summed_confusion([each.label for each in self.label_rows], [fold.confusion for fold in folds])

    @property
    def paper(self) -> PaperDataset | None:
        """The paper's figures for this dataset, if it is one of its twelve, all of which have two classes."""
        dataset = self.environment.get("dataset")
        same = isinstance(dataset, str) and not self.label_rows and not self.explains
        return paper_dataset(str(dataset)) if same else None

    @property
    def n_folds(self) -> int:
        return max((len(method.folds) for method in self.methods), default=0)

    @property
    def leaves_one_out(self) -> bool:
        """Whether each fold tests one row: then the deviation over folds says nothing."""
        sizes = {fold.test_rows for method in self.methods for fold in method.folds} - {None}
        return sizes == {1}

    @property
    def positive_share(self) -> float | None:
        """The share of the rows that are positive, by their weight; None in a study of several labels."""
        if self.label_rows or not self.rows:
            return None
        weight = self.weight
        return self.positive_rows / self.rows if weight is None else (weight.positive or 0.0) / weight.total

    def label_share(self, label: LabelRows) -> float | None:
        """Return the share of the rows that have a label, by their weight."""
        if self.weight is None:
            return label.rows / self.rows if self.rows else None
        return (label.weight or 0.0) / self.weight.total

    @property
    def majority_share(self) -> float | None:
        """How often the most frequent answer is right."""
        labels = [self.label_share(each) or 0.0 for each in self.label_rows]
        if labels:
            return max(labels)
        positive = self.positive_share
        return None if positive is None else max(positive, 1 - positive)

    def method(self, name: str) -> Method | None:
        return next((method for method in self.methods if method.name == name), None)

    def deviation(self, method: Method) -> float | None:
        """Return the deviation over folds; None if it says nothing."""
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
        profile=str(result.get("profile", "paper")),
        rows=data.get("rows", 0),
        rows_dropped=data.get("rows_dropped", 0),
        columns=data.get("columns", 0),
        attributes=data.get("attributes", 0),
        positive_rows=data.get("positive_rows") or 0,
        label_rows=tuple(
            LabelRows(label_text(entry["label"]), entry.get("rows", 0), entry.get("weight"))
            for entry in data.get("classes") or ()
        ),
        silent_columns=tuple(map(str, data.get("silent_columns") or ())),
        weight=_weight(data.get("weight")),
        methods=tuple(methods[name] for name in method_order(methods)),
        comparisons=_comparisons(result.get("comparisons") or ()),
        seconds=_seconds(timing, methods),
        timing=timing,
        environment=result.get("environment", {}),
    )


def labels(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the name to show for each run: the paper's name of its dataset if it is unique, else the run's own."""
    titles = [outcome.paper.title if outcome.paper else None for outcome in outcomes]
    return [
        title if title is not None and titles.count(title) == 1 else outcome.name
        for outcome, title in zip(outcomes, titles, strict=True)
    ]


def _weight(record: Mapping[str, Any] | None) -> Weight | None:
    if not record:
        return None
    return Weight(str(record["column"]), record["total"], record["positive"], record["rows_without"])


def label_text(label: object) -> str:
    """Return a label as it is shown; numbers that JSON cannot represent are {"float": "inf"} and the like in files."""
    return str(label["float"]) if isinstance(label, Mapping) and "float" in label else str(label)


def read_certificate(record: Mapping[str, Any] | None) -> Certified | None:
    """Read a certificate of a result or of a model; None if there is none."""
    if not record or record.get("rows") is None or record.get("delta") is None:
        return None
    return Certified(
        rows=record["rows"],
        delta=record["delta"],
        epsilon=record.get("epsilon"),
        chosen_on_the_same_rows=bool(record.get("chosen_on_the_same_rows", True)),
        types=record.get("types"),
        types_seen=record.get("types_seen"),
        types_certified=record.get("types_certified"),
        types_refuted=record.get("types_refuted"),
        certified_share=record.get("certified_share"),
        certified_mass=record.get("certified_mass_at_least"),
        excess_error=record.get("excess_error_at_most"),
        threshold=record.get("threshold", 0.5),
    )


def method_title(name: str) -> str:
    """Return the title of a method."""
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
        fidelity_mean=record.get("fidelity_mean"),
        fidelity_std=record.get("fidelity_std"),
        ell_mean=record.get("ell_mean"),
        used_mean=_mean_of(record.get("folds") or (), "used"),
        folds=tuple(_fold(number, fold) for number, fold in enumerate(record.get("folds") or ())),
        models=_formulas(model) if model and not _is_sized(model) and "error" not in model else (),
        sized_models=_sized_formulas(model) if model else (),
        size_mean=record.get("size_mean"),
        literals_mean=record.get("literals_mean", _mean_of(record.get("folds") or (), "literals")),
        grown=tuple(
            Grown(step["ell"], step["accuracy_mean"], step["literals_mean"]) for step in record.get("frontier") or ()
        ),
        training_accuracy=model.get("training_accuracy") if model else None,
        objective=_objective(record),
    )


def _objective(record: Mapping[str, Any]) -> Objective | None:
    found = record.get("objective")
    if not isinstance(found, Mapping) or "name" not in found:
        return None
    return Objective(
        str(found["name"]),
        found.get("beta"),
        found.get("threshold"),
        record.get("objective_mean"),
        record.get("objective_std"),
        record.get("objective_constant_mean"),
    )


def _mean_of(folds: Sequence[Mapping[str, Any]], key: str) -> float | None:
    told = [fold[key] for fold in folds if fold.get(key) is not None]
    return sum(told) / len(told) if told and len(told) == len(folds) else None


def _comparisons(records: Sequence[Mapping[str, Any]]) -> tuple[Paired, ...]:
    order = method_order({record["other"] for record in records})
    found = [Paired(**{key: record[key] for key in Paired.__dataclass_fields__}) for record in records]
    return tuple(sorted(found, key=lambda paired: order.index(paired.other)))


_FORMULA_KEYS = (
    "formula",
    "ell",
    "rank",
    "attributes",
    "terms",
    "literals",
    "minimized",
    "sweep",
    "term_counts",
    "term_weights",
)
_FOLD_KEYS = ("fold", "accuracy")
_LEARNED_KEYS = (*_FOLD_KEYS, *_FORMULA_KEYS, "fidelity", "certificate", "classes", "confusion")


_SIZED_KEYS = (
    *_FOLD_KEYS,
    *("formula", "size", "chosen_size", "attributes", "proved", "attributes_searched", "path"),
    *("certificate", "classes", "confusion"),
)


def _fold(number: int, record: Mapping[str, Any]) -> Fold:
    sized = _is_sized(record)
    learned = not sized and ("classes" in record or ("formula" in record and "terms" in record))
    known = _LEARNED_KEYS if learned else _SIZED_KEYS if sized else _FOLD_KEYS
    return Fold(
        number=record.get("fold", number),
        accuracy=record.get("accuracy"),
        fidelity=record.get("fidelity"),
        test_rows=record.get("test_rows"),
        formulas=_formulas(record) if learned else (),
        sized=_sized_formulas(record),
        confusion=record.get("confusion"),
        facts={key: value for key, value in record.items() if key not in known},
    )


def _is_sized(record: Mapping[str, Any]) -> bool:
    first = (record.get("classes") or [record])[0]
    return "formula" in first and "path" in first


def _sized_formulas(record: Mapping[str, Any]) -> tuple[SizedFormula, ...]:
    return tuple(_sized(entry) for entry in record.get("classes") or (record,)) if _is_sized(record) else ()


def _sized(record: Mapping[str, Any]) -> SizedFormula:
    return SizedFormula(
        text=str(record["formula"]),
        size=record.get("size", 0),
        chosen=record.get("chosen_size", record.get("size", 0)),
        attributes=tuple(record.get("attributes") or ()),
        proved=bool(record.get("proved")),
        searched=record.get("attributes_searched"),
        exact=bool(record.get("exact_over_all_attributes", True)),
        path=tuple(
            SizeStep(step["size"], step["errors"], step.get("validation_accuracy"), bool(step.get("proved")))
            for step in record["path"]
        ),
        label=label_text(record["label"]) if "label" in record else None,
    )


def _formulas(record: Mapping[str, Any]) -> tuple[LearnedFormula, ...]:
    return tuple(_formula(entry) for entry in record.get("classes") or (record,))


def _formula(record: Mapping[str, Any]) -> LearnedFormula:
    minimized = record.get("minimized") or {}
    return LearnedFormula(
        text=str(record.get("formula", "")),
        ell=_ell(record.get("ell", 0)),
        rank=record.get("rank"),
        attributes=tuple(record.get("attributes") or ()),
        terms=record.get("terms", 0),
        literals=record.get("literals", 0),
        status=minimized.get("status"),
        gap_literals=minimized.get("gap_literals"),
        sweep=tuple(
            Step(
                _ell(step["ell"]), dict(step.get("by_rank") or {str(step.get("rank")): step.get("validation_accuracy")})
            )
            for step in record.get("sweep") or ()
        ),
        supports=tuple(Support(count["n"], count["c"]) for count in record.get("term_counts") or ()),
        label=label_text(record["label"]) if "label" in record else None,
        certificate=read_certificate(record.get("certificate")),
    )


def _ell(value: object) -> int:
    if not isinstance(value, int) or not 0 <= value <= _MOST_ELL:
        raise DataError(f"expected ell to be a whole number between 0 and {_MOST_ELL}, got {value!r:.60}")
    return value


def _seconds(timing: Mapping[str, Any], methods: Mapping[str, Method]) -> dict[str, float]:
    given = timing.get("methods_s")
    if given:
        return {name: float(given[name]) for name in method_order(given) if given[name] is not None}
    learn_s = timing.get("learn_s")
    return {IDEAL: float(learn_s)} if learn_s is not None and set(methods) == {IDEAL} else {}
