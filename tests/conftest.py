"""What all tests share: how hard hypothesis tries, one local cluster, and where the paper's
datasets are.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from hypothesis import settings

from dnfscale.datasets.named import FOLDER_VARIABLE
from dnfscale.engine.dask.engine import ClusterEngine
from dnfscale.engine.dask.local import start_local
from dnfscale.learn import LOADED
from dnfscale.spec.cluster import ClusterSpec
from tests.jobs.running import Desk, keeping_signals, small_table
from tests.object_store import Store, missing, serving

settings.register_profile("here", deadline=None, max_examples=30)
settings.register_profile("ci", deadline=None, max_examples=30, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

# pytest-xdist tells its processes how wide the terminal is, and what they start would break its
# lines there.
os.environ.pop("COLUMNS", None)

SLOW_FOLDERS = ("bench", "deploy", "engine", "faults", "golden")
"""Folders whose tests start clusters, or run whole jobs."""
SLOW_FIXTURES = frozenset(
    ("browser", "cluster", "paper_data", "postgres", "quiet", "rates", "store", "studied")
)
"""Fixtures that start servers, read whole datasets, or run a study for all tests of a file."""
RUNS_JOBS, ONLY_READS_SPECS = "desk", "spec"
"""The fixture whose users run commands, and the folder where these only read a spec."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what starts processes or runs jobs; other slow tests are marked one by one."""
    for item in items:
        folder = item.nodeid.split("/")[1]
        fixtures = set(getattr(item, "fixturenames", ()))
        runs_jobs = RUNS_JOBS in fixtures and folder != ONLY_READS_SPECS
        if runs_jobs or folder in SLOW_FOLDERS or fixtures & SLOW_FIXTURES:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def cluster() -> Iterator[ClusterEngine]:
    """One local cluster for all tests that need one; a test that harms its workers starts
    its own.
    """
    engine = start_local(ClusterSpec(workers=2, memory_limit="1GiB", fan_in=3), loaded=LOADED)
    yield engine
    engine.close()


@pytest.fixture
def paper_data() -> Path:
    """The folder of the paper's datasets."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        pytest.skip(
            f"the environment variable {FOLDER_VARIABLE} does not name a folder with the "
            "paper's datasets"
        )
    return Path(folder)


@pytest.fixture
def in_time() -> Callable[[int], AbstractContextManager[None]]:
    """Make what would otherwise go on for ever fail."""

    @contextmanager
    def limited(seconds: int) -> Iterator[None]:
        def stop(_signal: int, _frame: object) -> None:
            pytest.fail(f"not done after {seconds} s")

        before = signal.signal(signal.SIGALRM, stop)
        signal.alarm(seconds)
        try:
            yield
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)

    return limited


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    """An empty folder, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    with keeping_signals():
        yield Desk(tmp_path, capsys)


@pytest.fixture
def laid_desk(desk: Desk) -> Desk:
    """A folder with a small table in t.parquet."""
    desk.table(small_table())
    return desk


@pytest.fixture(scope="session")
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    """A real object store on loopback: S3, unless a test asks for another kind."""
    scheme = getattr(request, "param", "s3")
    lacking = missing(scheme)
    if lacking is not None:
        pytest.skip(lacking)
    with serving(scheme, tmp_path_factory.mktemp("store")) as server:
        yield server


@pytest.fixture
def store_keys(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that may use the store."""
    for name, value in store.keys.environment.items():
        monkeypatch.setenv(name, value)
