"""What methods and runs are called where people see them, in which order and colour."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dnfscale.report.paper import PaperDataset, paper_dataset
from dnfscale.results.method import Comparison, Method
from dnfscale.results.result import Result
from dnfscale.spec.registry import BLACK_BOX, COMPETITORS, IDEAL


@dataclass(frozen=True, slots=True)
class Look:
    """How people see a method."""

    title: str
    short: str
    """The same where there is little room."""
    colour: str
    """By its name in charts.css."""


_OURS: Mapping[str, Look] = {
    IDEAL: Look("Formula", "Formula", "blue"),
    BLACK_BOX: Look("Classifier explained", "Classifier", "purple"),
}
"""The methods that are no competitors; they are shown first."""


def look_of(name: str) -> Look:
    """Return how people see a method; it may be one that this version does not know."""
    if name in _OURS:
        return _OURS[name]
    if name not in COMPETITORS:
        title = name.replace("_", " ")
        return Look(title, title, "teal")
    known = COMPETITORS[name]
    return Look(known.title, known.short or known.title, known.colour)


def method_title(name: str) -> str:
    """Return the title of a method."""
    return look_of(name).title


def method_hue(name: str) -> str:
    """Return the class that colours a method in charts."""
    return f"m-{look_of(name).colour}"


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
