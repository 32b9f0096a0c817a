"""The verbs of the command line that do not run a job, one module each."""
