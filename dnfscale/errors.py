"""What can go wrong on purpose, and the exit code that each error ends a job with.

    DnfscaleError
    ├── TaskError      1  the job finished, but some task of it failed
    ├── SpecError      2  a spec or a command line that cannot be obeyed
    ├── DataError      3  data that cannot be read or does not fit the job
    ├── ClusterError   4  no cluster, or a cluster that was lost
    └── LimitError     5  a job that does not fit in what it may use

A message says what was expected, what came and what to change, in that order. An error that a line
of the job spec can mend names the spec's key, so that the runner can add the file and the line.
"""


class DnfscaleError(Exception):
    """Any error that dnfscale raises on purpose."""

    exit_code = 1

    def __init__(self, message: str, key: str | None = None) -> None:
        super().__init__(message, key)
        self.message = message
        self.key = key
        """The key of the job spec to look at, such as data.positive."""

    def __str__(self) -> str:
        return self.message


class TaskError(DnfscaleError):
    """A task failed; the rest of the job went on."""

    exit_code = 1


class SpecError(DnfscaleError, ValueError):
    """A job spec, or a command line, that cannot be obeyed."""

    exit_code = 2


class DataError(DnfscaleError, ValueError):
    """Data that cannot be read, or that the job cannot be run on."""

    exit_code = 3


class ClusterError(DnfscaleError):
    """No cluster could be reached or started, or it was lost."""

    exit_code = 4


class LimitError(DnfscaleError):
    """A job that would need more than it may use."""

    exit_code = 5


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says; its kind where it says nothing."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def visible(text: str) -> str:
    """Return a text on one line, with every character spelled out that is invisible or reverses the
    order of others.
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
