"""What all tests share: how hard hypothesis tries, one local cluster, and where the paper's datasets are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from dnfscale.data.datasets import FOLDER_VARIABLE
from dnfscale.engine.cluster import ClusterEngine

settings.register_profile("here", deadline=None, max_examples=30)
settings.register_profile("ci", deadline=None, max_examples=30, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(scope="session")
def cluster() -> Iterator[ClusterEngine]:
    """One local cluster for all tests that need one; a test that harms its workers starts its own."""
    engine = ClusterEngine.local(workers=2, memory_limit="1GiB", fan_in=3)
    yield engine
    engine.close()


@pytest.fixture
def paper_data() -> Path:
    """The folder of the paper's datasets."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        pytest.skip(f"the environment variable {FOLDER_VARIABLE} does not name a folder with the paper's datasets")
    return Path(folder)
