"""`python -m dnfscale.jobs VERB`."""

import sys

from dnfscale.jobs.cli import main

if __name__ == "__main__":
    sys.exit(main())
