"""The jobs of a suite are threads of one process, and each reads and writes results."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.report.runs import plain_run

N_PROCESSES = 20
"""Of so many, most ended with a segmentation fault before records were made one after another."""

FIRST_READ_AT_ONCE = """
import json, os, sys, threading
from dnfscale.results.result import parse_result

record = json.load(sys.stdin)
sys.setswitchinterval(1e-6)
gate = threading.Barrier(8)

def read():
    gate.wait()
    parse_result(record)

for _ in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        readers = [threading.Thread(target=read) for _ in range(8)]
        for each in readers:
            each.start()
        for each in readers:
            each.join()
        os._exit(0)
    print(os.waitpid(child, 0)[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked here")
def test_threads_that_read_their_first_result_at_once_do_not_end_the_process():
    ended = subprocess.run(
        [sys.executable, "-c", FIRST_READ_AT_ONCE, str(N_PROCESSES)],
        input=json.dumps(plain_run().result),
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.split() == ["0"] * N_PROCESSES, ended.stderr
