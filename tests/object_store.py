"""Real object stores on loopback, and who may use them.

S3 is moto's server, `abfs://` is Azurite (a package of npm), `gs://` is gcp-storage-emulator. Each
runs in a process of its own and keeps objects until it ends.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

BUCKET = "rows-and-runs"
AZURITE = "DNFSCALE_AZURITE"
"""The variable that names the script of Azurite's blob service, azurite/dist/src/blob/main.js."""
_START_S = 60


@dataclass(frozen=True)
class Keys:
    """Credentials, as the environment has them."""

    name: str
    secret: str

    @property
    def environment(self) -> dict[str, str]:
        return {"AWS_ACCESS_KEY_ID": self.name, "AWS_SECRET_ACCESS_KEY": self.secret, **_APART}


@dataclass(frozen=True)
class AccountKey:
    """The key of an account of Azure, as the environment has it."""

    name: str
    secret: str

    @property
    def environment(self) -> dict[str, str]:
        return {"AZURE_STORAGE_KEY": self.secret}


@dataclass(frozen=True)
class NoKeys:
    """Nobody is asked who they are."""

    name = secret = "nobody-is-asked"

    @property
    def environment(self) -> dict[str, str]:
        return {}


_APART = {
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}
"""Nothing of the machine's own configuration is used."""


class Store:
    """A server on loopback with a bucket; a class for each kind of store says how it is reached."""

    scheme: ClassVar[str]
    wrong_keys: ClassVar[Keys | AccountKey | None]
    """Credentials that the store refuses; None where it refuses nobody."""
    keys: Keys | AccountKey | NoKeys

    def __init__(self, port: int) -> None:
        self.port = port
        self.endpoint = f"http://127.0.0.1:{port}"

    def at(self, bucket: str = BUCKET) -> str:
        """The URL of a bucket."""
        return f"{self.scheme}://{bucket}"

    @property
    def data(self) -> str:
        return f"{self.at()}/data/t.parquet"

    @property
    def runs(self) -> str:
        return f"{self.at()}/runs"

    @property
    def reached(self) -> dict[str, str | bool]:
        """The table of a spec that says how the store is reached."""
        return {"endpoint": self.endpoint}

    @property
    def options(self) -> tuple[str, ...]:
        """The same as options of a command."""
        return ("--endpoint", self.endpoint)

    def command(self, folder: Path) -> list[str]:
        """The command that starts the server."""
        raise NotImplementedError

    @property
    def server_environment(self) -> dict[str, str]:
        """What the server must know of who may use it."""
        return {}

    def begin(self) -> None:
        """Make the bucket, as soon as the server answers."""
        self.files().create_dir(BUCKET)

    def files(self) -> pafs.FileSystem:
        """The server's content."""
        raise NotImplementedError

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


class S3(Store):
    """moto, which knows one user."""

    scheme = "s3"
    wrong_keys = Keys("AKIAIOSFODNN7EXAMPLE", "wrong-secret-of-nobody")

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.keys = Keys("before-there-are-users", "any")

    @property
    def reached(self) -> dict[str, str | bool]:
        return {"endpoint": self.endpoint, "region": "us-east-1"}

    @property
    def options(self) -> tuple[str, ...]:
        return ("--endpoint", self.endpoint, "--region", "us-east-1")

    def command(self, folder: Path) -> list[str]:  # noqa: ARG002
        return [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]

    def files(self) -> pafs.S3FileSystem:
        return pafs.S3FileSystem(
            access_key=self.keys.name,
            secret_key=self.keys.secret,
            scheme="http",
            endpoint_override=f"127.0.0.1:{self.port}",
            region="us-east-1",
            allow_delayed_open=True,
        )

    def begin(self) -> None:
        """Make the bucket and a user, after whom everybody else is refused."""
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


class Azure(Store):
    """Azurite, with an account of its own that has one key."""

    scheme = "abfs"
    account: ClassVar[str] = "rows"
    wrong_keys = AccountKey(account, base64.b64encode(b"wrong-secret-of-nobody").decode())

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.keys = AccountKey(self.account, base64.b64encode(os.urandom(32)).decode())

    def at(self, bucket: str = BUCKET) -> str:
        return f"{self.scheme}://{bucket}@{self.account}"

    def command(self, folder: Path) -> list[str]:
        server = ["node", os.environ[AZURITE], "--blobHost", "127.0.0.1"]
        server += ["--blobPort", str(self.port), "--location", str(folder)]
        # pyarrow speaks a version of the protocol that Azurite may not know by name.
        return [*server, "--skipApiVersionCheck", "--silent", "--disableTelemetry"]

    @property
    def server_environment(self) -> dict[str, str]:
        return {"AZURITE_ACCOUNTS": f"{self.account}:{self.keys.secret}"}

    def files(self) -> pafs.AzureFileSystem:
        authority = f"127.0.0.1:{self.port}"
        return pafs.AzureFileSystem(
            self.account,
            account_key=self.keys.secret,
            blob_storage_authority=authority,
            dfs_storage_authority=authority,
            blob_storage_scheme="http",
            dfs_storage_scheme="http",
        )


class Google(Store):
    """gcp-storage-emulator, which refuses nobody."""

    scheme = "gs"
    wrong_keys = None
    keys = NoKeys()

    @property
    def reached(self) -> dict[str, str | bool]:
        return {"endpoint": self.endpoint, "anonymous": True}

    @property
    def options(self) -> tuple[str, ...]:
        return ("--endpoint", self.endpoint, "--anonymous")

    def command(self, folder: Path) -> list[str]:  # noqa: ARG002
        server = [sys.executable, "-m", "gcp_storage_emulator", "start", "--in-memory"]
        return [*server, "--host=127.0.0.1", f"--port={self.port}", f"--default-bucket={BUCKET}"]

    def begin(self) -> None:
        """The server has made the bucket."""

    def files(self) -> pafs.GcsFileSystem:
        return pafs.GcsFileSystem(
            anonymous=True, scheme="http", endpoint_override=f"127.0.0.1:{self.port}"
        )


STORES = {kind.scheme: kind for kind in (S3, Azure, Google)}


@contextmanager
def serving(scheme: str, folder: Path) -> Iterator[Store]:
    """Run the server of a kind of store in a process of its own."""
    store = STORES[scheme](_free_port())
    process = subprocess.Popen(
        store.command(folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **store.server_environment},
    )
    try:
        _wait_for(store.port)
        store.begin()
        yield store
    finally:
        process.kill()
        process.wait()


def missing(scheme: str) -> str | None:
    """Say what a kind of store lacks on this machine; None if it can be run."""
    if scheme == "abfs":
        known = shutil.which("node") and os.path.isfile(os.environ.get(AZURITE, ""))
        return None if known else f"{AZURITE} does not name the script of Azurite's blob service"
    module = {"s3": "moto.server", "gs": "gcp_storage_emulator"}[scheme]
    try:
        __import__(module)
    except ImportError:
        return f"the server of these tests, {module}, is not installed"
    return None


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def _wait_for(port: int) -> None:
    end = time.monotonic() + _START_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
