"""The certificates that a cluster talks with: those of the spec, of Dask's configuration, or made
for one run.
"""

from __future__ import annotations

import os
import ssl
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from distributed.security import Security

from dnfscale.errors import ClusterError, SpecError
from dnfscale.spec.cluster import TlsFiles

ROLES = ("client", "scheduler", "worker")
"""The roles for which Dask takes a certificate each."""


def security_of(tls: TlsFiles | None) -> Security | None:
    """Return Dask's Security for these files; None, where there are none, leaves it to Dask's own
    configuration.
    """
    return None if tls is None else Security(**by_role(tls))


def temporary_security() -> Security:
    """Return Dask's Security with a certificate for one run, which all its parts show and trust, in
    memory.

    Workers get it through the pipe by which they are started: it is in no file, environment or
    command line.
    """
    certificate, key = _certificate()
    # Dask takes the contents of a file wherever it takes its path.
    return Security(**by_role(TlsFiles(certificate, certificate, key)))


def by_role(tls: TlsFiles) -> dict[str, Any]:
    """Return the files as Dask has them, the same for every role."""
    certificates = {f"tls_{role}_cert": tls.cert_file for role in ROLES}
    keys = {f"tls_{role}_key": tls.key_file for role in ROLES}
    return {"tls_ca_file": tls.ca_file, "require_encryption": True, **certificates, **keys}


def context_of(security: Security | None) -> ssl.SSLContext:
    """Return the SSL context with which a client connects to a scheduler."""
    try:
        context = (security or Security()).get_connection_args("client")["ssl_context"]
    except (OSError, ssl.SSLError) as error:
        raise SpecError(
            f"the files of [cluster.tls] must fit together, but they do not: {error}; "
            "cert_file must be the "
            "certificate of key_file",
            "cluster.tls",
        ) from error
    if context is None:
        raise ClusterError(
            "expected files for TLS, but neither [cluster.tls] nor Dask's configuration names any"
        )
    assert isinstance(context, ssl.SSLContext)
    return context


def temporary_files(folder: Path) -> TlsFiles:
    """Make a certificate for one run, and write it where only this user can read it."""
    certificate, key = _certificate()
    files = TlsFiles(*(str(folder / name) for name in ("ca.pem", "cert.pem", "key.pem")))
    contents = (certificate, certificate, key)
    for path, content in zip(
        (files.ca_file, files.cert_file, files.key_file), contents, strict=True
    ):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(content)
    return files


def _certificate() -> tuple[str, str]:
    """Make a certificate that is its own authority, and its key, in PEM.

    Its key is on an elliptic curve: Dask's own Security.temporary() takes an RSA key, which takes
    20 to 200 ms to make instead of 1, and 20 times as long at every connection. It is always valid,
    because the machine's clock may be set back or forward while a job runs, and ends with its key,
    which is gone after the run.
    """
    # 50 ms, which only a process that starts a cluster spends.
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "dnfscale")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime(1970, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(9999, 12, 31, tzinfo=UTC))
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return certificate.public_bytes(Encoding.PEM).decode("ascii"), secret.decode("ascii")
