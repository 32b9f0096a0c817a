"""Compares the software of client, scheduler and workers, so that a difference is explained before
it breaks a job.

Clusters of other versions are asked by the name of this module, so it stays where it is.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from distributed import Client

from dnfscale.errors import ClusterError

_MUST_AGREE = ("dnfscale", "python", "dask", "distributed")
"""Otherwise tasks do not arrive, or mean something else."""
_SHOULD_AGREE = ("numpy", "scipy", "pyarrow", "scikit-learn", "xgboost")
"""Otherwise the last digit of a score may depend on who computes it."""


def check_versions(client: Client) -> list[str]:
    """Raise ClusterError where the cluster has other software than we have, and return lesser
    differences.
    """
    found = client.get_versions(packages=[*_SHOULD_AGREE])
    own = client.run(_own_version, workers=list(found["workers"]), on_error="return")
    by_member = {
        worker: _versions(report, own.get(worker)) for worker, report in found["workers"].items()
    }
    try:
        schedulers: Any = client.run_on_scheduler(_own_version)
    except Exception as error:
        schedulers = error
    by_member["scheduler"] = _versions(found["scheduler"], schedulers)
    here = _versions(found["client"], _own_version())
    wrong = differences(here, by_member, _MUST_AGREE)
    if wrong:
        raise ClusterError(
            "expected the same software here and on the cluster, but "
            + "; ".join(wrong)
            + "; install the same versions on both sides"
        )
    return differences(here, by_member, _SHOULD_AGREE)


def differences(
    here: Mapping[str, str | None],
    by_member: Mapping[str, Mapping[str, str | None]],
    packages: tuple[str, ...],
) -> list[str]:
    """Say for each package where it is not as here: on how many members, and which is the first."""
    found = []
    for package in packages:
        others: dict[str | None, list[str]] = {}
        for member, versions in sorted(by_member.items()):
            if versions.get(package) != here.get(package):
                others.setdefault(versions.get(package), []).append(member)
        for version, members in others.items():
            more = f" and {len(members) - 1} more" if len(members) > 1 else ""
            what = f"{package} {version}" if version else f"no {package}"
            found.append(f"{members[0]}{more} has {what}, here is {here.get(package) or 'none'}")
    return found


def _own_version() -> str:
    # Looked up, not imported: a layer must not import the package above it, which is loaded
    # wherever this module is.
    return str(sys.modules[__name__.partition(".")[0]].__version__)


def _versions(report: Mapping[str, Any], own: Any) -> dict[str, str | None]:
    """Flatten Dask's report; a member that could not say its own version has none."""
    python = ".".join(str(report["host"]["python"]).split(".")[:2])
    return {
        **report["packages"],
        "python": python,
        "dnfscale": own if isinstance(own, str) else None,
    }
