#!/usr/bin/env bash
# Submit with: qsub -v SPEC=/path/to/spec.toml deploy/pbs/job.sh
# A small job that drives: it asks PBS for the workers, which are jobs of their own, and takes them back at the end.
#PBS -N dnfscale-driver
#PBS -l select=1:ncpus=1:mem=2gb
#PBS -l walltime=02:00:00
#PBS -j oe
set -euo pipefail

: "${SPEC:?qsub -v SPEC=/path/to/spec.toml deploy/pbs/job.sh}"
cd "${PBS_O_WORKDIR:-.}"
exec dnfscale run "$SPEC" --set cluster.kind=pbs --resume
