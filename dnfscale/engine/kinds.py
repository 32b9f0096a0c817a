"""What a cluster is described by: its kind, what all kinds have in common, and what is a kind's own."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Kind:
    """What can be said of all clusters of a kind."""

    starts: bool = True
    """Whether the job starts the cluster, and therefore takes it down."""
    adapts: bool = False
    """Whether the number of workers can follow the work."""
    start_timeout_s: float = 60.0
    """How long the first worker may take, unless the spec says otherwise."""
    module: str | None = None
    extra: str | None = None
    """The package that the kind needs, and the extra of dnfscale that brings it."""


_QUEUE_S = 600.0
"""Jobs wait in a queue, and images are pulled."""

KINDS = {
    "serial": Kind(starts=False),
    "local": Kind(adapts=True),
    "address": Kind(starts=False),
    "scheduler_file": Kind(starts=False),
    "ssh": Kind(module="asyncssh", extra="ssh"),
    "slurm": Kind(adapts=True, start_timeout_s=_QUEUE_S, module="dask_jobqueue", extra="slurm"),
    "pbs": Kind(adapts=True, start_timeout_s=_QUEUE_S, module="dask_jobqueue", extra="pbs"),
    "kubernetes": Kind(adapts=True, start_timeout_s=_QUEUE_S, module="dask_kubernetes", extra="kubernetes"),
}


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """The private authority that all parts of a cluster trust, and the certificate that this one shows."""

    ca_file: str
    cert_file: str
    key_file: str


@dataclass(frozen=True, slots=True)
class Adaptive:
    """Between how many workers a cluster moves, as there is work."""

    minimum: int
    maximum: int


@dataclass(frozen=True, slots=True)
class SshHosts:
    """The hosts of an ssh cluster; the first runs the scheduler too."""

    hosts: tuple[str, ...] = ()
    username: str | None = None
    port: int | None = None
    key_file: str | None = None
    known_hosts: str | None = None


@dataclass(frozen=True, slots=True)
class Queue:
    """How workers are asked of a batch system; some of them share a job."""

    queue: str | None = None
    account: str | None = None
    walltime: str | None = None
    workers_per_job: int = 1
    directives: tuple[str, ...] = ()
    interface: str | None = None
    shared_directory: str | None = None
    """A folder that all nodes see, for certificates and logs; the working directory if none."""


@dataclass(frozen=True, slots=True)
class Pods:
    """What the pods of a Kubernetes cluster are made of."""

    image: str | None = None
    namespace: str | None = None
    cpu: str = "1"
    tls_secret: str | None = None
    """The secret with ca.crt, tls.crt and tls.key that scheduler and workers show."""


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """Where a job runs."""

    kind: str = "local"
    """One of KINDS."""
    workers: int = 2
    memory_limit: str = "4GiB"
    fan_in: int = 8
    address: str | None = None
    scheduler_file: str | None = None
    insecure: bool = False
    """Whether a scheduler that others can reach may go without TLS."""
    tls: TlsFiles | None = None
    adaptive: Adaptive | None = None
    start_timeout_s: float | None = None
    lost_timeout_s: float = 300.0
    """How long a cluster may be without any worker."""
    local_directory: str | None = None
    dashboard: str | None = None
    """Where the dashboard of a cluster that the job starts listens; on this machine alone, if it is not said."""
    ssh: SshHosts = field(default_factory=SshHosts)
    slurm: Queue = field(default_factory=Queue)
    pbs: Queue = field(default_factory=Queue)
    kubernetes: Pods = field(default_factory=Pods)

    @property
    def start_limit_s(self) -> float:
        """How long the first worker may take."""
        return KINDS[self.kind].start_timeout_s if self.start_timeout_s is None else self.start_timeout_s
