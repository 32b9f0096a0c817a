"""A wire to a server on loopback that breaks in the middle of large answers, some number of times.

It runs in a process of its own: a client may hold Python's lock while it waits for an answer, as
pyarrow's for Google Cloud Storage does when it opens a file.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from contextlib import suppress


class Wire:
    """The process that passes on what is sent, and how often it has broken off."""

    def __init__(self, port: int, *, after_bytes: int, breaks: int) -> None:
        numbers = map(str, (port, after_bytes, breaks))
        self._process = subprocess.Popen(
            [sys.executable, __file__, *numbers],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.endpoint = f"http://127.0.0.1:{self._process.stdout.readline().strip()}"
        self.broken: int | None = None
        """How often it has broken off, once it is closed."""

    def close(self) -> None:
        said, _ = self._process.communicate(timeout=30)
        self.broken = int(said)


class _Passing:
    def __init__(self, port: int, after_bytes: int, breaks: int) -> None:
        self._port = port
        self._after_bytes = after_bytes
        self._left = breaks
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.own_port = self._listener.getsockname()[1]
        self.broken = 0

    def accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            threading.Thread(target=self._connect, args=(client,), daemon=True).start()

    def _connect(self, client: socket.socket) -> None:
        server = socket.create_connection(("127.0.0.1", self._port))
        threading.Thread(target=_pass_on, args=(client, server), daemon=True).start()
        sent = 0
        with suppress(OSError):
            while answer := server.recv(1 << 16):
                client.sendall(answer)
                sent += len(answer)
                if sent > self._after_bytes and self._may_break():
                    break
        _hang_up(client)
        _hang_up(server)

    def _may_break(self) -> bool:
        with self._lock:
            if self._left == 0:
                return False
            self._left -= 1
            self.broken += 1
            return True


def _pass_on(client: socket.socket, server: socket.socket) -> None:
    with suppress(OSError):
        while request := client.recv(1 << 16):
            server.sendall(request)
    _hang_up(server)


def _hang_up(end: socket.socket) -> None:
    # A thread that still waits for this end would keep it open if it were only closed.
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


if __name__ == "__main__":
    passing = _Passing(*map(int, sys.argv[1:]))
    print(passing.own_port, flush=True)
    threading.Thread(target=passing.accept, daemon=True).start()
    # Until whoever started it closes the pipe, or has ended.
    sys.stdin.read()
    print(passing.broken, flush=True)
