"""`python -m dnfscale.jobs VERB`, which is also installed as `dnfscale`."""

import sys
from collections.abc import Sequence
from pathlib import Path

from dnfscale.engine.forking import prepare_workers
from dnfscale.engine.kinds import KINDS
from dnfscale.learn.loading import LOADED


def main() -> int:
    """Carry out the command line of this process."""
    if _seems_to_start_workers(sys.argv[1:]):
        prepare_workers(LOADED)
    # Imported only now, while the process from which workers are forked loads what they need.
    from dnfscale.jobs.cli import main as carry_out

    return carry_out()


def _seems_to_start_workers(arguments: Sequence[str]) -> bool:
    """Guess whether a command will start workers on this machine; a wrong guess only costs time."""
    if arguments[:1] != ["run"] or any(argument.startswith("--scheduler") for argument in arguments):
        return False
    texts = [*arguments, *(Path(file).read_text("utf-8", "replace") for file in arguments if Path(file).is_file())]
    others = [kind for kind in KINDS if kind != "local"]
    return not any(f'"{kind}"' in text or text.endswith(f"cluster.kind={kind}") for text in texts for kind in others)


if __name__ == "__main__":
    sys.exit(main())
