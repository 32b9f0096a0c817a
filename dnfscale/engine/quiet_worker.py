"""Makes local workers, which load this first, ignore Ctrl-C.

A terminal sends it to all of its processes, but only the runner may decide how the job ends.
"""

import signal
import threading

if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
