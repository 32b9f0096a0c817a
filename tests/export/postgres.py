"""A PostgreSQL server of one's own, in a temporary folder, reached by a Unix socket, ended when it
is not needed.
"""

from __future__ import annotations

import datetime
import decimal
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

PATIENCE_S = 60
_USER = "dnfscale"


def server_programs() -> Path | None:
    """The folder of initdb and postgres; Debian keeps it off the search path."""
    found = [
        Path(place).parent for place in (shutil.which("initdb"), shutil.which("postgres")) if place
    ]
    folders = [*found, *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    usable = [
        folder
        for folder in folders
        if (folder / "initdb").exists() and (folder / "postgres").exists()
    ]
    return usable[0] if usable and shutil.which("psql") else None


class Postgres:
    """A server that is up."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    def run(self, script: str) -> str:
        """Carry out some SQL, and return what it prints; an error of the server is an
        AssertionError.
        """
        ended = self.try_run(script)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def try_run(self, script: str) -> subprocess.CompletedProcess[str]:
        place = ["-h", str(self._socket), "-U", _USER, "-d", "postgres"]
        return subprocess.run(
            ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", *place, "-f", "-"],
            input=script,
            env={**os.environ, "PGCLIENTENCODING": "UTF8"},
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
            check=False,
        )

    def load(self, table: pa.Table, name: str) -> None:
        """Make a table anew, its rows numbered in the column «row number»."""
        columns = ["row number", *table.column_names]
        kinds = ["bigint", *(_type(kind) for kind in table.schema.types)]
        listed = ", ".join(
            f"{_quoted(column)} {kind}" for column, kind in zip(columns, kinds, strict=True)
        )
        values = zip(
            range(table.num_rows), *(column.to_pylist() for column in table.columns), strict=True
        )
        lines = "\n".join("\t".join(map(_copied, row)) for row in values)
        self.run(
            f"DROP TABLE IF EXISTS {_quoted(name)};\nCREATE TABLE {_quoted(name)} ({listed});\n"
            f"COPY {_quoted(name)} FROM STDIN;\n{lines}\n\\.\n"
        )

    def answers(self, select: str, column: str = "prediction") -> list[str]:
        """What a SELECT of a loaded table gives for each row, in order."""
        return self.run(
            f'SELECT {column} FROM (\n{select}\n) AS scored ORDER BY "row number";'
        ).splitlines()


@contextmanager
def private_server(programs: Path) -> Iterator[Postgres]:
    """Start a server in a folder that is removed afterwards."""
    # The path of a socket has at most 107 bytes, which pytest's folders may exceed.
    folder = Path(tempfile.mkdtemp(prefix="dnfscale-pg-", dir="/tmp"))
    who = _who()
    if who:
        os.chown(folder, who["user"], who["group"])
    server = None
    try:
        arguments = [
            "-D",
            str(folder / "data"),
            "-U",
            _USER,
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        ]
        subprocess.run(
            [programs / "initdb", *arguments],
            check=True,
            capture_output=True,
            timeout=PATIENCE_S,
            cwd=folder,
            **who,
        )
        settings = ["listen_addresses=", "fsync=off", "max_connections=5", "shared_buffers=16MB"]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [
                    programs / "postgres",
                    "-D",
                    folder / "data",
                    "-k",
                    folder,
                    *(f"--{setting}" for setting in settings),
                ],
                stdout=log,
                stderr=log,
                cwd=folder,
                **who,
            )
        postgres = Postgres(folder)
        deadline = time.monotonic() + PATIENCE_S
        while postgres.try_run("SELECT 1;").returncode:
            assert server.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.1)
        yield postgres
    finally:
        if server is not None:
            server.send_signal(signal.SIGINT)
            server.wait(PATIENCE_S)
        shutil.rmtree(folder)


def _who() -> dict[str, Any]:
    """The server refuses to run as root."""
    if os.geteuid():
        return {}
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    user = known.get("postgres") or known["nobody"]
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _type(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_uint64(kind):
        return "numeric(20)"
    if pa.types.is_integer(kind):
        return "bigint" if kind.bit_width >= 32 else "integer"
    if pa.types.is_floating(kind):
        return "real" if kind == pa.float32() else "double precision"
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz is None else "timestamptz"
    if pa.types.is_date(kind) or pa.types.is_time(kind):
        return "date" if pa.types.is_date(kind) else "time"
    return "boolean" if pa.types.is_boolean(kind) else "text"


def _copied(value: Any) -> str:
    """A value as COPY reads it."""
    if value is None:
        return "\\N"
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, str):
        for character, escaped in (("\\", "\\\\"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
            value = value.replace(character, escaped)
        return value
    return repr(value).lower() if isinstance(value, bool) else repr(value)
