"""Runs made by hand for the tests of the report: small ones, whole ones, and one with hostile
names.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dnfscale.core.formula import Dnf, Term
from dnfscale.data.models.attributes import parse_attribute
from dnfscale.method.metrics import decision_curve, figures, scores_of_types
from dnfscale.report import ReportRun, render_figures, render_report, report_run
from dnfscale.report.run import RunView, view_runs
from dnfscale.results.confusion import Confusion
from dnfscale.results.frontier import Frontier, FrontierFormula
from dnfscale.results.method import FrontierPoint
from dnfscale.results.record import plain
from dnfscale.results.result import Result, parse_result

HOSTILE = (
    "<script>alert(1)</script>",
    "\"quoted\" & 'single' `back`",
    "line\nbreak\tand\x00nul",
    "עמודה בעברית",
    "\u202egnp.exe",
    "=1+1|cmd' /c calc'!A0",
    "</title></svg><img src=x onerror=alert(1)>",
    "a_very_long_name_" * 12,
)
"""Names of columns that a table may well have."""

PLAIN = ["age_above_median", "sex", "smoker", "height_above_median"]
"""The attributes of a study of the user's own data."""
_RANKS = ("f", "mutual_info", "chi2")


@dataclass
class Made:
    """A run made by hand, as the JSON of its files."""

    result: dict[str, Any]
    model: dict[str, Any] | None = None
    frontier: Frontier | None = None

    @property
    def run(self) -> ReportRun:
        return replace(report_run(self.read, self.model), frontier=self.frontier)

    @property
    def read(self) -> Result:
        return parse_result(self.result)


def made(name: str, result: dict[str, Any], model: dict[str, Any] | None = None) -> Made:
    """Return a run of a name."""
    return Made({**result, "name": name}, model)


def page_of(
    runs: Sequence[Made], failures: Sequence[tuple[str, str]] = (), *, title: str | None = None
) -> str:
    """Return the page of some runs."""
    return render_report([each.run for each in runs], failures, title=title)


def figures_of(runs: Sequence[Made]) -> dict[str, str]:
    """Return the figures of some runs."""
    return render_figures([each.run for each in runs])


def views_of(runs: Sequence[Made]) -> list[RunView]:
    """Return some runs as the sections of the page read them."""
    return view_runs([each.run for each in runs])


def formula_record(names: list[str], *, swing: float = 0.0) -> dict[str, Any]:
    """Return what a result says of a formula over some attributes: the first two, or not
    the last.
    """
    ell = len(names)
    terms = (Term(0b11, 0b11), Term(1 << (ell - 1), 0)) if ell > 2 else (Term(1, 1),)
    dnf = Dnf(terms)
    return {
        "search": "attributes",
        "ell": ell,
        "rank": "f",
        "attributes": [{"name": name} for name in names],
        "formula": dnf.render(names),
        "lines": [
            {"all": [{"attribute": i, "value": holds} for i, holds in term.literals]}
            for term in dnf.terms
        ],
        "terms": len(dnf.terms),
        "literals": dnf.n_literals,
        "minimized": {"status": "proven", "gap_literals": 0},
        "sweep": [
            {
                "ell": step,
                "rank": "f",
                "attributes": names[:step],
                "validation_accuracy": 0.7 + 0.02 * step + swing,
                "by_rank": {
                    rank: 0.7 + 0.02 * step + swing - 0.01 * i for i, rank in enumerate(_RANKS)
                },
            }
            for step in range(1, ell + 1)
        ],
    }


def with_supports(formula: dict[str, Any], *supports: tuple[int, int]) -> dict[str, Any]:
    """Return a formula with the rows, and the positive ones, behind each of its lines."""
    pairs = zip(formula["lines"], supports, strict=True)
    return {**formula, "lines": [{**line, "n": n, "c": c} for line, (n, c) in pairs]}


