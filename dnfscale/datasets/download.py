"""Files from the web: streamed, resumed, checked, and whole or not there at all.

Bytes go to a file that ends in `.part`, next to the target. When a transfer breaks, the rest is
asked for with `Range` and `If-Range`, so that a server whose file has changed, or that does not
support ranges, sends all of it again. The file gets its name when it is complete and its checksum
is right; otherwise nothing is left of it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import http.client
import os
import re
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn
from urllib.parse import urlsplit

from dnfscale.errors import DataError

Progress = Callable[[int, int | None], None]
"""Called with the bytes received so far, and with the total if that is known."""

TIMEOUT_S = 30.0
"""How long a server may stay silent."""
RETRIES = 4
_CHUNK_BYTES = 1 << 16
_LONGEST_WAIT_S = 30.0
_TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}


def fetch(
    url: str,
    target: Path,
    *,
    checksum: str | None = None,
    progress: Progress | None = None,
    timeout_s: float = TIMEOUT_S,
    retries: int = RETRIES,
    backoff_s: float = 1.0,
) -> None:
    """Download a file by http or https; the target is replaced once all of it is here.

    A checksum is written `sha256:...` or `md5:...`. The pause before the first retry is
    `backoff_s`, and doubles with each further one.
    """
    if urlsplit(url).scheme not in ("http", "https"):
        raise DataError(f"{url}: expected an address that begins with http:// or https://")
    part = target.with_name(target.name + ".part")
    transfer = _Transfer(url, part, progress, timeout_s)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)
        _persist(transfer, retries, backoff_s)
        if checksum is not None:
            _check(url, part, checksum)
        os.replace(part, target)
    except OSError as error:
        raise DataError(
            f"{target} cannot be written: {error.strerror or error}; choose another folder"
        ) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


class _BrokenError(Exception):
    """A transfer that failed in a way that may be temporary."""

    def __init__(self, message: str, wait_s: float = 0.0) -> None:
        super().__init__(message)
        self.wait_s = wait_s
        """How long the server asks to wait before the next try."""


@dataclass(slots=True)
class _Transfer:
    """A download under way."""

    url: str
    part: Path
    progress: Progress | None
    timeout_s: float
    validator: str | None = None
    """The server's identifier of this state of the file: an ETag, or the time of its last
    modification.
    """
    total: int | None = None

    @property
    def done(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def restart(self) -> None:
        """Forget what was received, so that the next try asks for the whole file."""
        self.validator = None


def _persist(transfer: _Transfer, retries: int, backoff_s: float) -> None:
    """Try until the file is complete, with at most this many retries."""
    for attempt in range(retries + 1):
        try:
            _attempt(transfer)
            return
        except _BrokenError as broken:
            if attempt == retries:
                tries = f"after {retries + 1} tries" if retries else "at the only try"
                raise DataError(
                    f"{transfer.url}: expected the whole file, but {broken} {tries}; try "
                    "again later"
                ) from broken
            time.sleep(min(max(backoff_s * 2**attempt, broken.wait_s), _LONGEST_WAIT_S))


def _attempt(transfer: _Transfer) -> None:
    # Bytes already received count only if the server can tell whether its file is still the same.
    done = transfer.done if transfer.validator else 0
    try:
        response = _opener().open(_request(transfer, done), timeout=transfer.timeout_s)
    except urllib.error.HTTPError as error:
        with error:
            _refused(transfer, error)
    except urllib.error.URLError as error:
        _unreachable(transfer, error.reason, done)
    except (OSError, http.client.HTTPException) as error:
        _unreachable(transfer, error, done)
    with response, open(transfer.part, "ab") as file:
        _begin(transfer, response, done, file)
        _receive(transfer, response, file)
    received = transfer.done
    if transfer.total is not None and received != transfer.total:
        raise _BrokenError(f"the transfer ended at {received:,} of {transfer.total:,} bytes")


def _request(transfer: _Transfer, done: int) -> urllib.request.Request:
    # Without an encoding, the Content-Length is that of the file itself.
    headers = {"User-Agent": "dnfscale", "Accept-Encoding": "identity"}
    if done:
        headers |= {"Range": f"bytes={done}-", "If-Range": str(transfer.validator)}
    return urllib.request.Request(transfer.url, headers=headers)


def _opener() -> urllib.request.OpenerDirector:
    """Return an opener that follows redirections to http and https only: no files, no ftp."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler,
        urllib.request.UnknownHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPRedirectHandler,
        urllib.request.HTTPErrorProcessor,
    ):
        opener.add_handler(handler())
    return opener


