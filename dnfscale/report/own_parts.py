"""What the report shows of a method besides what it shows of all methods; the method declares it
where it registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dnfscale.report.markup import Html
from dnfscale.report.parts import Place, Section
from dnfscale.report.run import RunView
from dnfscale.report.titles import shown_methods
from dnfscale.results.method import Method
from dnfscale.results.result import Result
from dnfscale.spec.registry import COMPETITORS


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnParts:
    """The parts that show one method."""

    card: Callable[[Place, RunView, Method], Section | None]
    """A section of the page; None if there is nothing to show."""
    sweep_figure: Callable[[Place, Method], Html | None]
    """A figure beside the sweep of the formula; None if there is nothing to draw."""
    charts: Callable[[Method], Mapping[str, Html]]
    """Charts for files of their own, by name."""
    summary: Callable[[Result, Method], Sequence[str]]
    """Lines at the end of a run, which need not compare the method then."""


def own_parts(result: Result) -> Iterator[tuple[OwnParts, Method]]:
    """Yield the parts of the methods of a result that declare any."""
    for name, method in shown_methods(result):
        if name in COMPETITORS and COMPETITORS[name].shown is not None:
            yield COMPETITORS[name].shown, method
