"""Tuning by Optuna, asked and told from the driver in a fixed order.

Each (method, fold) is a chain: its trials follow one another, because what Optuna draws next
depends on the results before; chains run side by side, which keeps all workers busy while the
answer does not depend on their number. A chain records every trial it finishes. When it runs again,
it asks Optuna the same questions, takes the recorded answers, and continues where the records end.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

from msgspec.structs import replace as changed

from dnfscale.compare.competitor import Notes, Outcome, Study, answered_fold, unsaid
from dnfscale.compare.joint import FitTogether, Joining
from dnfscale.compare.measure import Measuring, measured
from dnfscale.compare.trial import Fit, FitAndScore, Learner, Params, Scored, hard_limit_s
from dnfscale.compare.ways import (
    ALL_ROWS,
    CLUSTER,
    SAMPLE,
    WORKER,
    RowLearner,
    Way,
    drawn_rows,
    where_key,
)
from dnfscale.engine.api import Failure, JointWork
from dnfscale.learn.phases import Layout, Phase, PlannedPhase, Reads
from dnfscale.results.confusion import Answers, correct_of, counted_of
from dnfscale.results.method import Fold, Method, Parameter, Tuning
from dnfscale.results.metrics import Scores
from dnfscale.results.record import Note
from dnfscale.spec.checks import one_of, seconds, whole
from dnfscale.spec.keys import key
from dnfscale.spec.registry import Family

TUNE_BASELINES = Phase("tune baselines", Reads.FILES_ON_WORKERS, "tune other methods")
FIT_TOGETHER = Phase(
    "fit together", Reads.FILES_ON_WORKERS, "tune methods that all workers fit together"
)
_RUNGS = (Fraction(1, 9), Fraction(1, 3))
"""The shares of a trial's trees after which it may be stopped; the trees are the first of those it
would grow.
"""


_DEFAULT: Params = {"n_estimators": 100}
"""So many trees scikit-learn, XGBoost and LightGBM grow by default; what is not named keeps its
default.
"""


class Suggest(Protocol):
    """What a parameter space needs from a trial; Optuna's trials have it."""

    def suggest_categorical(self, name: str, choices: list[Any]) -> Any: ...

    def suggest_int(
        self, name: str, low: int, high: int, *, step: int = 1, log: bool = False
    ) -> int: ...

    def suggest_float(self, name: str, low: float, high: float, *, log: bool = False) -> float: ...


@dataclass(frozen=True, slots=True)
class Budget:
    """How much tuning a method gets in each fold."""

    trials: int = key(whole(1), 100, "tuning trials per fold, drawn by Optuna")
    timeout_s: float | None = key(
        seconds,
        None,
        "a longer trial fails, even one that would never end; default: no limit",
        example=60.0,
    )
    pruner: str = key(
        one_of("none", "median", "halving"),
        "none",
        'stop poor trials after a ninth or a third of their trees: "median", "halving"',
    )
    """none: every trial grows all its trees; median: a trial below the median of the earlier ones
    is stopped; halving: only the best third continues."""
    first: str = key(
        one_of("default", "drawn"),
        "default",
        'the first trial: the library\'s own "default" parameters, or "drawn" as all others',
    )
    where: str = where_key(WORKER, SAMPLE)

    @property
    def patience(self) -> int | None:
        """After how many trees without a gain on W_val a trial stops; None: it grows all of
        them.
        """
        return None


@dataclass(frozen=True, slots=True)
class BoostingBudget(Budget):
    """How much tuning a method of boosted trees gets."""

    early_stopping: int | None = key(
        whole(1),
        None,
        "stop a trial after so many trees without a gain on W_val; default: never",
        example=50,
    )

    @property
    def patience(self) -> int | None:
        return self.early_stopping


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedCompetitor(RowLearner):
    """A competitor whose parameters are drawn by trials; its space draws n_estimators, the number
    of its trees.
    """

    suggest: Callable[[Suggest], Params]
    """The space of its parameters."""
    learn: Learner
    options: type = Budget
    joining: Joining | None = None
    """How all workers fit it together, if they can."""
    family: Family = field(default_factory=lambda: TUNED)


def tune_all(study: Study, budgets: Mapping[TunedCompetitor, Budget]) -> dict[str, Outcome]:
    """Tune every competitor in every fold: chains side by side where a worker does a fit by itself,
    and one fit at a time where all workers do it together.
    """
    alone, joint = _by_way(budgets)
    left_s = _time_left(study)
    outcomes = _tune_alone(study, alone, left_s) if alone else {}
    for competitor, budget in joint.items():
        outcomes |= _tune_together(study, competitor, budget, left_s)
    return outcomes


def _no_limit() -> float:
    return math.inf


