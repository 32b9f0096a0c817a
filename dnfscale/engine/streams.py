"""Standard streams that outlive whoever reads them.

A job must not fail because nobody listens: because the pipe was closed by its reader, the disk of
the log is full, or a stream was closed from the start. What cannot be written is lost, and the job
goes on. Only a command whose product is what it prints says with require_stdout() that this must
arrive.
"""

from __future__ import annotations

import io
import os
import select
import sys
from typing import Any, TextIO

from dnfscale.errors import LimitError


class ClosedPipeError(Exception):
    """What must arrive on stdout did not, because the reader has closed the pipe.

    No OSError: argparse passes over these, and a pipe between processes of ours may break too.
    """


def outlive_readers() -> None:
    """Replace stdout and stderr of this process by streams that lose what cannot be written,
    without an error.

    Descriptors 0 to 2 that are closed are taken first, here and for the processes that this one
    starts: a file that is opened later would get the number, and whatever somebody prints.
    """
    # The lowest free descriptor is given first. Writing to one of these fails, as it did before.
    while (handle := os.open(os.devnull, os.O_RDONLY)) <= 2:
        os.set_inheritable(handle, True)
    os.close(handle)
    sys.stdout = _outliving(sys.stdout, 1)
    sys.stderr = _outliving(sys.stderr, 2)


def require_stdout(required: bool) -> None:
    """Say whether what is printed from now on must arrive; if it does, and cannot, printing or
    flushing raises.

    That is ClosedPipeError where the reader has closed the pipe, and LimitError otherwise, once
    only. A stdout that outlive_readers() has not replaced stays as it is.
    """
    raw = _raw(sys.stdout)
    if isinstance(raw, _OutlivingFile):
        raw.must_arrive = required


class _OutlivingFile(io.FileIO):
    """The descriptor of a standard stream."""

    must_arrive = False

    def write(self, content: Any, /) -> int:
        try:
            written: int | None = super().write(content)
        except OSError as error:
            if not self.must_arrive:
                return len(content)
            # What is still in a buffer must not raise again when Python flushes it at exit.
            self.must_arrive = False
            if isinstance(error, BrokenPipeError):
                raise ClosedPipeError from error
            raise LimitError(
                f"expected to write to stdout, but that failed: {error.strerror}; send it "
                "where there is room for it"
            ) from error
        if written is None:
            # Another process has made the pipe or terminal that it shares with this one
            # non-blocking, and it is full.
            select.select([], [self], [])
            return self.write(content)
        return written


def _outliving(stream: TextIO | None, number: int) -> TextIO:
    """Return a stream like this one, or for a closed one; a console of Windows, or what tests put
    there, is kept.
    """
    if stream is not None and type(_raw(stream)) is not io.FileIO:
        return stream
    file = io.BufferedWriter(_OutlivingFile(number, "w", closefd=False))
    if not isinstance(stream, io.TextIOWrapper):
        return io.TextIOWrapper(file, line_buffering=True)
    return io.TextIOWrapper(
        file,
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering or stream.write_through,
    )


def _raw(stream: TextIO) -> Any:
    buffer = getattr(stream, "buffer", None)
    return getattr(buffer, "raw", buffer)
