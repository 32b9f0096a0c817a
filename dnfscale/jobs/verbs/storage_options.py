"""Options for reaching an object store, for the verbs that read or write without a spec."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from dnfscale.errors import SpecError
from dnfscale.spec.keys import CredentialError
from dnfscale.spec.storage import Access, check_endpoint, check_path


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


def _obeyed(option: str, check: Callable[[str], str], given: str) -> str:
    try:
        return check(given)
    except CredentialError as error:
        raise SpecError(f"{option} {error}") from error
    except ValueError as error:
        raise SpecError(f"{option} must be {error}, got {given!r}") from error