def _time_left(study: Study) -> Callable[[], float]:
    """Return what says how long all tuning may still take."""
    limit_s, clock = study.time_limit_s, study.clock
    if limit_s is None:
        return _no_limit
    end = clock() + limit_s
    return lambda: end - clock()


def _by_way(
    budgets: Mapping[TunedCompetitor, Budget],
) -> tuple[dict[TunedCompetitor, Budget], dict[TunedCompetitor, Budget]]:
    """Return what workers fit by themselves, and what they fit together."""
    joint = {each: budget for each, budget in budgets.items() if budget.where == CLUSTER}
    return {each: own for each, own in budgets.items() if each not in joint}, joint


def _tune_together(
    study: Study, competitor: TunedCompetitor, budget: Budget, left_s: Callable[[], float]
) -> dict[str, Outcome]:
    """Tune a competitor by fits of all workers."""
    plan, notes = study.plan_rows(), study.notes
    folds = range(plan.splits.outer)
    assert competitor.joining is not None
    fitting = FitTogether(plan, competitor.joining)
    ends = study.engine.together(
        FIT_TOGETHER.name,
        [
            tune(
                competitor,
                fold,
                budget,
                seed=study.spec.seed,
                notes=notes,
                say=study.say,
                way=Way(CLUSTER),
                left_s=left_s,
            )
            for fold in folds
        ],
        JointWork(fitting, plan.partitions, competitor.joining.meet, fitting.merge),
        expected=_fits({competitor: budget}, len(folds)),
        known=_known([competitor], folds, notes),
        limit=hard_limit_s,
    )
    measuring = Measuring.of(study.spec, plan.splits)
    return {competitor.name: _outcome(ends, measuring, several=study.several)}


def _known(competitors: Iterable[TunedCompetitor], folds: Iterable[int], notes: Notes) -> int:
    """Return how many fits are in the notes."""
    chains = [_chain_name(each.name, fold) for each in competitors for fold in folds]
    return sum(len(notes.recall(chain, FitNote)) for chain in chains)


def _tune_alone(
    study: Study, budgets: Mapping[TunedCompetitor, Budget], left_s: Callable[[], float]
) -> dict[str, Outcome]:
    """Tune competitors by fits of one worker each, all chains side by side."""
    plan = study.plan_rows()
    folds = range(plan.splits.outer)
    drawn = {
        competitor: drawn_rows(competitor, budget.where, plan.table, study.workers)
        for competitor, budget in budgets.items()
    }
    chains = [
        tune(
            competitor,
            fold,
            budget,
            seed=study.spec.seed,
            notes=study.notes,
            say=study.say,
            way=Way(budget.where, drawn[competitor]),
            left_s=left_s,
        )
        for fold in folds
        for competitor, budget in budgets.items()
    ]
    learners = {competitor.name: competitor.learn for competitor in budgets}
    ends = study.engine.chain(
        TUNE_BASELINES.name,
        chains,
        FitAndScore(plan, learners),
        expected=_fits(budgets, len(folds)),
        known=_known(budgets, folds, study.notes),
        limit=hard_limit_s,
    )
    return {
        name: _outcome(
            [end for end in ends if end.method == name],
            Measuring.of(study.spec, plan.splits),
            several=study.several,
        )
        for name in learners
    }


def plan_tuning(
    layout: Layout, budgets: Mapping[TunedCompetitor, Budget]
) -> Iterator[PlannedPhase]:
    """Yield the phase of tune_all."""
    alone, joint = _by_way(budgets)
    if alone:
        yield TUNE_BASELINES.planned(_fits(alone, layout.folds - 1), layout.read_bytes)
    for competitor, budget in joint.items():
        fits = _fits({competitor: budget}, layout.folds - 1)
        yield FIT_TOGETHER.planned(fits, layout.read_bytes)


TUNED: Family = Family(run=tune_all, plan=plan_tuning)


def _fits(budgets: Mapping[TunedCompetitor, Budget], folds: int) -> int:
    """Return how many fits there are if no trial is stopped: the trials and the last of a chain."""
    return sum(folds * (budget.trials + 1) for budget in budgets.values())


def measured_left(
    notes: Notes, competitor: TunedCompetitor, budget: Budget, *, folds: int, workers: int
) -> tuple[float, int] | None:
    """Return how many seconds tuning will still take, and by how many fits in the notes that is
    known; None before the first.
    """
    chains = (_chain_name(competitor.name, fold) for fold in range(folds))
    known = [note for chain in chains for note in notes.recall(chain, FitNote)]
    if not known:
        return None
    left = max(0, _fits({competitor: budget}, folds) - len(known))
    at_once = 1 if budget.where == CLUSTER else max(1, min(workers, folds))
    return sum(note.seconds for note in known) / len(known) * left / at_once, len(known)


