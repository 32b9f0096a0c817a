"""Python imports this at the start of every process that has this folder on its path: workers,
runners, schedulers.
"""

from tests.faults import acting

acting.arrange()