def study(
    name: str, attributes: list[str], *, folds: int = 10, test_rows: int = 20
) -> dict[str, Any]:
    """Return the result.json of a study of the ideal classifier method alone."""
    accuracies = [
        0.8 + 0.02 * (fold % 5) if test_rows > 1 else float(fold % 3 > 0) for fold in range(folds)
    ]
    return {
        "schema": "dnfscale.result/2",
        "name": name,
        "kind": "study",
        "seed": 0,
        "profile": "paper",
        "data": {
            "rows": 200,
            "rows_dropped": 5,
            "columns": 9,
            "attributes": 12,
            "positive_rows": 80,
        },
        "methods": {
            "ideal": {
                "accuracy_mean": statistics.fmean(accuracies),
                "accuracy_std": statistics.pstdev(accuracies),
                "ell_mean": 3.0,
                "folds": [
                    {
                        "fold": fold,
                        "train_rows": 126,
                        "validation_rows": 54,
                        "test_rows": test_rows,
                        "accuracy": accuracy,
                        "formulas": [
                            formula_record(
                                attributes[: 3 + fold % 2] or attributes, swing=0.01 * (fold % 3)
                            )
                        ],
                    }
                    for fold, accuracy in enumerate(accuracies)
                ],
                "model": {
                    "rows": 200,
                    "training_accuracy": 0.9,
                    "formulas": [formula_record(attributes[:3])],
                },
            }
        },
        "timing": {
            "launch_s": 0.1,
            "learn_s": 0.5,
            "total_s": 0.7,
            "methods_s": {"ideal": 0.5},
            "phases_s": {"bin rows": 0.2},
        },
        "environment": {
            "dnfscale": "0.1.0",
            "python": "3.11",
            "engine": "serial",
            "dataset": "/data/some.parquet",
        },
    }


def model(attributes: list[str]) -> dict[str, Any]:
    """Return the model.json that goes with a study of the same attributes."""
    tests = [("above", 14.97), ("equals", "a <b>"), ("true", 1), ("missing", None)]
    names = attributes[:3]
    record = formula_record(names)
    return {
        "schema": "dnfscale.model/1",
        "target": "outcome",
        "positive": ["ill"],
        "attributes": [
            {"name": name, "column": name, "test": tests[i % 4][0], "value": tests[i % 4][1]}
            for i, name in enumerate(names)
        ],
        "terms": [
            [{"attribute": 0, "value": True}, {"attribute": 1, "value": True}],
            [{"attribute": 2, "value": False}],
        ],
        "counts": [
            {"type": [False, False, False], "n": 40, "c": 30},
            {"type": [True, True, False], "n": 20, "c": 18},
            {"type": [False, True, True], "n": 110, "c": 11},
            {"type": [True, True, True], "n": 30, "c": 21},
        ],
        "formula": record["formula"],
        "certificate": {
            "rows": 200,
            "delta": 0.05,
            "epsilon": 0.2065,
            "chosen_on_the_same_rows": True,
        },
        "provenance": {"dnfscale": "0.1.0", "name": "x", "seed": 0, "rows": 200},
    }


def with_baselines(result: dict[str, Any]) -> dict[str, Any]:
    """Add baselines, their comparisons and their times to a study."""
    folds = result["methods"]["ideal"]["folds"]
    params = {
        "max_depth": None,
        "n_estimators": 120,
        "learning_rate": 0.012345678,
        "bootstrap": True,
    }

    def method(shift: float, **facts: Any) -> dict[str, Any]:
        accuracies = [min(1.0, max(0.0, fold["accuracy"] + shift)) for fold in folds]
        return {
            "accuracy_mean": statistics.fmean(accuracies),
            "accuracy_std": statistics.pstdev(accuracies),
            "folds": [
                {"fold": fold, "accuracy": accuracy, **facts}
                for fold, accuracy in enumerate(accuracies)
            ],
        }

    tuning = {
        "validation_correct": 85,
        "validated": 100,
        "validation_accuracy": 0.85,
        "params": params,
        "trials": 20,
        "failed_trials": 0,
        "pruned_trials": 0,
    }
    others = {
        "random_forest": method(0.02, tuning=tuning),
        "xgboost": method(-0.03, tuning=tuning),
        "majority": method(-0.25),
        "one_rule": method(-0.05, attribute="x"),
    }
    return {
        **result,
        "methods": {**result["methods"], **others},
        "comparisons": [
            _comparison("random_forest", -0.02, 0.03),
            _comparison("xgboost", 0.03, 0.02),
            _comparison("one_rule", 0.05, 0.06),
        ],
        "timing": {
            **result["timing"],
            "methods_s": {"ideal": 0.5, "random_forest": 62.5, "xgboost": 41.0},
        },
    }


