"""Loaded by every worker of a local cluster: Ctrl-C reaches all processes of a terminal, but ending is the runner's."""

import signal
import threading

if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
