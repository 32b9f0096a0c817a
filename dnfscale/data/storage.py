"""Opens what a path names: a file of this machine, or one in an object store.

What is sent to a worker is a path and an `Access`; each process opens the file system for itself.
"""

from __future__ import annotations

import os
import re
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow.fs as pafs

from dnfscale.errors import first_line
from dnfscale.spec.storage import CREDENTIALS, Access, check_path, is_remote, split_url

_ATTEMPTS = 5
_CONNECT_S = 5
_REQUEST_S = 20
"""How often a request is tried, and how long each try may take: an unreachable store is reported
within two minutes.
"""

_SECRETS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AZURE_STORAGE_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    "AZURE_CLIENT_SECRET",
)
"""Variables whose values are never shown, not even if a store's own message contains them."""
_PLACES = (
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AWS_PROFILE",
    "AWS_REGION",
    "AZURE_STORAGE_ACCOUNT",
    "GOOGLE_APPLICATION_CREDENTIALS",
)
"""Other variables that decide how a store is opened."""


def is_within(path: str, folder: str) -> bool:
    """Return whether a path is a folder itself or lies in it."""
    if is_remote(path) != is_remote(folder):
        return False
    if is_remote(path):
        return f"{path.rstrip('/')}/".startswith(f"{folder.rstrip('/')}/")
    return Path(path).resolve().is_relative_to(Path(folder).resolve())


def split(path: str) -> tuple[str, str]:
    """Return the folder of a file, and its name in it."""
    folder, _, name = path.rpartition("/")
    return folder or ("/" if path.startswith("/") else "."), name


def located(path: str, access: Access) -> tuple[Any, str]:
    """Return the file system that holds a path, and the path in it."""
    if not is_remote(path):
        return _local(), os.path.abspath(path)
    scheme, authority, rest = split_url(path)
    container, _, account = authority.partition("@")
    who = tuple(os.environ.get(variable) for variable in (*_SECRETS, *_PLACES))
    return _store(scheme, account, access, who), f"{container}/{rest.strip('/')}".rstrip("/")


def spelled(inner: str, like: str) -> str:
    """Return the URL of a path in a file system, given another URL of the same one; a local path
    stays as it is.
    """
    if not is_remote(like):
        return inner
    scheme, authority, _ = split_url(like)
    account = authority.partition("@")[2]
    container, _, rest = inner.partition("/")
    return f"{scheme}://{container}{'@' + account if account else ''}/{rest}"


def read_bytes(path: str, access: Access, *, most: int) -> tuple[int, bytes | None]:
    """Return the size of a file, and its content unless it is larger than `most` bytes."""
    if is_remote(check_path(path)):
        filesystem, inner = located(path, access)
        with filesystem.open_input_file(inner) as handle:
            return handle.size(), bytes(handle.read()) if handle.size() <= most else None
    size = os.stat(path).st_size
    return size, Path(path).read_bytes() if size <= most else None


def told(error: BaseException, path: str = "") -> str:
    """Say in one line why a file or a store could not be used, and never who asked."""
    text = first_line(error)
    if is_remote(path):
        scheme = split_url(path)[0][:4]
        known = CREDENTIALS.get(scheme, "the environment")
        if isinstance(error, FileNotFoundError):
            return "there is nothing of this name"
        # Quoted names of buckets and keys may be any words, so they must not be matched below.
        said = re.sub(r"'[^']*'", "", text)
        if re.search(r"NO_SUCH_BUCKET|NoSuchBucket|ContainerNotFound", said):
            return "there is no such bucket"
        if re.search(
            r"ACCESS_DENIED|ACCESS_KEY|SIGNATURE|FORBIDDEN|HTTP 40[13]|40[13] \(|Authenti|OAuth",
            said,
            re.I,
        ):
            return f"access is denied: expected credentials that may do this, from {known}"
        if re.search(
            r"NETWORK_CONNECTION|REQUEST_TIMEOUT|SLOW_DOWN|UNAVAILABLE|CURL error|connect", said
        ):
            detail = re.search(r"Details: (.*)", said)
            reason = f" ({detail[1].strip(' .)')})" if detail else ""
            return (
                f"the store does not answer, or the connection broke each time it was tried{reason}"
            )
    elif isinstance(error, OSError) and error.strerror:
        text = error.strerror
    for variable in _SECRETS:
        if len(os.environ.get(variable, "")) > 3:
            text = text.replace(os.environ[variable], "***")
    return text


@lru_cache(maxsize=1)
def _local() -> Any:
    return pafs.LocalFileSystem()


@lru_cache(maxsize=16)
def _store(scheme: str, account: str, access: Access, who: tuple[str | None, ...]) -> Any:  # noqa: ARG001
    """Open a store, once for each `who`: with other credentials in the environment it is opened
    again.
    """
    if scheme == "s3":
        return _s3(access)
    return _gcs(access) if scheme == "gs" else _azure(account, access)


def _s3(access: Access) -> Any:
    given = (
        access.endpoint
        or os.environ.get("AWS_ENDPOINT_URL_S3")
        or os.environ.get("AWS_ENDPOINT_URL")
    )
    scheme, server = _server(given)
    options: dict[str, Any] = {} if access.region is None else {"region": access.region}
    if server is not None:
        options |= {"scheme": scheme, "endpoint_override": server}
    return pafs.S3FileSystem(
        anonymous=bool(access.anonymous),
        connect_timeout=_CONNECT_S,
        request_timeout=_REQUEST_S,
        retry_strategy=pafs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
        # A small file is one request, not the three of an upload in parts.
        allow_delayed_open=True,
        **options,
    )


def _gcs(access: Access) -> Any:
    scheme, server = _server(access.endpoint)
    options = {} if server is None else {"scheme": scheme, "endpoint_override": server}
    return pafs.GcsFileSystem(
        anonymous=bool(access.anonymous), retry_time_limit=timedelta(seconds=_REQUEST_S), **options
    )


def _azure(account: str, access: Access) -> Any:
    account = account or os.environ.get("AZURE_STORAGE_ACCOUNT", "")
    if not account:
        raise OSError(
            "the URL names no account, as abfs://container@account/folder does, nor does "
            "AZURE_STORAGE_ACCOUNT"
        )
    scheme, server = _server(access.endpoint)
    if access.anonymous and server is None:
        host = account if "." in account else f"{account}.dfs.core.windows.net"
        return pafs.FileSystem.from_uri(f"abfss://any@{host}/?credential_kind=anonymous")[0]
    options: dict[str, Any] = (
        {} if server is None else {"blob_storage_scheme": scheme, "dfs_storage_scheme": scheme}
    )
    if server is not None:
        options |= {"blob_storage_authority": server, "dfs_storage_authority": server}
    for name, variable in (
        ("account_key", "AZURE_STORAGE_KEY"),
        ("sas_token", "AZURE_STORAGE_SAS_TOKEN"),
    ):
        if os.environ.get(variable) and len({"account_key", "sas_token"} & set(options)) == 0:
            options[name] = os.environ[variable]
    return pafs.AzureFileSystem(account.partition(".")[0], **options)


def _server(endpoint: str | None) -> tuple[str, str | None]:
    if endpoint is None:
        return "https", None
    parts = urlsplit(endpoint)
    return parts.scheme, parts.netloc