def with_sizes(
    result: dict[str, Any], *, proved: bool = True, exact: bool = True
) -> dict[str, Any]:
    """Add the formula-size method to a study: formulas of size three over its first attributes."""
    ideal = result["methods"]["ideal"]
    names = [attribute["name"] for attribute in ideal["model"]["formulas"][0]["attributes"]]

    def found(swing: float) -> dict[str, Any]:
        return {
            "formula": f"{Dnf((Term(0b11, 0b11),)).render(names)}",
            "size": 3,
            "attributes": [{"name": name} for name in names[:2]],
            "errors": 7,
            "chosen_size": 4,
            "proved": proved,
            "distinct_rows": 55,
            "attributes_searched": len(names),
            "exact_over_all_attributes": exact,
            "path": [
                {
                    "size": size,
                    "formula_size": min(size, 3),
                    "errors": 20 - size,
                    "validation_accuracy": 0.7 + 0.03 * min(size, 4) + swing,
                    "proved": proved or size < 6,
                }
                for size in range(1, 7)
            ],
        }

    accuracies = [fold["accuracy"] for fold in ideal["folds"]]
    folds = [
        {"fold": fold, "test_rows": 20, "accuracy": accuracy, "sized": [found(0.01 * (fold % 3))]}
        for fold, accuracy in enumerate(accuracies)
    ]
    sized = {
        "accuracy_mean": statistics.fmean(accuracies),
        "accuracy_std": statistics.pstdev(accuracies),
        "size_mean": 3.0,
        "folds": folds,
        "model": {"rows": 100, "training_accuracy": 0.93, "sized": [found(0.0)]},
    }
    return {**result, "methods": {**result["methods"], "formula_size": sized}}


def from_paper(result: dict[str, Any], dataset: str) -> dict[str, Any]:
    """Say that a study was of one of the paper's datasets."""
    return {**result, "environment": {**result["environment"], "dataset": f"paper:{dataset}"}}


def plain_run() -> Made:
    """A study without baselines, of the user's own data."""
    return made("own-data", study("own-data", PLAIN), model(PLAIN))


def lengths_run(names: Sequence[str] = PLAIN) -> Made:
    """A study with formulas of three lengths, the longest of them shown, and a decision curve."""
    whole = model(list(names))
    result = study("lengths", list(names))
    scores = scores_of_types(
        np.array([0.02, 0.12, 0.6, 0.9]), np.array([60, 60, 40, 40]), np.array([1, 7, 26, 36])
    )
    result["methods"]["ideal"]["decision_curve"] = [plain(each) for each in decision_curve(scores)]
    attributes = [parse_attribute(each, "") for each in whole["attributes"]]
    formulas = []
    for n, terms in enumerate([whole["terms"][1:], whole["terms"][:1], whole["terms"]]):
        dnf = Dnf(tuple(_term(each) for each in terms))
        text = dnf.render([each.name for each in attributes])
        confusion = Confusion(tp=60 + n, fp=12 - n, tn=108 + n, fn=20 - n)
        point = FrontierPoint(
            literals_mean=n + 0.5,
            literals=n + 1,
            accuracy_mean=0.8 + 0.02 * n,
            low=0.75 + 0.02 * n,
            high=0.85 + 0.02 * n,
            terms_mean=1.5,
            confusion=confusion,
            metrics=figures(confusion),
            shown=n == 2,
        )
        formulas.append(
            FrontierFormula(
                literals=n + 1,
                terms=len(terms),
                shown=n == 2,
                correct=150 + 10 * n,
                counted=200,
                tested=point,
                model={**whole, "terms": terms, "formula": text},
            )
        )
    result["methods"]["ideal"]["frontier"] = [plain(each.tested) for each in formulas]
    return replace(
        made("lengths", result, whole), frontier=Frontier(name="lengths", formulas=tuple(formulas))
    )


