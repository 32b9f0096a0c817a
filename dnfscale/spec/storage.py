"""Where files are, as far as a path tells: on this machine, in an object store, or a dataset that
has a name.

    /data/visits.parquet   s3://bucket/visits/   abfs://container@account/visits/   paper:covertype

A spec may say how a store is reached. Credentials come from the environment or from the platform,
and are never part of a path, a spec or anything we write. Nothing is opened here.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from dnfscale.spec.checks import text, yes_no
from dnfscale.spec.keys import CredentialError, key
from dnfscale.spec.registry import CATALOGUES

SCHEMES = ("s3", "gs", "abfs", "abfss")
CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, or the machine's role",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS, or the machine's service account",
    "abfs": "AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN, or the platform's identity",
}
"""Where each kind of store takes its credentials from."""


@dataclass(frozen=True, slots=True)
class Access:
    """How an object store is reached, besides the credentials."""

    endpoint: str | None = key(
        lambda value: check_endpoint(text(value)),
        None,
        "default: the provider's own, or AWS_ENDPOINT_URL",
        example="https://minio.example:9000",
    )
    region: str | None = key(text, None, "where the bucket is", example="eu-north-1")
    anonymous: bool | None = key(
        yes_no, None, "read public data, without credentials", example=True
    )

    def or_else(self, other: Access) -> Access:
        """Return what is said here and, for what is not, what is said there."""
        return Access(
            other.endpoint if self.endpoint is None else self.endpoint,
            other.region if self.region is None else self.region,
            other.anonymous if self.anonymous is None else self.anonymous,
        )


DEFAULT_ACCESS = Access()


def is_remote(path: str) -> bool:
    """Return whether a path is a URL, not a local path."""
    return "://" in path


def is_named(path: str) -> bool:
    """Return whether a path is the name of a dataset, such as paper:covertype."""
    prefix, colon, _ = path.partition(":")
    return bool(colon) and prefix in CATALOGUES


def is_local(path: str) -> bool:
    """Return whether a path is a local one: neither a URL nor the name of a dataset."""
    return not is_remote(path) and not is_named(path)


def joined(path: str, name: str) -> str:
    """Return the path of a file or folder in another, local or not."""
    return f"{path.rstrip('/')}/{name}" if is_remote(path) else os.path.join(path, name)


def split_url(url: str) -> tuple[str, str, str]:
    """Return the scheme, the authority and the path of a URL; keys of a store are never quoted, so
    none is unquoted.
    """
    scheme, _, rest = url.partition("://")
    authority, _, path = rest.partition("/")
    return scheme.lower(), authority, path


def file_path(value: Any) -> str:
    """Check a path or URL of a spec."""
    return check_path(text(value))


def local_path(value: Any) -> str:
    """Check a path of a spec that must be of this machine."""
    if is_remote(file_path(value)):
        raise ValueError("a path of this machine, not an URL")
    return str(value)


def check_path(path: str) -> str:
    """Return a path or URL of a known kind; one that contains credentials is refused and not
    repeated.
    """
    if not is_remote(path):
        return path
    # First of all, because whoever refuses the URL for another reason repeats it.
    check_open(path)
    scheme, authority, rest = split_url(path)
    if scheme not in SCHEMES:
        raise ValueError(
            f"a path, or an URL that begins with {', '.join(f'{known}://' for known in SCHEMES)}"
        )
    if not authority:
        raise ValueError(f"an URL that names a bucket, such as {scheme}://bucket/folder")
    if rest and any(part in ("", ".", "..") for part in rest.removesuffix("/").split("/")):
        raise ValueError("an URL without empty, . or .. folders")
    return path


def check_endpoint(endpoint: str) -> str:
    """Return the URL of a store's server; one that contains credentials is refused and not
    repeated.
    """
    parts = urlsplit(endpoint)
    if "@" in parts.netloc or "@" in endpoint.partition("?")[0]:
        raise CredentialError(_without("the URL holds a user or a password", "s3"))
    try:
        port_is_number = parts.port is None or parts.port > 0
    except ValueError:
        port_is_number = False
    known_scheme = parts.scheme in ("http", "https")
    if not known_scheme or not parts.hostname or not port_is_number or parts.path.strip("/"):
        raise ValueError("the URL of a server, such as https://minio.example:9000")
    return endpoint


def check_open(path: str) -> None:
    """Raise CredentialError for a URL that contains credentials."""
    scheme, authority, rest = split_url(path)
    # A password may hold a slash, so that the @ behind it is in what looks like the path.
    user = authority.rpartition("@")[0] if "@" in authority or "@" not in rest else authority
    if ":" in user or ("@" in authority and not scheme.startswith("abfs")):
        raise CredentialError(_without("the URL holds a user or a password", scheme))
    secret = r"[?&][^=&/]*(sig|token|key|secret|password|credential)[^=&/]*=|[?&]X-Amz-"
    if re.search(secret, path, re.IGNORECASE):
        raise CredentialError(_without("the URL holds a key or a signature", scheme))


def _without(fault: str, scheme: str) -> str:
    known = CREDENTIALS.get(scheme[:4])
    advice = f", and set {known}" if known else ""
    return f"must not hold credentials, but {fault}; take it out{advice}"
