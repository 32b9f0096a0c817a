"""`python -m dnfscale.jobs VERB`, which is also installed as `dnfscale`."""

import faulthandler
import os
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import dnfscale
from dnfscale.engine.dask.forking import prepare_workers
from dnfscale.engine.limits import limit_behind, room_for, room_to_start
from dnfscale.engine.streams import outlive_readers, require_stdout
from dnfscale.errors import LimitError
from dnfscale.jobs.endings import exit_code_of
from dnfscale.jobs.version import version_asked
from dnfscale.learn import LOADED

_LARGE_BYTES = 64 << 20
"""Files of more bytes than these are learned from on workers, as a rule."""


def main() -> int:
    """Carry out the command line of this process."""
    outlive_readers()
    # If C code ends the process, stderr says where.
    faulthandler.enable(2)
    version = version_asked(sys.argv[1:])
    if version is not None:
        return exit_code_of(lambda: _print(version))
    if sys.argv[1:2] == ["run"] and "--json" not in sys.argv and sys.stderr.isatty():
        # Loading the libraries takes longer than people like to look at nothing.
        print(f"dnfscale {dnfscale.__version__}", file=sys.stderr, flush=True)
    try:
        room_to_start().check()
        if _seems_to_start_workers(sys.argv[1:]) and _has_room_for_workers():
            prepare_workers(LOADED)
        # Imported only now, while the process from which workers are forked loads what they need.
        from dnfscale.jobs.cli import main as carry_out
    except Exception as error:
        limit = limit_behind(error)
        if limit is None:
            raise
        print(f"dnfscale: {limit}", file=sys.stderr)
        return limit.exit_code
    return carry_out()


def _print(text: str) -> None:
    require_stdout(True)
    print(text)


def _has_room_for_workers() -> bool:
    """Say whether workers could be started; if not, the job itself will say why."""
    try:
        room_for(workers=1).check()
    except LimitError:
        return False
    return True


def _seems_to_start_workers(arguments: Sequence[str]) -> bool:
    """Guess whether a command will start workers on this machine; a wrong guess only costs time."""
    if arguments[:1] != ["run"] or any(
        argument.startswith("--scheduler") for argument in arguments
    ):
        return False
    kind: str | None = None
    for argument in filter(os.path.isfile, arguments):
        kind = _cluster_kind(Path(argument)) or kind
    for argument in arguments:
        key, _, value = argument.removeprefix("--set=").partition("=")
        if key.strip() == "cluster.kind":
            kind = value.strip(" \"'")
        elif key.strip().startswith("cluster."):
            kind = kind or "local"
    return kind == "local"


def _cluster_kind(file: Path) -> str | None:
    """Return the kind of cluster that a spec will come to; None if that is not clear, or if the
    spec is not for us to complain about.
    """
    try:
        spec = tomllib.loads(file.read_text("utf-8"))
        cluster = spec.get("cluster")
        if isinstance(cluster, dict):
            return str(cluster.get("kind", "local"))
        # Without the table, workers come with large files and with methods that are fitted too.
        path = file.parent / spec["data"]["path"]
        return "local" if "baselines" in spec or _n_bytes(path) > _LARGE_BYTES else None
    except (OSError, ValueError, RecursionError, LookupError, TypeError):
        return None


def _n_bytes(path: Path) -> int:
    """Return the size of a file, or of the files right in a folder."""
    files = path.iterdir() if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files)


if __name__ == "__main__":
    sys.exit(main())
