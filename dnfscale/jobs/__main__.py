"""`python -m dnfscale.jobs VERB`, which is also installed as `dnfscale`."""

import os
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from dnfscale.engine.dask.forking import prepare_workers
from dnfscale.engine.limits import limit_behind, room_for, room_to_start
from dnfscale.engine.streams import outlive_readers, require_stdout
from dnfscale.errors import LimitError
from dnfscale.jobs.endings import exit_code_of
from dnfscale.jobs.version import version_asked
from dnfscale.learn import LOADED


def main() -> int:
    """Carry out the command line of this process."""
    outlive_readers()
    version = version_asked(sys.argv[1:])
    if version is not None:
        return exit_code_of(lambda: _print(version))
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
    kind = "local"
    for argument in filter(os.path.isfile, arguments):
        kind = _cluster_kind(Path(argument)) or kind
    for argument in arguments:
        key, _, value = argument.removeprefix("--set=").partition("=")
        if key.strip() == "cluster.kind":
            kind = value.strip(" \"'")
    return kind == "local"


def _cluster_kind(file: Path) -> str | None:
    """Return the kind of cluster that a spec asks for; None if it asks for none, or is not for us
    to complain about.
    """
    try:
        cluster = tomllib.loads(file.read_text("utf-8")).get("cluster")
    except (OSError, ValueError, RecursionError):
        return None
    return cluster.get("kind") if isinstance(cluster, dict) else None


if __name__ == "__main__":
    sys.exit(main())
