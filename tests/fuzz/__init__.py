"""Input that nobody would write, made at random and spoiled: specs, models, results, tables, texts,
logs, related tables and command lines.

Whatever comes, a command ends with what was asked or with an error of ours that says what to
change; it never shows a traceback, never hangs, never takes the process down, and never counts
wrongly.

    python -m tests.fuzz --count 1000 --seed 1 [--kind KIND]
"""
