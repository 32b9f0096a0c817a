"""Options for data that are not Parquet, for the verbs that take DATA without a spec."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from typing import Any

from dnfscale.datasets.convert import Conversion
from dnfscale.engine.api import Engine
from dnfscale.errors import SpecError
from dnfscale.jobs import endings
from dnfscale.jobs.verbs.storage_options import access_from, place_from
from dnfscale.spec import checks
from dnfscale.spec.csv import CsvOptions
from dnfscale.spec.keys import built, keys_of
from dnfscale.spec.storage import is_remote
from dnfscale.spec.toml import parse_override, unknown

TABLE = (
    "a table as Parquet, CSV and the like, Delta or Iceberg: a file, directory, glob or URL, "
    "builtin:NAME or paper:NAME"
)
"""What DATA may be."""
_KEYS = keys_of(CsvOptions)


def add_data_options(verb: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the options to a verb, and return their group."""
    group = verb.add_argument_group("data that are not Parquet")
    group.add_argument(
        "--csv",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=f"how a CSV is written, as [data.csv] of a spec says it: {', '.join(_KEYS)} "
        "(default: recognized)",
    )
    group.add_argument(
        "--data-version",
        type=int,
        metavar="N",
        help="the version of a Delta table, or the snapshot of an Iceberg table (default: the "
        "current one)",
    )
    return group


def add_tables_option(group: argparse._ArgumentGroup) -> None:
    """Add the option of verbs that may work on the workers of others."""
    group.add_argument(
        "--tables",
        metavar="DIR",
        help="the folder or URL that keeps what is converted; one that all reach, if --scheduler "
        "has workers elsewhere (default: the cache)",
    )


def conversion_from(
    options: argparse.Namespace, *, launch: Callable[[], Engine] | None = None
) -> Conversion:
    """Return how data that are not Parquet are converted, on the workers that are launched."""
    tables = getattr(options, "tables", None)
    return Conversion(
        csv=csv_options(options.csv),
        version=options.data_version,
        places=() if tables is None else (_place(tables),),
        access=access_from(options),
        progress=lambda _: endings.check(),
        launch=launch,
    )


def says_of_data(options: argparse.Namespace) -> bool:
    """Say whether any of the options is given."""
    return bool(options.csv) or options.data_version is not None


def csv_options(texts: Iterable[str]) -> CsvOptions:
    """Return what KEY=VALUE say of a CSV; a list grows by each value that is said of it."""
    said: dict[str, Any] = {}
    for text in texts:
        name, value = _said(text)
        said[name] = [*said.get(name, ()), *value] if isinstance(value, list) else value
    checked = {name: _KEYS[name].checked(value, f"--csv {name}") for name, value in said.items()}
    return built(CsvOptions, checked)


def _said(text: str) -> tuple[str, Any]:
    name, equals, written = text.partition("=")
    name = name.strip()
    if not equals:
        raise SpecError(f"--csv takes KEY=VALUE, such as delimiter=';', got {text!r}")
    if name not in _KEYS:
        raise SpecError(f"--csv: {unknown(name, _KEYS)}, got {text!r}")
    _, value = parse_override(text)
    is_list = _KEYS[name].check is checks.texts
    if is_list:
        # A column may be called 2020, and -9 may stand for a missing value.
        return name, value if isinstance(value, list) else [written]
    return name, value if isinstance(value, str | bool) else written


def _place(tables: str) -> str:
    place = place_from("--tables", tables)
    return place if is_remote(place) else os.path.abspath(place)
