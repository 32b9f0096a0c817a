"""A real S3 server on loopback, who may use it, and a wire to it that can be cut."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

BUCKET = "rows-and-runs"
_START_S = 60


@dataclass(frozen=True)
class Keys:
    """Credentials, as the environment has them."""

    name: str
    secret: str

    @property
    def environment(self) -> dict[str, str]:
        return {"AWS_ACCESS_KEY_ID": self.name, "AWS_SECRET_ACCESS_KEY": self.secret, **_APART}


_APART = {
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}
"""Nothing of the machine's own configuration is used."""


class Store:
    """A server that knows one user, and a bucket."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.endpoint = f"http://127.0.0.1:{port}"
        self.keys = Keys("before-there-are-users", "any")

    def files(self) -> pafs.S3FileSystem:
        """The server's content."""
        return pafs.S3FileSystem(
            access_key=self.keys.name,
            secret_key=self.keys.secret,
            scheme="http",
            endpoint_override=f"127.0.0.1:{self.port}",
            region="us-east-1",
            allow_delayed_open=True,
        )

    def put_table(self, name: str, table: pa.Table, **options: Any) -> None:
        with self.files().open_output_stream(f"{BUCKET}/{name}") as sink:
            pq.write_table(table, sink, **options)

    def put(self, name: str, content: bytes) -> None:
        with self.files().open_output_stream(f"{BUCKET}/{name}") as sink:
            sink.write(content)

    def read(self, name: str) -> bytes:
        with self.files().open_input_file(f"{BUCKET}/{name}") as file:
            return bytes(file.read())

    def names(self, below: str) -> list[str]:
        """The objects below a folder, by their names in it."""
        root = f"{BUCKET}/{below}"
        found = self.files().get_file_info(
            pafs.FileSelector(root, recursive=True, allow_not_found=True)
        )
        return sorted(
            info.path.removeprefix(f"{root}/") for info in found if info.type == pafs.FileType.File
        )

    def remove(self, below: str) -> None:
        for name in self.names(below):
            self.files().delete_file(f"{BUCKET}/{below}/{name}")

    def _know_one_user(self) -> None:
        """Make a user, after whom everybody else is refused."""
        import boto3

        access = {"endpoint_url": self.endpoint, "region_name": "us-east-1"}
        access |= {"aws_access_key_id": "first", "aws_secret_access_key": "first"}
        boto3.client("s3", **access).create_bucket(Bucket=BUCKET)
        users = boto3.client("iam", **access)
        users.create_user(UserName="runner")
        made = users.create_access_key(UserName="runner")["AccessKey"]
        everything = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [everything]})
        users.put_user_policy(UserName="runner", PolicyName="all", PolicyDocument=policy)
        self.keys = Keys(made["AccessKeyId"], made["SecretAccessKey"])
        from_now_on = urllib.request.Request(
            f"{self.endpoint}/moto-api/reset-auth",
            data=b"0",
            headers={"Content-Type": "text/plain"},
            method="POST",
        )
        urllib.request.urlopen(from_now_on, timeout=10).close()


@contextmanager
def serving() -> Iterator[Store]:
    """Run a server in a process of its own."""
    port = _free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    store = Store(port)
    try:
        _wait_for(store.endpoint)
        store._know_one_user()
        yield store
    finally:
        process.kill()
        process.wait()


class Wire:
    """A way to the server that breaks in the middle of large answers, some number of times."""

    def __init__(self, port: int, *, after_bytes: int, breaks: int) -> None:
        self._port = port
        self._after_bytes = after_bytes
        self._left = breaks
        self.broken = 0
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
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


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def _wait_for(endpoint: str) -> None:
    end = time.monotonic() + _START_S
    while True:
        try:
            urllib.request.urlopen(f"{endpoint}/moto-api/", timeout=5).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
