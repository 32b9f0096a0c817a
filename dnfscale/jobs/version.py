"""What --version is answered with, and what a bug report should say of the software and the
machine.

Nothing here imports a library of others: versions are read from what the installer has noted, so
that a report can be written where one of them is missing or broken.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import dnfscale
from dnfscale.engine.limits import cores

_FOR_DEVELOPERS = ("all", "bench", "test")
"""Extras that are no features: what they bring is in others too, or is for work on dnfscale."""
_VARIABLES = re.compile(
    r"DNFSCALE_|DASK_|PYTHON|NUMBA_|MALLOC_|(OMP|MKL|OPENBLAS|NUMEXPR)_|AWS_|AZURE_|GOOGLE_|SLURM_|PBS_|KUBE|"
    r"(LANG|LC_ALL|LD_PRELOAD|LD_LIBRARY_PATH|TMPDIR|XDG_CACHE_HOME|SSL_CERT_FILE|SSL_CERT_DIR)$|(https?|all|no)_proxy$",
    re.IGNORECASE,
)
"""The variables that libraries of ours go by."""
_SHOWN = re.compile(
    r"\w+_NUM_THREADS|MALLOC_\w+_|LANG|LC_ALL|PYTHON(HASHSEED|OPTIMIZE|UTF8|WARNINGS)"
)
"""Those whose values are shown; any other might hold a secret, or a path that is nobody's
business.
"""
_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def version_asked(arguments: Sequence[str]) -> str | None:
    """Return what --version, or --version --verbose, is answered with; None if a command line asks
    for something else.

    It is asked before the command line is parsed, because the parser imports every library that a
    verb needs.
    """
    if "--version" not in arguments or not set(arguments) <= {"--version", "--verbose"}:
        return None
    return bug_report() if "--verbose" in arguments else f"dnfscale {dnfscale.__version__}"


def bug_report() -> str:
    """Return what a bug report should say of the software and the machine; without the values of
    most variables.
    """
    try:
        needed = requires("dnfscale") or []
    except PackageNotFoundError:
        needed = []
    tables = {
        "": {
            "dnfscale": dnfscale.__version__
            if needed
            else f"{dnfscale.__version__}, not installed by an installer",
            "python": f"{platform.python_version()} ({platform.python_implementation()})",
            "platform": platform.platform(),
            "cores": f"{os.cpu_count()}, of which this process may use {cores()}",
            "memory": _memory(),
            "default cluster": _default_cluster(),
        },
        "needs": dict(_needs(needed, extra=None)),
        **{f"extra {extra}": dict(_needs(needed, extra=extra)) for extra in _extras(needed)},
        "variables that are set": dict(_variables(os.environ)),
    }
    return "\n".join(
        line
        for title, table in tables.items()
        for line in ([f"\n{title}:"] if title and table else [])
        + [f"{name}: {value}" for name, value in table.items()]
    )


def _needs(needed: Sequence[str], *, extra: str | None) -> Iterator[tuple[str, str]]:
    """Return the packages that dnfscale, or an extra, needs, with the version that is there and the
    one asked for.
    """
    for requirement in needed:
        package, asked = re.match(r"([\w.-]+)(?:\[[^]]*\])?\s*([^;]*)", requirement).groups()  # type: ignore[union-attr]
        if _extra_of(requirement) == extra:
            yield package, f"{installed(package) or 'not found'} ({asked.strip()})"


def _extras(needed: Sequence[str]) -> list[str]:
    found = {extra for requirement in needed if (extra := _extra_of(requirement)) is not None}
    return sorted(found.difference(_FOR_DEVELOPERS))


def _extra_of(requirement: str) -> str | None:
    found = re.search(r"""extra\s*==\s*["']([^"']+)""", requirement)
    return found[1] if found else None


def _variables(variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name in sorted(filter(_VARIABLES.match, variables)):
        yield name, ascii(variables[name]) if _SHOWN.fullmatch(name) else "(not shown)"


def _memory() -> str:
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for file in map(Path, _CGROUP_LIMITS):
        try:
            limit = int(file.read_text("ascii"))
        except (OSError, ValueError):
            continue
        if limit < total:
            return (
                f"{total / (1 << 30):.1f} GiB, of which this container may use "
                f"{limit / (1 << 30):.1f} GiB"
            )
    return f"{total / (1 << 30):.1f} GiB"


def installed(package: str) -> str | None:
    """Return the version of a package; None if it is not installed."""
    try:
        return version(package)
    except Exception:  # what an installer has left behind half done may fail in many ways
        return None


def _default_cluster() -> str:
    try:
        # It needs libraries, one of which may be what the report is about.
        from dnfscale.spec.cluster import ClusterSpec
    except Exception as error:
        return f"not known, because {type(error).__name__}: {error}"
    return ClusterSpec().kind