class FitNote(Note, frozen=True, kw_only=True):
    """A finished fit of a chain, as it is recorded; its step is a trial, with which share of its
    trees, or the end.
    """

    params: dict[str, Parameter]
    answers: Answers = ()
    """The held-out rows by their class and by their answer, or their weights."""
    scores: Scores | None = None
    """Of the last fit of two classes: the test rows by their probability."""
    n_trees: int | None = None
    """How many trees were best on W_val, of a trial that might stop early."""
    seconds: float = 0.0
    error: str | None = None
    """Why the fit failed; None where it did not."""

    @property
    def correct(self) -> int:
        return correct_of(self.answers)

    @property
    def rows(self) -> int:
        return counted_of(self.answers)

    @property
    def accuracy(self) -> float:
        return self.correct / max(1, self.rows)

    @staticmethod
    def of(step: str, fit: Fit, answer: Scored | Failure) -> FitNote:
        """Return the note of an answer."""
        if isinstance(answer, Failure):
            return FitNote(step=step, params=dict(fit.params), error=answer.message)
        return FitNote(
            step=step,
            params=dict(fit.params),
            answers=answer.answers,
            scores=answer.scores,
            n_trees=answer.n_trees,
            seconds=answer.seconds,
        )


@dataclass(frozen=True, slots=True)
class Tuned:
    """The outcome of a chain."""

    method: str
    fold: int
    best: FitNote
    """The fit that was best on validation rows."""
    answers: Answers
    """The test rows by their class and by the answer of a fit with the same parameters."""
    scores: Scores | None
    trials: int
    cut_short: bool
    failed_trials: int
    pruned_trials: int
    seconds: float
    """Time spent in tasks, whether run now or recorded earlier."""


@dataclass(frozen=True, slots=True)
class Untuned:
    """A chain without an outcome: no trial succeeded, or the last fit did not."""

    method: str
    fold: int
    error: str


def tune(  # noqa: PLR0913 (all that a chain goes by)
    competitor: TunedCompetitor,
    fold: int,
    budget: Budget,
    *,
    seed: int,
    notes: Notes,
    say: Callable[[str], None] = unsaid,
    way: Way = ALL_ROWS,
    left_s: Callable[[], float] = _no_limit,
) -> Generator[Fit, Scored | Failure, Tuned | Untuned]:
    """Draw trials, keep the best on W_val (the first in a tie), fit it on W_0 and test it.

    Where rows are sampled, W_val and W_0 are those of the sample. However little time is left, the
    first trial and the last fit are carried out.
    """
    method = competitor.name
    chain = _Chain.begin(method, fold, seed, notes, way)
    study = _study(chain.seed, budget.pruner)
    trials: list[_Trial] = []
    for number in range(budget.trials):
        within = budget if number == 0 else _shortened(budget, left_s())
        if within is None:
            break
        say(_runs_now(competitor, fold, f"trial {number + 1} of {budget.trials}", trials))
        asked = study.ask()
        is_default = number == 0 and budget.first == "default"
        params = dict(_DEFAULT) if is_default else competitor.suggest(asked)
        trial = yield from _run_trial(chain, params, asked, number, within)
        _tell(study, asked, trial)
        trials.append(trial)
    whole = [trial for trial in trials if not (trial.failed or trial.pruned)]
    if not whole:
        error = next((trial.last.error for trial in reversed(trials) if trial.failed), "")
        return Untuned(method, fold, f"no trial succeeded; the last said: {error}")
    best = max(whole, key=lambda trial: trial.last.correct).last
    say(_runs_now(competitor, fold, "the best trial on the test rows", trials))
    if best.n_trees is not None:
        best = changed(best, params={**best.params, "n_estimators": best.n_trees})
    last = Fit(method, fold, best.params, chain.seed, final=True, drawn=way.drawn)
    final = yield from chain.fit("final", last)
    if final.error is not None:
        return Untuned(method, fold, final.error)
    return Tuned(
        method=method,
        fold=fold,
        best=best,
        answers=final.answers,
        scores=final.scores,
        trials=len(trials),
        cut_short=len(trials) < budget.trials,
        failed_trials=sum(trial.failed for trial in trials),
        pruned_trials=sum(trial.pruned for trial in trials),
        seconds=sum(note.seconds for trial in trials for note in trial.fits) + final.seconds,
    )


def _shortened(budget: Budget, left_s: float) -> Budget | None:
    """Return the budget of a trial for which so much time is left; None if there is none."""
    if left_s <= 0:
        return None
    if left_s == math.inf:
        return budget
    return replace(budget, timeout_s=min(left_s, budget.timeout_s or left_s))


def _runs_now(competitor: TunedCompetitor, fold: int, what: str, trials: Sequence[_Trial]) -> str:
    """Return for people what a chain does, and the best that its trials have come to."""
    scores = [trial.last.accuracy for trial in trials if not (trial.failed or trial.pruned)]
    best = f", best so far {100 * max(scores):.1f} % on validation rows" if scores else ""
    return f"{competitor.title}, fold {fold + 1}, {what}{best}"


