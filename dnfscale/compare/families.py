"""Runs competitors by family; one that cannot run leaves its reason in the place of its figures.

By then the formula is known, and a competitor must not cost its result. What makes the whole study
untrue still ends it: data that changed meanwhile, a folder that cannot be written, a signal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from msgspec.structs import replace as changed

from dnfscale.compare.competitor import Outcome, Study
from dnfscale.compare.ways import (
    CLUSTER,
    RowLearner,
    Workers,
    drawn_rows,
    shortage,
    way_of,
    with_ways,
)
from dnfscale.engine.limits import limit_behind
from dnfscale.engine.streams import ClosedPipeError
from dnfscale.errors import ClusterError, DnfscaleError, LimitError, TaskError
from dnfscale.results.method import Fold, Method
from dnfscale.spec.registry import Competitor, Family


@dataclass(frozen=True, slots=True)
class Compared:
    """What the competitors of a family came to."""

    outcomes: Mapping[str, Outcome]
    """By name, those that could not run included."""
    lost: ClusterError | None = None
    """Why the cluster was lost, if it was: the same job on another can still finish them."""


def run_family(
    family: Family,
    options: Mapping[Competitor, Any],
    begin: Callable[[], Study],
    *,
    folds: int,
    lost: ClusterError | None = None,
) -> Compared:
    """Run the competitors of a family that have the memory for it, and tell why the others cannot
    run; on a cluster that was lost before, none can.
    """
    if lost is not None:
        return Compared({each.name: failure(lost, folds) for each in options}, lost)
    failed: dict[str, Outcome] = {}
    try:
        study = begin()
        if any(isinstance(each, RowLearner) for each in options):
            workers = Workers(study.engine.describe()["workers"], study.engine.worker_bytes)
            study = replace(study, workers=workers)
            options = with_ways(options, study.plan_rows().table, study.workers)
        shortages = {
            competitor: lacking
            for competitor, own in options.items()
            if (lacking := _shortage(study, competitor, own)) is not None
        }
        failed = {each.name: failure(error, folds) for each, error in shortages.items()}
        able = {each: own for each, own in options.items() if each not in shortages}
        outcomes = family.run(study, able) if able else {}
        marked = {each.name: _marked(outcomes[each.name], study, each, able[each]) for each in able}
        return Compared({**failed, **marked})
    except (LimitError, ClusterError, TaskError) as error:
        reason: DnfscaleError = error
    except (DnfscaleError, OSError, ClosedPipeError):
        raise
    except Exception as error:
        # Whatever a library does wrong; a limit of the operating system is named as such.
        reason = limit_behind(error) or TaskError(f"unexpected {type(error).__name__}: {error}")
    others = {each.name: failure(reason, folds) for each in options if each.name not in failed}
    return Compared({**failed, **others}, reason if isinstance(reason, ClusterError) else None)


def _shortage(study: Study, competitor: Competitor, options: Any) -> LimitError | None:
    """Return why workers have too little memory for a competitor; None if they have enough."""
    if not isinstance(competitor, RowLearner):
        return None
    return shortage(competitor, way_of(options), study.plan_rows().table, study.workers)


def _marked(outcome: Outcome, study: Study, competitor: Competitor, options: Any) -> Outcome:
    """Return an outcome with the way in which its competitor was fitted."""
    if not isinstance(competitor, RowLearner):
        return outcome
    table, where = study.plan_rows().table, way_of(options)
    method = changed(
        outcome.method,
        where=where,
        sample_rows=drawn_rows(competitor, where, table, study.workers),
        reproducible=where != CLUSTER,
    )
    return replace(outcome, method=method)


def failure(error: DnfscaleError, folds: int) -> Outcome:
    """Return the outcome of a competitor that could not run in any fold."""
    failed = [Fold(fold=number, error=error.message) for number in range(folds)]
    return Outcome(Method.over(failed), 0.0)