def _term(literals: Sequence[Mapping[str, Any]]) -> Term:
    return Term(
        sum(1 << each["attribute"] for each in literals),
        sum(1 << each["attribute"] for each in literals if each["value"]),
    )


def fit_run() -> Made:
    """A fit: no folds, nothing tested."""
    result = study("fit", ["age", "sex", "smoker"])
    ideal = {**result["methods"]["ideal"], "accuracy_mean": None, "accuracy_std": None, "folds": []}
    return made(
        "fit",
        {**result, "kind": "fit", "methods": {"ideal": ideal}},
        model(["age", "sex", "smoker"]),
    )


def paper_run(dataset: str = "heart_disease", name: str = "heart-disease") -> Made:
    """A study with baselines of one of the paper's datasets."""
    attributes = ["caa_0", "thall_2", "oldpeak_above_median", "cp_0"]
    return made(
        name, from_paper(with_baselines(study(name, attributes)), dataset), model(attributes)
    )


def sized_run(attributes: Sequence[str] = ("caa_0", "thall_2", "cp_0"), **found: bool) -> Made:
    """A study with the formula-size method of one of the paper's datasets."""
    names = list(attributes)
    result = from_paper(with_sizes(study("heart-disease", names), **found), "heart_disease")
    return made("heart-disease", result, model(names))


def leave_one_out_run() -> Made:
    """A study in which each fold tests one row."""
    result = study("colon", ["v1", "v2", "v3", "v4"], folds=62, test_rows=1)
    return made("colon", from_paper(result, "colon"), model(["v1", "v2", "v3"]))


def hostile_run() -> Made:
    """A study whose columns, values and error messages try to break out of the page."""
    names = list(HOSTILE)
    result = with_baselines(study("hostile", names))
    ideal = result["methods"]["ideal"]
    ideal["folds"] = [{**fold, "formulas": [formula_record(names)]} for fold in ideal["folds"]]
    result["environment"]["dataset"] = "/tmp/<b>data</b>.parquet"
    record = model(names[:3])
    return made("hostile", result, {**record, "target": HOSTILE[0], "positive": [HOSTILE[6]]})


def certificate(
    rows: int, *, own: bool = False, share: float = 0.6, excess: float = 0.032
) -> dict[str, Any]:
    """Return a certificate as results and models hold it; own says that its rows chose the
    attributes.
    """
    return {
        "rows": rows,
        "delta": 0.05,
        "epsilon": 0.2065,
        "chosen_on_the_same_rows": own,
        "threshold": 0.5,
        "types": 8,
        "types_seen": 4,
        "types_certified": 2 if share else 0,
        "types_refuted": 0,
        "certified_share": share,
        "certified_mass_at_least": share / 2,
        "excess_error_at_most": excess,
        "excess_error_before_rows": 0.5,
        "terms": [
            {"n": 50, "c": 39, "confidence": 0.78, "low": 0.6, "high": 0.9, "certified_share": 1.0}
        ],
    }


