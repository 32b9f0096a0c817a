"""What methods and runs are called where people see them, and in which order methods are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dnfscale.report.paper import PaperDataset, paper_dataset
from dnfscale.results.method import Comparison, Method
from dnfscale.results.result import IDEAL, Result

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


def method_title(name: str) -> str:
    """Return the title of a method."""
    return METHOD_TITLES.get(name, name.replace("_", " "))


def method_order(names: Iterable[str]) -> list[str]:
    """Return methods in the order in which they are shown: the known ones first, trivial ones
    last.
    """
    known = list(METHOD_TITLES)
    trivial = known.index("one_rule")
    return sorted(
        names, key=lambda name: (known.index(name), "") if name in known else (trivial - 0.5, name)
    )


def shown_methods(result: Result) -> list[tuple[str, Method]]:
    """Return the methods of a result with their names, in the order in which they are shown."""
    return [(name, result.methods[name]) for name in method_order(result.methods)]


def shown_comparisons(result: Result) -> list[Comparison]:
    """Return the comparisons of a result in the order in which methods are shown."""
    found = result.comparisons or ()
    order = method_order({comparison.other for comparison in found})
    return sorted(found, key=lambda comparison: order.index(comparison.other))


def run_titles(results: Sequence[Result]) -> list[str]:
    """Return the name to show for each run: the paper's name of its dataset if it is unique, else
    the run's own.
    """
    papers = [paper_of(result) for result in results]
    titles = [paper.title if paper else None for paper in papers]
    return [
        title if title is not None and titles.count(title) == 1 else result.name
        for result, title in zip(results, titles, strict=True)
    ]


def paper_of(result: Result) -> PaperDataset | None:
    """Return the paper's figures for a dataset, if it is one of its twelve, all of which have two
    classes.
    """
    dataset = result.environment.dataset
    same = dataset is not None and not result.data.classes and not result.explains
    return paper_dataset(str(dataset)) if same else None
