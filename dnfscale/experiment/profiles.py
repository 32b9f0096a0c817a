"""Profiles side by side: each dataset once, its runs averaged over seeds, beside what the paper reports."""

from __future__ import annotations

from collections.abc import Sequence

from dnfscale.experiment.formats import Cell, Figure, Table
from dnfscale.experiment.outcome import IDEAL, Outcome, method_order, method_title

_TOLD = {"ideal": "Formula", "random_forest": "Random forest", "xgboost": "XGBoost"}
"""The paper's columns that stand beside ours."""


def profile_table(outcomes: Sequence[Outcome]) -> Table:
    """Lay out the runs of each of the paper's datasets, averaged; without rows unless some run is beyond the paper."""
    datasets = {outcome.paper.title: outcome.paper for outcome in outcomes if outcome.paper}
    if all(outcome.profile == "paper" for outcome in outcomes) or not datasets:
        return Table("", (), ())
    profiles = sorted({outcome.profile for outcome in outcomes}, key=lambda name: (name != "paper", name))
    others = method_order({m.name for o in outcomes for m in o.methods} - {IDEAL, "majority", "one_rule"})
    header = ["Dataset", *(f"{title} (paper)" for title in _TOLD.values())]
    for profile in profiles:
        header += [f"{profile}, accuracy", f"{profile}, attributes", f"{profile}, literals", f"{profile}, s"]
    header += [f"{method_title(name)}, accuracy" for name in others]
    rows = []
    for title, paper in datasets.items():
        own = [outcome for outcome in outcomes if outcome.paper is paper]
        cells: list[Cell] = [title]
        for name in _TOLD:
            told = paper.accuracies.get(name)
            cells.append(None if told is None else Figure(told.mean, deviation=told.deviation))
        for profile in profiles:
            cells += _averaged([outcome for outcome in own if outcome.profile == profile])
        for name in others:
            run = [method for outcome in own if (method := outcome.method(name))]
            cells.append(_mean([_share(method.accuracy_mean) for method in run]))
        rows.append(tuple(cells))
    return Table(
        "Profiles, averaged over runs: accuracy in %, attributes, literals, seconds", tuple(header), tuple(rows)
    )


def _averaged(outcomes: Sequence[Outcome]) -> list[Cell]:
    ideals = [outcome.ideal for outcome in outcomes if outcome.ideal]
    accuracy = _mean([_share(ideal.accuracy_mean) for ideal in ideals])
    deviations = [outcome.deviation(ideal) for outcome, ideal in zip(outcomes, ideals, strict=True)]
    if accuracy is not None and deviations and all(each is not None for each in deviations):
        accuracy = Figure(accuracy.value, deviation=100 * sum(each or 0.0 for each in deviations) / len(deviations))
    return [
        accuracy,
        _mean([ideal.ell_mean for ideal in ideals]),
        _mean([ideal.literals_mean for ideal in ideals]),
        _mean([outcome.seconds.get(IDEAL) for outcome in outcomes]),
    ]


def _share(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _mean(values: Sequence[float | None]) -> Figure | None:
    known = [value for value in values if value is not None]
    return Figure(sum(known) / len(known)) if known and len(known) == len(values) else None
