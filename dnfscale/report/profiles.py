"""Profiles side by side: one row per dataset, its runs averaged over seeds, with other methods and
the paper's figures.

Runs belong together when they have the same dataset and profile and differ in their seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from dnfscale.report.formats import Cell, Figure, Table
from dnfscale.report.paper import PAPER_METHODS, PaperDataset
from dnfscale.report.titles import is_free, method_order, method_title, paper_of
from dnfscale.results.method import Method
from dnfscale.results.result import IDEAL, Result

_ROUNDING = 1e-9
Runs = Mapping[str, Sequence[Result]]
"""The runs of each dataset, by its title."""


def profile_table(results: Sequence[Result]) -> Table:
    """Lay out the averaged runs of each dataset and their mean; no rows where _by_dataset finds no
    runs to compare.
    """
    runs = _by_dataset(results)
    profiles, others = _profiles(runs), _others(runs)
    papers = {title: paper_of(own[0]) for title, own in runs.items()}
    columns: dict[str, list[Cell]] = {}
    if any(papers.values()):
        for name in method_order(PAPER_METHODS):
            column = f"{method_title(name)} (paper)"
            columns[column] = [_told(paper, name) for paper in papers.values()]
        columns["Attributes (paper)"] = [
            Figure(paper.ell_mean) if paper else None for paper in papers.values()
        ]
    for profile in profiles:
        of_profile = [[run for run in own if run.profile == profile] for own in runs.values()]
        columns[f"{profile}, accuracy"] = [_accuracy(own, IDEAL) for own in of_profile]
        columns[f"{profile}, attributes"] = [
            _mean([m.ell_mean for _, m in _ran(own, IDEAL)]) for own in of_profile
        ]
        columns[f"{profile}, in the formula"] = [
            _mean([m.used_mean for _, m in _ran(own, IDEAL)]) for own in of_profile
        ]
        columns[f"{profile}, conditions"] = [_literals(own, IDEAL) for own in of_profile]
        columns[f"{profile}, s"] = [_seconds(own, IDEAL) for own in of_profile]
    for name in others:
        columns[f"{method_title(name)}, accuracy"] = [_accuracy(own, name) for own in runs.values()]
        columns[f"{method_title(name)}, conditions"] = [
            _literals(own, name) for own in runs.values()
        ]
        columns[f"{method_title(name)}, s"] = [_seconds(own, name) for own in runs.values()]
    told = {
        name: cells for name, cells in columns.items() if any(cell is not None for cell in cells)
    }
    rows = [(title, *(cells[i] for cells in told.values())) for i, title in enumerate(runs)]
    if len(rows) > 1:
        rows.append((f"mean of {len(runs)}", *(_mean_cell(cells) for cells in told.values())))
    title = "Profiles, averaged over runs: accuracy in %, attributes, conditions, seconds"
    return Table(title, ("Dataset", *told), tuple(rows))


def difference_table(results: Sequence[Result]) -> Table:
    """Lay out how much more accurate each profile is than the other methods, on the datasets that
    have both.
    """
    runs = _by_dataset(results)
    profiles, others = _profiles(runs), _others(runs)
    ours = {profile: _shares(runs, IDEAL, profile) for profile in profiles}
    beside = {
        f"{method_title(name)} (paper)": _paper_shares(runs, name)
        for name in method_order(PAPER_METHODS)
    }
    beside |= {method_title(name): _shares(runs, name) for name in others}
    readable = [beside[method_title(name)] for name in others if _has_length(runs, name)]
    if len(readable) > 1:
        shared = set.intersection(*(set(each) for each in readable))
        beside["The best readable peer"] = {
            title: max(each[title] for each in readable) for title in runs if title in shared
        }
    rows = []
    for profile, accuracies in ours.items():
        rivals = {
            **{f"profile {name}": each for name, each in ours.items() if name != profile},
            **beside,
        }
        for words, theirs in rivals.items():
            differences = {
                title: accuracies[title] - theirs[title] for title in accuracies if title in theirs
            }
            if differences:
                rows.append((profile, words, *_summed(differences)))
    header = (
        "Profile",
        "Compared with",
        "Datasets",
        "Mean difference",
        "At least as accurate",
        "Within one point",
    )
    return Table(
        (
            "By how many points of accuracy the formula of a profile is ahead, and on how many "
            "datasets"
        ),
        (*header, "Least difference", "On"),
        tuple(rows),
    )


def _summed(differences: Mapping[str, float]) -> tuple[Cell, ...]:
    least = min(differences, key=lambda title: differences[title])
    return (
        len(differences),
        Figure(sum(differences.values()) / len(differences)),
        sum(difference >= -_ROUNDING for difference in differences.values()),
        sum(difference >= -1 - _ROUNDING for difference in differences.values()),
        Figure(differences[least]),
        least,
    )


def _by_dataset(results: Sequence[Result]) -> Runs:
    """Return tested runs by dataset; none if each has one run of the profile "paper", or if two
    runs are of one kind.

    Two runs are of one kind if they have the same dataset, profile and seed.
    """
    tested = [
        result
        for result in results
        if result.ideal
        and result.ideal.accuracy_mean is not None
        # The tables are of accuracies, which other runs were not learned for.
        and result.ideal.objective is None
    ]
    by_path: dict[str, list[Result]] = {}
    for result in tested:
        by_path.setdefault(result.environment.dataset or result.name, []).append(result)
    kinds = [(path, run.profile, run.seed) for path, own in by_path.items() for run in own]
    plain = len(kinds) == len(by_path) and all(profile == "paper" for _, profile, _ in kinds)
    if plain or len(set(kinds)) < len(kinds):
        return {}
    stems = {path: PurePath(path).stem or path for path in by_path}
    names = list(stems.values())
    plain_titles = {path: stem if names.count(stem) == 1 else path for path, stem in stems.items()}
    return {
        paper.title if (paper := paper_of(own[0])) else plain_titles[path]: own
        for path, own in by_path.items()
    }


def _profiles(runs: Runs) -> list[str]:
    found = {result.profile for own in runs.values() for result in own}
    return sorted(found, key=lambda name: (name != "paper", name))


def _others(runs: Runs) -> list[str]:
    found = {name for own in runs.values() for result in own for name in result.methods}
    return [name for name in method_order(found - {IDEAL}) if not is_free(name)]


def _has_length(runs: Runs, name: str) -> bool:
    """Return whether a method's models are rules that people can read, and that have a length."""
    ran = [method for own in runs.values() for _, method in _ran(own, name)]
    return any(method.literals_mean is not None for method in ran)


