"""A web server on this machine that behaves as badly as it is told to, and files as their
publishers write them.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

Answer = Callable[["Handler"], None]
"""Writes the answer to one request."""


class Handler(BaseHTTPRequestHandler):
    """Notes the request, and answers it with the next answer for its path."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        web = self.server.web
        web.requests.append((self.path, dict(self.headers.items())))
        answers = web.answers.get(self.path)
        if not answers:
            return status(404)(self)
        self.close_connection = True
        return (answers.pop(0) if len(answers) > 1 else answers[0])(self)

    def log_message(self, *_: object) -> None:
        pass

    def head(self, code: int, **headers: object) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.send_header("Connection", "close")
        self.end_headers()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    web: Web

    def handle_error(self, *_: object) -> None:
        """Say nothing: a client that hangs up is part of the tests."""


@dataclass
class Web:
    """What the server was asked, and what it is to answer."""

    url: str
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def put(self, path: str, *answers: Answer) -> str:
        """Lay out the answers to requests for a path, the last one for ever, and return its
        address.
        """
        self.answers[path] = list(answers)
        return self.url + path

    def asked(self, name: str) -> list[str | None]:
        """Return a header of each request so far."""
        return [headers.get(name) for _, headers in self.requests]


@contextmanager
def serving() -> Iterator[Web]:
    """Start a server on a port that the system chooses, and stop it at the end."""
    server = Server(("127.0.0.1", 0), Handler)
    server.web = web = Web(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("no_proxy", "127.0.0.1")
            yield web
    finally:
        web.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def tag(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()[:12]}"'


def whole(
    content: bytes, *, stop_at: int | None = None, etag: str | None = None, **headers: object
) -> Answer:
    """Answer as a good server does, ranges and all; or hang up at a byte."""
    etag = tag(content) if etag is None else etag

    def answer(handler: Handler) -> None:
        start = 0
        asked = handler.headers.get("Range", "")
        known = handler.headers.get("If-Range") in (None, etag, *map(str, headers.values()))
        if asked and known:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            if start >= len(content):
                return handler.head(416, Content_Range=f"bytes */{len(content)}", Content_Length=0)
            where = f"bytes {start}-{len(content) - 1}/{len(content)}"
            handler.head(
                206, Content_Range=where, Content_Length=len(content) - start, ETag=etag, **headers
            )
        else:
            handler.head(200, Content_Length=len(content), ETag=etag, **headers)
        handler.wfile.write(content[start:stop_at])
        return None

    return answer


def plain(content: bytes, *, stop_at: int | None = None, **headers: object) -> Answer:
    """Answer with the whole file whatever is asked, as a server does that knows no ranges."""

    def answer(handler: Handler) -> None:
        handler.head(200, **{"Content_Length": len(content), **headers})
        handler.wfile.write(content[:stop_at])

    return answer


def status(code: int, **headers: object) -> Answer:
    """Answer with a status and no content."""
    return lambda handler: handler.head(code, Content_Length=0, **headers)


def silent(content: bytes, *, after: int) -> Answer:
    """Send some bytes, then nothing until the server is stopped."""

    def answer(handler: Handler) -> None:
        handler.head(200, Content_Length=len(content), ETag=tag(content))
        handler.wfile.write(content[:after])
        handler.server.web.closing.wait(20)

    return answer


def zipped(**members: bytes) -> bytes:
    """Return an archive; members that end in .gz are compressed on their own too."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, gzip.compress(content, 1) if name.endswith(".gz") else content)
    return packed.getvalue()


def left_in(folder: Path) -> list[str]:
    """Return all that lies in a folder and below."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
