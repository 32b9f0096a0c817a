"""What is known of the machine before a cluster is started."""

from __future__ import annotations

import os

from dnfscale.engine.launch import cores


def test_the_processors_are_those_that_may_be_used_or_those_that_there_are(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 3, 5}, raising=False)
    assert cores() == 3
    # As on macOS and Windows.
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert cores() == 7
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1
