"""The kind pbs, with qsub, qstat and qdel that run the script at once: PBS itself is not in
Debian.
"""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

import pytest

from dnfscale.engine.dask.settings import ELSEWHERE

QSUB = """\
#!/bin/sh
set -e
cd "$(dirname "$0")"
number=$(($(ls script.* 2>/dev/null | wc -l) + 1))
grep -v '^%' "$1" > "script.$number"
setsid sh "script.$number" > "output.$number" 2>&1 &
echo $! > "pid.$number"
echo "$number.server"
"""
QDEL = """\
#!/bin/sh
cd "$(dirname "$0")"
kill -- "-$(cat "pid.${1%%.*}")" && mv "pid.${1%%.*}" "ended.${1%%.*}"
"""
QSTAT = """\
#!/bin/sh
cd "$(dirname "$0")"
ls pid.*
"""


@pytest.fixture
def commands(tmp_path: Path) -> Path:
    """A folder with the commands of PBS."""
    if importlib.util.find_spec("dask_jobqueue") is None:
        pytest.skip("dask-jobqueue is not installed: pip install 'dnfscale[pbs]'")
    folder = tmp_path / "pbs"
    folder.mkdir()
    for name, text in {"qsub": QSUB, "qdel": QDEL, "qstat": QSTAT}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


@pytest.mark.portable
def test_the_quickstart_gives_the_same_result_and_every_job_is_deleted(
    commands, quickstart, serially
):
    settings = {
        "kind": "pbs",
        "workers": 1,
        "pbs.queue": "main",
        "pbs.walltime": "00:10:00",
        "pbs.account": "me",
    }
    options = [
        part for key, value in settings.items() for part in ("--set", f"cluster.{key}={value}")
    ]
    result, environment = quickstart(*options, PATH=f"{commands}:{os.environ['PATH']}")
    assert result == serially
    assert environment["workers"] == 1
    assert sorted(path.name for path in commands.glob("*.1")) == ["ended.1", "output.1", "script.1"]
    script = (commands / "script.1").read_text()
    for directive in ("-q main", "-l walltime=00:10:00", "-A me", "-l select=1:ncpus=1:mem="):
        assert re.search(rf"^#PBS {directive}", script, flags=re.MULTILINE), script
    told = dict(re.findall(r"^export (\w+)=(.+)$", script, flags=re.MULTILINE))
    assert told == ELSEWHERE.as_environment()
    assert re.search(r"--tls-key \S+/\.dnfscale-\w+/key\.pem", script)