def _outcome(chains: Sequence[Tuned | Untuned], measuring: Measuring, *, several: bool) -> Outcome:
    """Return what a competitor came to; a fold that failed does not count in the means."""
    scores = {
        chain.fold: chain.scores
        for chain in chains
        if isinstance(chain, Tuned) and chain.scores is not None
    }
    answered = Method.over([_tuned_fold(chain, several=several) for chain in chains])
    method = measured(answered, measuring, scores)
    seconds = sum(chain.seconds for chain in chains if isinstance(chain, Tuned))
    return Outcome(method, round(seconds, 3))


def _tuned_fold(chain: Tuned | Untuned, *, several: bool) -> Fold:
    if isinstance(chain, Untuned):
        return Fold(fold=chain.fold, error=chain.error)
    best = chain.best
    tuning = Tuning(
        validation_correct=best.correct,
        validated=best.rows,
        validation_accuracy=best.correct / best.rows if best.rows else None,
        params=best.params,
        trials=chain.trials,
        failed_trials=chain.failed_trials,
        pruned_trials=chain.pruned_trials,
        cut_short=chain.cut_short,
    )
    return changed(answered_fold(chain.fold, chain.answers, several=several), tuning=tuning)


def _chain_name(method: str, fold: int) -> str:
    return f"{method}-fold{fold}"


@dataclass(frozen=True, slots=True)
class _Chain:
    """What the fits of a chain share."""

    name: str
    method: str
    fold: int
    seed: int
    notes: Notes
    noted: list[FitNote]
    """The records of an earlier run that the chain has not come to yet."""
    way: Way = ALL_ROWS

    @staticmethod
    def begin(method: str, fold: int, seed: int, notes: Notes, way: Way) -> _Chain:
        name = _chain_name(method, fold)
        noted = notes.recall(name, FitNote)
        own_seed = zlib.crc32(f"{seed} {name}".encode())
        return _Chain(name, method, fold, own_seed, notes, noted, way)

    def fit(self, step: str, fit: Fit) -> Generator[Fit, Scored | Failure, FitNote]:
        """Return the result of a fit: from the records if it is there, else by having it done and
        recording it.
        """
        step += self.way.beside
        if self.noted and self.noted[0].step == step and self.noted[0].params == dict(fit.params):
            return self.noted.pop(0)
        self.noted.clear()
        note = FitNote.of(step, fit, (yield fit))
        self.notes.note(self.name, note)
        return note


@dataclass(frozen=True, slots=True)
class _Trial:
    """How a trial ended."""

    fits: tuple[FitNote, ...]
    """Those of its first trees, if there were any, then that of all of them, unless it was
    stopped.
    """
    pruned: bool = False

    @property
    def last(self) -> FitNote:
        return self.fits[-1]

    @property
    def failed(self) -> bool:
        return self.last.error is not None


def _run_trial(
    chain: _Chain, params: Params, asked: Any, number: int, budget: Budget
) -> Generator[Fit, Scored | Failure, _Trial]:
    """Fit a trial; if it may be stopped, its first trees come first, and it continues only if they
    are worth it.
    """
    whole = Fit(
        chain.method,
        chain.fold,
        params,
        chain.seed,
        final=False,
        timeout_s=budget.timeout_s,
        drawn=chain.way.drawn,
        patience=budget.patience,
    )
    fits: list[FitNote] = []
    for rung, share in enumerate(_RUNGS if budget.pruner != "none" else ()):
        note = yield from chain.fit(f"trial {number} rung {rung}", replace(whole, share=share))
        fits.append(note)
        if note.error is not None:
            return _Trial(tuple(fits))
        asked.report(note.accuracy, rung)
        if asked.should_prune():
            return _Trial(tuple(fits), pruned=True)
    note = yield from chain.fit(f"trial {number}", whole)
    return _Trial((*fits, note))


def _study(seed: int, pruner: str) -> Any:
    # Optuna takes half a second to import, which a job without tuning is spared.
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=seed)
    return optuna.create_study(direction="maximize", sampler=sampler, pruner=_pruner(pruner))


def _tell(study: Any, asked: Any, trial: _Trial) -> None:
    """Tell Optuna how a trial ended."""
    from optuna.trial import TrialState

    if trial.failed:
        study.tell(asked, state=TrialState.FAIL)
    elif trial.pruned:
        study.tell(asked, state=TrialState.PRUNED)
    else:
        study.tell(asked, trial.last.accuracy)


def _pruner(name: str) -> Any:
    import optuna

    if name == "median":
        return optuna.pruners.MedianPruner(n_startup_trials=5)
    if name == "halving":
        return optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=3)
    return optuna.pruners.NopPruner()
