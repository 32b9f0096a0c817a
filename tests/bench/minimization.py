"""Case `minimize`: the shortest formula of type tables, beside SymPy's simplify_logic.

Every formula is held against its table, type by type. SymPy runs in a process of its own, so that
it can be stopped when a table takes it too long; ratios to it are then at least what is shown.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Self

import numpy as np

from dnfscale.core.formula import Dnf
from dnfscale.method.minimize.minimal import Minimized, Truth, minimize
from tests.bench.case import Case, Contender, DisagreementError, Figure, Measured, Outcome
from tests.bench.processes import cpu_seconds
from tests.bench.setting import Setting
from tests.bench.type_tables import RANDOM, TypeTable, type_tables

_START_S = 60.0
"""How long a process may take to load SymPy."""


def measure_dnfscale(setting: Setting) -> Outcome:
    """Measure the exact minimization of every table."""
    # Random tables need SciPy's optimizers, which take 0.4 s to load.
    import scipy.optimize  # noqa: F401

    return _measured(setting, lambda table: _minimize_table(table, minimize))


def measure_sympy(setting: Setting) -> Outcome:
    """Measure SymPy on every table, in a process that is stopped at the cap."""
    with SimplifyingProcess(setting.simplify_cap_s) as process:
        return _measured(setting, process.simplify)


class SimplifyingProcess:
    """A process that runs SymPy on one table after the other, ended and started anew when one takes
    too long.
    """

    def __init__(self, cap_s: float) -> None:
        self._cap_s = cap_s

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()

    def simplify(self, table: TypeTable) -> tuple[int | None, float]:
        """Return the literals of SymPy's formula and its time; None and the cap where it took
        longer than that.
        """
        self._connection.send(table)
        if self._connection.poll(self._cap_s):
            n_literals, elapsed_s = self._connection.recv()
            return n_literals, elapsed_s
        self._end()
        self._start()
        return None, self._cap_s

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_simplify_tables, args=(theirs,))
        self._process.start()
        theirs.close()
        if not self._connection.poll(_START_S):
            raise TimeoutError(f"expected SymPy to load within {_START_S:.0f} s")
        self._connection.recv()

    def _end(self) -> None:
        self._process.terminate()
        self._process.join()
        self._process.close()
        self._connection.close()


def figures(measured: Mapping[str, Measured]) -> list[Figure]:
    """Say how long the slowest tables take, and how much longer SymPy does."""
    if "dnfscale" not in measured:
        return []
    ours = measured["dnfscale"].outcome.parts_s
    found = []
    for kind, names in _kinds(ours).items():
        goal = 1.0 if kind == "real" else None
        found.append(
            Figure(
                f"slowest of {len(names)} {kind} tables in seconds",
                max(ours[n] for n in names),
                goal,
            )
        )
    if "sympy" not in measured:
        return found
    theirs, literals = measured["sympy"].outcome.parts_s, measured["sympy"].outcome.answer
    for kind, names in _kinds(ours).items():
        ratio = sum(theirs[name] for name in names) / sum(ours[name] for name in names)
        stopped = any(literals[name] is None for name in names)
        goal = 100.0 if kind == "real" else None
        what = f"sympy / dnfscale, wall time of {kind} tables"
        found.append(Figure(what, ratio, at_least=goal, lower_bound=stopped))
    least = min(theirs[name] / ours[name] for name in _kinds(ours)["real"])
    found.append(Figure("... of the real table where it is least", least))
    saved = sum(
        literals[n] - measured["dnfscale"].outcome.answer[n]
        for n in literals
        if literals[n] is not None
    )
    found.append(Figure("sympy - dnfscale, literals", saved, at_least=0))
    return found


def never_longer(outcomes: Mapping[str, Outcome]) -> None:
    """Raise DisagreementError where SymPy found a shorter formula."""
    if len(outcomes) < 2:
        return
    for name, literals in outcomes["sympy"].answer.items():
        ours = outcomes["dnfscale"].answer[name]
        if literals is not None and literals < ours:
            raise DisagreementError(
                f"{name}: the shortest formula has {ours} literals, but SymPy found one of "
                f"{literals}"
            )


def _measured(setting: Setting, run: Callable[[TypeTable], tuple[int | None, float]]) -> Outcome:
    """Run every table; the answer is its formula's number of literals, or None where it was
    stopped.
    """
    cpu_before = cpu_seconds()
    runs = {table.name: run(table) for table in type_tables(setting.ell)}
    seconds = {name: elapsed_s for name, (_, elapsed_s) in runs.items()}
    literals = {name: n_literals for name, (n_literals, _) in runs.items()}
    return Outcome(sum(seconds.values()), cpu_seconds() - cpu_before, 0, literals, seconds)


def _minimize_table(table: TypeTable, shorten: Callable[[Truth], Minimized]) -> tuple[int, float]:
    started = time.perf_counter()
    dnf = shorten(table.truth).dnf
    elapsed_s = time.perf_counter() - started
    _check_formula(dnf, table)
    return dnf.n_literals, elapsed_s


def _check_formula(dnf: Dnf, table: TypeTable) -> None:
    accepted = np.flatnonzero(dnf.accepts(np.arange(1 << table.truth.ell)))
    if accepted.tolist() != list(table.truth.required):
        raise DisagreementError(f"{table.name}: the formula and the table differ")


def _simplify_tables(connection: Connection) -> None:
    """Say that SymPy is loaded, then simplify the tables that come, until the process is ended."""
    from dnfscale.method.minimize.simplify import simplify

    connection.send(None)
    while True:
        connection.send(_minimize_table(connection.recv(), simplify))


def _kinds(tables: Mapping[str, float]) -> dict[str, list[str]]:
    """Sort the names of tables into real and random ones."""
    kinds: dict[str, list[str]] = {"real": [], "random": []}
    for name in tables:
        kinds["random" if name.startswith(RANDOM) else "real"].append(name)
    return kinds


CASE = Case(
    name="minimize",
    about="the shortest formulas of type tables over 10 attributes",
    contenders=(Contender("dnfscale", measure_dnfscale), Contender("sympy", measure_sympy)),
    figures=figures,
    check=never_longer,
)
