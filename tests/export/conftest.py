"""Fixtures of the tests of exports."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from tests.export import examples
from tests.export.examples import Case
from tests.export.postgres import Postgres, private_server, server_programs

SETS = (
    "breast_cancer",
    "adult drop",
    "adult indicator",
    "adult lines",
    "adult checklist",
    "hostile",
    "lines",
    "checklist",
    "mixed",
    "german_credit",
    "road_safety",
)


@pytest.fixture(params=SETS)
def case(request: pytest.FixtureRequest) -> Case:
    """A model learned from a dataset, and rows to score; the paper's datasets only where
    they are.
    """
    name = request.param
    if name == "breast_cancer":
        return examples.breast_cancer()
    if name in ("hostile", "lines", "checklist", "mixed"):
        return getattr(examples, name)()
    if name in ("adult lines", "adult checklist"):
        return examples.adult_written(name.removeprefix("adult "))
    if name.startswith("adult"):
        return examples.adult(name.removeprefix("adult "))
    request.getfixturevalue("paper_data")
    return examples.paper(name)


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB of one's own."""
    with duckdb.connect() as opened:
        yield opened


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One private PostgreSQL server for all tests that need one."""
    programs = server_programs()
    if programs is None:
        pytest.skip(
            "no PostgreSQL server is installed here: initdb, postgres and psql were not found"
        )
    with private_server(programs) as server:
        yield server
