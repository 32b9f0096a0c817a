"""Whether this machine, the scheduler and the workers run the same software, and what to do where they do not.

Tasks travel as pickles that name our functions, so Python, Dask and dnfscale must be the same everywhere; what computes
must be the same on all workers, where it computes.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from distributed import Client

from dnfscale.errors import ClusterError

_EVERYWHERE = ("python", "dnfscale", "dask", "distributed", "cloudpickle", "msgpack")
_ON_WORKERS = ("numpy", "pyarrow", "scipy", "scikit-learn", "sympy", "xgboost", "optuna", "pandas", "numba")
_NEEDED = ("numpy", "pyarrow", "scipy", "scikit-learn", "sympy", "xgboost", "optuna")
_MISSING = "missing"
_MOST_NAMED = 3
"""So many workers with another version are named; more are counted."""

Versions = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Software:
    """The versions of packages here, on the scheduler and on every worker."""

    here: Versions
    scheduler: Versions
    workers: Mapping[str, Versions]

    def differences(self) -> tuple[list[str], list[str]]:
        """Return the packages whose versions forbid a job, and those that only differ from this machine's."""
        forbidding, differing = [], []
        for package in (*_EVERYWHERE, *_ON_WORKERS):
            here, at_work = self.here[package], {versions[package] for versions in self.workers.values()}
            if package in _EVERYWHERE:
                fits = {here, self.scheduler[package], *at_work} == {here}
            else:
                fits = len(at_work) < 2 and not (package in _NEEDED and _MISSING in at_work)
            if not fits:
                forbidding.append(package)
            elif at_work - {here}:
                differing.append(package)
        return forbidding, differing

    def table(self, packages: Sequence[str]) -> str:
        """Show the versions of some packages side by side."""
        rows = [("", "here", "scheduler", "workers")]
        rows += [(package, self.here[package], self.scheduler[package], self._at_work(package)) for package in packages]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        return "\n".join(
            "  " + "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]).rstrip()
            for row in rows
        )

    def _at_work(self, package: str) -> str:
        found = Counter(versions[package] for versions in self.workers.values())
        if len(found) < 2:
            return "".join(found)
        told = []
        for version, n_workers in found.most_common():
            names = [name for name, versions in self.workers.items() if versions[package] == version]
            where = ", ".join(names) if n_workers <= _MOST_NAMED else f"{n_workers} workers"
            told.append(f"{version} on {where}")
        return "; ".join(told)


def software_of(client: Client) -> Software:
    """Ask a cluster for its versions, in Dask's own way; only our own package is asked for by name."""
    packages = [package for package in (*_EVERYWHERE, *_ON_WORKERS) if package not in ("python", "dnfscale")]
    asked = client.get_versions(packages=packages)
    ours = client.run(_our_version, on_error="return")
    try:
        scheduler = client.run_on_scheduler(_our_version)
    except Exception as error:
        # Whatever keeps it from saying so: what it has is not what is here.
        scheduler = error
    return Software(
        here=_versions(asked["client"]["packages"], _our_version()),
        scheduler=_versions(asked["scheduler"]["packages"], scheduler),
        workers={
            name: _versions(found["packages"], ours.get(name)) for name, found in sorted(asked["workers"].items())
        },
    )


def check_software(client: Client, *, mixed: bool = False) -> str | None:
    """Raise ClusterError where versions forbid a job, unless they may be mixed; return what is to be told of them."""
    software = software_of(client)
    forbidding, differing = software.differences()
    if forbidding and not mixed:
        raise ClusterError(
            "expected the same software here, on the scheduler and on all workers, but it differs:\n"
            f"{software.table(forbidding)}\n"
            "install the same versions everywhere, or set cluster.mixed_versions = true to go on all the same"
        )
    told = [*forbidding, *differing]
    if not told:
        return None
    return f"versions differ; the job runs with those of the workers:\n{software.table(told)}"


def _versions(packages: Mapping[str, str | None], ours: object) -> Versions:
    """Settle what one process has said; a last number of Python does not matter."""
    known = {name: version or _MISSING for name, version in packages.items()}
    known["python"] = ".".join(str(packages.get("python")).split(".")[:2])
    known["dnfscale"] = ours if isinstance(ours, str) else _MISSING
    return known


def _our_version() -> str:
    # The package around this layer: it is there, but importing it would point up.
    return str(sys.modules[__name__.partition(".")[0]].__version__)
