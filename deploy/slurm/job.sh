#!/usr/bin/env bash
# Submit with: sbatch deploy/slurm/job.sh SPEC [OPTION...]
# A small job that drives: it asks Slurm for the workers, which are jobs of their own, and takes them back at the end.
#SBATCH --job-name=dnfscale-driver
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=2G
#SBATCH --time=02:00:00
# The driver is told before its time is over, and then ends in order; submitted again, it goes on where it was.
#SBATCH --signal=B:TERM@60
set -euo pipefail

if [ $# -lt 1 ]; then
    echo "usage: sbatch $0 SPEC [OPTION...]" >&2
    exit 2
fi
# The shell waits in a way that a signal can interrupt, and passes it on.
dnfscale run "$1" --set cluster.kind=slurm --resume "${@:2}" &
driver=$!
trap 'kill -TERM "$driver"' TERM INT
status=0
wait "$driver" || status=$?
if kill -0 "$driver" 2>/dev/null; then
    wait "$driver" || status=$?
fi
exit "$status"
