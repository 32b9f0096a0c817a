"""The certificates that a cluster talks with: those of the spec, of Dask's configuration, or made for one run."""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from typing import Any

from distributed.security import Security

from dnfscale.errors import ClusterError, SpecError
from dnfscale.spec.cluster import TlsFiles

ROLES = ("client", "scheduler", "worker")
"""The roles for which Dask takes a certificate each."""


def security_of(tls: TlsFiles | None) -> Security | None:
    """Return Dask's Security for these files; None, where there are none, leaves it to Dask's own configuration."""
    return None if tls is None else Security(**by_role(tls))


def by_role(tls: TlsFiles) -> dict[str, Any]:
    """Return the files as Dask has them, the same for every role: paths, never their contents."""
    certificates = {f"tls_{role}_cert": tls.cert_file for role in ROLES}
    keys = {f"tls_{role}_key": tls.key_file for role in ROLES}
    return {"tls_ca_file": tls.ca_file, "require_encryption": True, **certificates, **keys}


def context_of(security: Security | None) -> ssl.SSLContext:
    """Return the SSL context with which a client connects to a scheduler."""
    try:
        context = (security or Security()).get_connection_args("client")["ssl_context"]
    except (OSError, ssl.SSLError) as error:
        raise SpecError(
            f"the files of [cluster.tls] must fit together, but they do not: {error}; cert_file must be the "
            "certificate of key_file",
            "cluster.tls",
        ) from error
    if context is None:
        raise ClusterError("expected files for TLS, but neither [cluster.tls] nor Dask's configuration names any")
    assert isinstance(context, ssl.SSLContext)
    return context


def temporary_files(folder: Path) -> TlsFiles:
    """Make an authority and a certificate for one run, and write them where only this user can read them."""
    made = Security.temporary()
    files = TlsFiles(*(str(folder / name) for name in ("ca.pem", "cert.pem", "key.pem")))
    contents = (made.tls_ca_file, made.tls_client_cert, made.tls_client_key)
    for path, content in zip((files.ca_file, files.cert_file, files.key_file), contents, strict=True):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(str(content))
    return files