def _begin(transfer: _Transfer, response: Any, done: int, file: BinaryIO) -> None:
    """Determine where the bytes go and how many there will be."""
    if response.status == 206 and done:
        match = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
        if match is None or int(match[1]) != done or match[2] not in ("*", str(transfer.total)):
            transfer.restart()
            raise _BrokenError(f"the server sent another part than bytes {done:,} to the end")
        return
    if response.status != 200:
        raise DataError(
            f"{transfer.url}: expected the file, but the server answered "
            f"{response.status}; check the address"
        )
    file.seek(0)
    file.truncate()
    length = response.headers.get("Content-Length", "")
    transfer.total = int(length) if length.isdigit() else None
    tag = response.headers.get("ETag", "")
    # A weak tag, W/"...", says that two states are equivalent, not that their bytes are the same.
    transfer.validator = tag if tag.startswith('"') else response.headers.get("Last-Modified")


def _receive(transfer: _Transfer, response: Any, file: BinaryIO) -> None:
    done = file.tell()
    while True:
        if transfer.progress is not None:
            transfer.progress(done, transfer.total)
        wanted = (
            _CHUNK_BYTES if transfer.total is None else min(_CHUNK_BYTES, transfer.total - done)
        )
        if not wanted:
            return
        try:
            # read1 returns what has arrived so far, so that nothing is lost if no more comes.
            chunk = response.read1(wanted)
        except TimeoutError as error:
            raise _BrokenError(
                f"the server stayed silent for {transfer.timeout_s:g} s at {done:,} bytes"
            ) from error
        except (OSError, http.client.HTTPException) as error:
            raise _BrokenError(f"the connection broke at {done:,} bytes") from error
        if not chunk:
            return
        file.write(chunk)
        done += len(chunk)


def _refused(transfer: _Transfer, error: urllib.error.HTTPError) -> NoReturn:
    said = f"the server answered {error.code} ({error.reason})"
    if error.code == 416:
        transfer.restart()
        raise _BrokenError(said) from error
    if error.code in _TRY_AGAIN:
        wait = (error.headers.get("Retry-After") or "") if error.headers else ""
        raise _BrokenError(said, float(wait) if wait.isdigit() else 0.0) from error
    hint = (
        "the file is not there any more; check the address"
        if error.code in (404, 410)
        else "check the address"
    )
    raise DataError(f"{transfer.url}: expected the file, but {said}; {hint}") from error


def _unreachable(transfer: _Transfer, reason: object, done: int) -> NoReturn:
    host = urlsplit(transfer.url).netloc
    if isinstance(reason, TimeoutError):
        raise _BrokenError(f"{host} did not answer within {transfer.timeout_s:g} s")
    if isinstance(reason, ssl.SSLCertVerificationError):
        raise DataError(
            f"{transfer.url}: expected a certificate that can be trusted, got "
            f"{reason.verify_message}"
        )
    if isinstance(reason, socket.gaierror):
        said, hint = f"the name {host} cannot be resolved", "check the network and the proxy"
    elif isinstance(reason, ConnectionRefusedError):
        said, hint = (
            f"{host} refused the connection",
            "check the network, the proxy and the address",
        )
    elif isinstance(reason, OSError) and reason.errno in (errno.ENETUNREACH, errno.EHOSTUNREACH):
        said, hint = f"there is no way to {host}", "check the network"
    elif isinstance(reason, str):
        raise DataError(
            f"{transfer.url}: expected an http or https server, got {reason}; check the address"
        )
    else:
        raise _BrokenError(f"the connection to {host} failed ({reason or type(reason).__name__})")
    if done:
        # The server was there a moment ago.
        raise _BrokenError(said)
    raise DataError(f"{transfer.url}: expected to reach the server, but {said}; {hint}")


def _check(url: str, file: Path, checksum: str) -> None:
    name, expected = checksum.split(":", 1)
    with file.open("rb") as content:
        found = hashlib.file_digest(content, name).hexdigest()
    if found != expected.lower():
        raise DataError(
            f"{url}: expected the {name} checksum {expected}, got {found}; the file has "
            "changed, or was damaged on its "
            "way: try again"
        )