def certified_run() -> Made:
    """A study whose folds and whose model have certificates."""
    result = plain_run().result
    for number, fold in enumerate(result["methods"]["ideal"]["folds"]):
        certified = certificate(20, share=0.4 + 0.05 * number, excess=0.1 + 0.0101 * number)
        fold["formulas"][0]["certificate"] = certified
    return made("certified", result, {**model(PLAIN), "certificate": certificate(200, own=True)})


def distill_run(*, known: bool = True) -> Made:
    """A formula that explains a classifier; the truth may not be known."""
    result = study("explained", PLAIN)
    ideal = result["methods"]["ideal"]
    share = 0.81 if known else None
    ideal |= {"fidelity_mean": ideal["accuracy_mean"], "fidelity_std": ideal["accuracy_std"]}
    ideal |= {"accuracy_mean": share, "accuracy_std": 0.01 if known else None}
    ideal["folds"] = [
        {
            **fold,
            "fidelity": fold["accuracy"],
            "accuracy": share,
            "formulas": [{**fold["formulas"][0], "certificate": certificate(20)}],
        }
        for fold in ideal["folds"]
    ]
    share = 0.93 if known else None
    result["methods"]["black_box"] = {
        "accuracy_mean": share,
        "accuracy_std": 0.02 if known else None,
        "folds": [{"fold": fold, "accuracy": share} for fold in range(10)],
    }
    if known:
        result["comparisons"] = [_comparison("black_box", -0.12, 0.03)]
    record = {**model(PLAIN), "target": "answer", "positive": [True]}
    return made("explained", {**result, "kind": "distill"}, record)


def labels_run(labels: Sequence[Any] = ("low", "middle", "high"), *, folds: int = 10) -> Made:
    """A study of several labels: one formula for each of them."""
    k = len(labels)
    result = study("labels", PLAIN, folds=folds)
    ideal = result["methods"]["ideal"]
    for number, fold in enumerate(ideal["folds"]):
        fold["formulas"] = [
            with_supports(
                {"label": label, **formula_record(PLAIN[: 3 + (number + i) % 2])},
                (30, 27),
                (12, 11),
            )
            for i, label in enumerate(labels)
        ]
        fold["confusion_matrix"] = [
            [8 if i == j else int((i + j) % 3 == 0) for j in range(k)] for i in range(k)
        ]
    ideal["model"] = {
        "rows": 200,
        "formulas": [{"label": label, **formula_record(PLAIN[:3])} for label in labels],
    }
    sizes = [200 // k + (i < 200 % k) for i in range(k)]
    data = {**result["data"], "positive_rows": None}
    data["classes"] = [
        {"label": label, "rows": rows} for label, rows in zip(labels, sizes, strict=True)
    ]
    record = {
        "schema": "dnfscale.classes/1",
        "target": "risk",
        "classes": [
            {
                **model(PLAIN),
                "target": "risk",
                "positive": [label],
                "certificate": certificate(200, own=True),
            }
            for label in labels
        ],
    }
    return made("labels", {**result, "data": data}, record)


def labels_fit_run() -> Made:
    """A fit of several labels: nothing tested."""
    run = labels_run()
    ideal = run.result["methods"]["ideal"]
    ideal |= {"accuracy_mean": None, "accuracy_std": None, "folds": []}
    return made("labels-fit", {**run.result, "kind": "fit"}, run.model)


def suite_runs() -> list[Made]:
    """Runs of several kinds on one page."""
    datasets = (
        "bank_marketing",
        "breast_cancer",
        "heart_disease",
        "hepatitis",
        "covertype",
        "congressional_voting",
    )
    return [
        *(paper_run(dataset, dataset.replace("_", "-")) for dataset in datasets),
        leave_one_out_run(),
        plain_run(),
        fit_run(),
        labels_run(),
        distill_run(),
    ]


def _comparison(other: str, difference: float, half: float) -> dict[str, Any]:
    return {
        "method": "ideal",
        "other": other,
        "difference_mean": difference,
        "low": difference - half,
        "high": difference + half,
        "level": 0.95,
        "folds": 10,
    }
