"""Jobs that outlive the command that submitted them: a driver on a worker, a registry on the
scheduler.

    submit ──> board ──> registry (a plugin of the scheduler: what is known of every job)
                 │           ▲ begins, reports, ends
                 └─ task ─> supervisor (a thread of a worker, outside its pool) ── starts ─> driver

The driver is a client of its own: it does what `run` does. Where its worker dies, the scheduler
gives the supervisor's task to another, and that starts a driver which resumes.
"""
