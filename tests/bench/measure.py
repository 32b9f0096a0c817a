"""`python -m tests.bench.measure CASE CONTENDER SETTING FILE`: one measurement, in a process of its
own.

Dask's workers import the main module of the process that starts them, so this one imports next to
nothing by itself.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Measure a contender at a setting and write its outcome as JSON."""
    import json
    from dataclasses import asdict

    from tests.bench.cases import find_case
    from tests.bench.setting import Setting

    case, contender, setting, file = arguments
    outcome = find_case(case).contender(contender).measure(Setting.from_json(setting))
    Path(file).write_text(json.dumps(asdict(outcome)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
