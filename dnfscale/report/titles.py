"""What methods and runs are called where people see them, in which order and colour."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dnfscale.report.paper import PaperDataset, paper_dataset
from dnfscale.results.method import Comparison, Method
from dnfscale.results.result import Result
from dnfscale.spec.registry import BLACK_BOX, COMPETITORS, IDEAL

_OURS: Mapping[str, tuple[str, str, str]] = {
    IDEAL: ("Formula", "Formula", "blue"),
    BLACK_BOX: ("Classifier explained", "Classifier", "purple"),
}
"""The title, the short name and the colour of the methods that are no competitors; they are shown
first.
"""


def method_title(name: str) -> str:
    """Return the title of a method."""
    if name in COMPETITORS:
        return COMPETITORS[name].title
    return _OURS[name][0] if name in _OURS else name.replace("_", " ")


def short_title(name: str) -> str:
    """Return what to call a method where there is little room."""
    known = COMPETITORS[name].short if name in COMPETITORS else None
    return _OURS[name][1] if name in _OURS else known or method_title(name)


def method_hue(name: str) -> str:
    """Return the class that colours a method in charts."""
    colour = COMPETITORS[name].colour if name in COMPETITORS else "teal"
    return f"m-{_OURS[name][2] if name in _OURS else colour}"


def is_free(name: str) -> bool:
    """Return whether a method is part of every study, without being asked for."""
    return name in COMPETITORS and COMPETITORS[name].options is None


def is_constant(name: str) -> bool:
    """Return whether a method answers every row alike."""
    return name in COMPETITORS and COMPETITORS[name].is_constant


def method_order(names: Iterable[str]) -> list[str]:
    """Return methods in the order in which they are shown: ours, competitors, those that this
    version does not know, and free ones last.
    """
    known = [*_OURS, *COMPETITORS]

    def place(name: str) -> tuple[bool, int, str]:
        return is_free(name), known.index(name) if name in known else len(known), name

    return sorted(names, key=place)


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
