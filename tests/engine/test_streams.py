"""Streams that outlive whoever reads them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from tests.jobs.running import PATIENCE_S, surroundings

_START = "import os, sys; from dnfscale.engine.streams import *; outlive_readers(); "


def started(code: str, **streams: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _START + code],
        env=surroundings(),
        text=True,
        timeout=PATIENCE_S,
        check=False,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams},
    )


def test_streams_that_can_be_written_are_what_they_were():
    done = started("print('ä'); print('ö', file=sys.stderr); print(sys.stdout.encoding)")
    assert (done.returncode, done.stdout, done.stderr) == (0, "ä\nutf-8\n", "ö\n")


def test_a_file_opened_later_never_takes_the_place_of_a_closed_stream(tmp_path):
    code = (
        f"file = open({str(tmp_path / 'data')!r}, 'w'); print(0); os.system('echo 0 >&2'); "
        "file.write('kept')"
    )
    command = [sys.executable, "-c", _START + code]
    closed = ["bash", "-c", '"$@" <&- >&- 2>&-', "bash", *command]
    assert (
        subprocess.run(closed, env=surroundings(), timeout=PATIENCE_S, check=False).returncode == 0
    )
    assert (tmp_path / "data").read_text(encoding="utf-8") == "kept"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_lines_are_written_again_as_soon_as_there_is_room(tmp_path, unbuffered):
    """As on a disk that was full for a while; here the place of the descriptor is changed."""
    code = (
        "print('lost', file=sys.stderr); "
        f"os.dup2(os.open({str(tmp_path / 'log')!r}, os.O_WRONLY | os.O_CREAT), 2); "
        "print('told', file=sys.stderr)"
    )
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", _START + code],
            env=surroundings(PYTHONUNBUFFERED=unbuffered),
            stderr=full,
            timeout=PATIENCE_S,
            check=False,
        )
    assert done.returncode == 0
    assert (tmp_path / "log").read_text(encoding="utf-8") == "told\n"


def test_a_pipe_that_does_not_block_is_waited_for():
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    lines, read = 20_000, []

    def read_all() -> None:
        with os.fdopen(reading) as pipe:
            read.extend(pipe)

    reader = threading.Thread(target=read_all)
    reader.start()
    done = started(f"[print('a line of some length') for _ in range({lines})]", stdout=writing)
    os.close(writing)
    reader.join()
    assert (done.returncode, done.stderr) == (0, "")
    assert len(read) == lines


def test_a_worker_outlives_its_readers_too(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        "from dnfscale.spec.cluster import ClusterSpec\n"
        "from dnfscale.engine.dask.local import start_local\n"
        "def speak(item):\n"
        "    for stream in (sys.stdout, sys.stderr):\n"
        "        print('nobody hears this', file=stream, flush=True)\n"
        "    return item\n"
        "if __name__ == '__main__':\n"
        "    engine = start_local(ClusterSpec(workers=1, memory_limit='1GiB'))\n"
        "    answer = engine.map('speak', [1, 2], speak)\n"
        "    engine.close()\n"
        "    sys.exit(answer != [1, 2])\n",
        encoding="utf-8",
    )
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, script],
            env=surroundings(),
            stdout=full,
            stderr=full,
            timeout=PATIENCE_S,
            check=False,
        )
    assert done.returncode == 0
