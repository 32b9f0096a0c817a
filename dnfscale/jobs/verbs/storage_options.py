"""Options for reaching an object store, for the verbs that read or write without a spec."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

from dnfscale.errors import SpecError
from dnfscale.spec.keys import CredentialError
from dnfscale.spec.storage import Access, check_endpoint, check_open, check_path, is_remote

_POSITIONAL = ("CSV", "DATA", "DIR", "MODEL", "RUN", "SPEC")
"""Arguments without a name."""


def add_storage_options(verb: argparse.ArgumentParser) -> None:
    """Add the options to a verb; credentials are never among them."""
    group = verb.add_argument_group(
        "object storage", "for s3://, gs:// and abfs://; credentials: the environment"
    )
    group.add_argument(
        "--endpoint", metavar="URL", help="the store's server (default: the provider's)"
    )
    group.add_argument("--region", metavar="NAME", help="the store's region")
    group.add_argument(
        "--anonymous", action="store_true", help="read what everybody may read, without credentials"
    )


def access_from(options: argparse.Namespace) -> Access:
    """Return how to reach the store."""
    if options.endpoint is not None:
        _obeyed("--endpoint", check_endpoint, options.endpoint)
    return Access(options.endpoint, options.region, options.anonymous)


def place_from(option: str, given: str) -> str:
    """Return a path or URL of the command line, checked."""
    return _obeyed(option, check_path, given)


def file_from(option: str, given: str) -> Path:
    """Return a path of the command line that must be of this machine."""
    if is_remote(place_from(option, given)):
        raise SpecError(f"{option} must be a path of this machine, got the URL {given!r}")
    return Path(given)


def refuse_credentials(options: Mapping[str, object]) -> None:
    """Raise SpecError for a URL with credentials in any argument, before anything repeats it."""
    for name, value in options.items():
        for given in value if isinstance(value, list) else [value]:
            if isinstance(given, str) and is_remote(given):
                try:
                    check_open(given)
                except CredentialError as error:
                    raise SpecError(f"{_spelled(name)} {error}") from error


def _spelled(name: str) -> str:
    """Return an argument as --help shows it."""
    shown = name.removesuffix("s").upper()
    return shown if shown in _POSITIONAL else f"--{name.replace('_', '-')}"


def _obeyed(option: str, check: Callable[[str], str], given: str) -> str:
    try:
        return check(given)
    except CredentialError as error:
        raise SpecError(f"{option} {error}") from error
    except ValueError as error:
        raise SpecError(f"{option} must be {error}, got {given!r}") from error
