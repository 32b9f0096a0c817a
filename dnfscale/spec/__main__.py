"""Prints every key of a job's spec: `python -m dnfscale.spec`."""

from dnfscale.spec.documented import documented_block

if __name__ == "__main__":
    print(documented_block(), end="")
