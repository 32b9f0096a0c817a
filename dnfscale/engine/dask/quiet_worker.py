"""Makes local workers, which load this first, ignore Ctrl-C, and outlive whoever reads what they
print.

A terminal sends Ctrl-C to all of its processes, but only the runner may decide how the job ends.
"""

import signal
import threading

from dnfscale.engine.streams import outlive_readers

outlive_readers()

if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
