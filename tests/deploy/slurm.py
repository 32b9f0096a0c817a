"""A real Slurm of one node, with a munge of its own: started by hand in a folder, ended by process
id.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.deploy.processes import Processes, free_port

_COMMANDS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")
_START_S = 60

_CONFIGURATION = """\
ClusterName=dnfscale
SlurmctldHost=localhost
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=5
SlurmdParameters=config_overrides
NodeName=node NodeHostname=localhost NodeAddr=127.0.0.1 CPUs=4 RealMemory=8000
PartitionName=main Nodes=node Default=YES MaxTime=INFINITE State=UP
"""


class NoSlurmError(Exception):
    """Slurm cannot be started here, and why."""


@contextmanager
def slurm() -> Iterator[dict[str, str]]:
    """Start Slurm, and return the environment in which its commands find it."""
    missing = [name for name in _COMMANDS if shutil.which(name) is None]
    if os.geteuid() != 0:
        raise NoSlurmError("munge and Slurm are started as root")
    if missing:
        raise NoSlurmError(
            f"not installed: {', '.join(missing)} (Debian: munge, slurmctld, slurmd, slurm-client)"
        )
    # Munge wants a socket that everybody could reach, and pytest's own folders are closed to
    # others.
    folder = Path(tempfile.mkdtemp(prefix="dnfscale-slurm-"))
    try:
        folder.chmod(0o755)
        for name in ("state", "spool"):
            (folder / name).mkdir()
        key = folder / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        conf = folder / "slurm.conf"
        conf.write_text(
            _CONFIGURATION.format(folder=folder, ports=[free_port(), free_port()]), encoding="ascii"
        )
        environment = {"SLURM_CONF": str(conf)}
        with Processes(folder) as processes:
            socket_file = folder / "munge.socket"
            munge = [
                f"--{name}-file={folder}/munge.{name}" for name in ("key", "log", "pid", "seed")
            ]
            processes.start("munged", ["munged", "--foreground", f"--socket={socket_file}", *munge])
            _wait(socket_file.exists, "munged", folder)
            processes.start("slurmctld", ["slurmctld", "-D"], **environment)
            processes.start("slurmd", ["slurmd", "-D", "-N", "node"], **environment)
            _wait(
                lambda: "idle" in told(environment, "sinfo", "--noheader", "--format=%T"),
                "slurmd",
                folder,
            )
            yield environment
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def told(environment: dict[str, str], *command: str) -> str:
    """Return what a command of Slurm says."""
    surroundings = {**os.environ, **environment}
    return subprocess.run(
        command, env=surroundings, capture_output=True, text=True, check=False, timeout=30
    ).stdout


def _wait(happened, what: str, folder: Path) -> None:
    deadline = time.monotonic() + _START_S
    while not happened():
        if time.monotonic() > deadline:
            log = folder / f"{what}.log"
            words = (
                log.read_text(errors="replace").strip().splitlines()[-3:] if log.exists() else []
            )
            raise NoSlurmError(f"{what} does not start here: {' / '.join(words)}")
        time.sleep(0.2)