def _ran(results: Sequence[Result], name: str) -> list[tuple[Result, Method]]:
    return [
        (result, method) for result in results if (method := result.methods.get(name)) is not None
    ]


def _shares(runs: Runs, name: str, profile: str | None = None) -> dict[str, float]:
    """Return the mean accuracy of a method in %, by dataset; only of runs of a profile, if one is
    given.
    """
    found = {
        title: _accuracy([run for run in own if profile in (None, run.profile)], name)
        for title, own in runs.items()
    }
    return {title: figure.value for title, figure in found.items() if figure is not None}


def _paper_shares(runs: Runs, name: str) -> dict[str, float]:
    told = {title: _told(paper_of(own[0]), name) for title, own in runs.items()}
    return {title: figure.value for title, figure in told.items() if figure is not None}


def _told(paper: PaperDataset | None, name: str) -> Figure | None:
    figure = paper.accuracies.get(name) if paper else None
    return None if figure is None else Figure(figure.mean, deviation=figure.deviation)


def _accuracy(results: Sequence[Result], name: str) -> Figure | None:
    """Return the accuracy of a method, averaged over runs, and the average of its deviations over
    folds.
    """
    ran = _ran(results, name)
    accuracy = _mean([_percent(method.accuracy_mean) for _, method in ran])
    deviation = _mean([_percent(result.deviation(method)) for result, method in ran])
    if accuracy is None or deviation is None:
        return accuracy
    return Figure(accuracy.value, deviation=deviation.value)


def _literals(results: Sequence[Result], name: str) -> Figure | None:
    return _mean([method.literals_mean for _, method in _ran(results, name)])


def _seconds(results: Sequence[Result], name: str) -> Figure | None:
    return _mean([result.timing.methods_s.get(name) for result, _ in _ran(results, name)])


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _mean(values: Sequence[float | None]) -> Figure | None:
    """Return the mean of some values; None if one of them is not known, or if there are none."""
    known = [value for value in values if value is not None]
    return Figure(sum(known) / len(known)) if known and len(known) == len(values) else None


def _mean_cell(cells: Sequence[Cell]) -> Figure | None:
    return _mean([cell.value if isinstance(cell, Figure) else None for cell in cells])
