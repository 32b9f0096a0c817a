"""The benchmark suite: how fast dnfscale is and how much memory it takes, beside its peers in the
same run.

    python -m tests.bench [CASE...] [--data DIR] [--rows N] [--repeat R]
                          [--json FILE] [--compare FILE] [--list]

A *case* asks one question of several *contenders*: dnfscale, and peers that answer the same
question. Every measurement has a process of its own, in which libraries and clusters are started
before the clock is; the suite watches that process and its children from outside for their peak
memory. Contenders that answer the same question must give the same answer, or the case fails.

    setting.py      where and at what size the cases run
    datasets.py     the synthetic data, made once
    case.py         Case, Contender, and what comes out of them
    apart.py        a measurement in its own process: started and watched here, carried out by
                    measure.py
    processes.py    CPU time and peak memory of a process and its children
    overseer.py     what happened to the workers of a Dask cluster
    jobspecs.py     job specs, run in this process or as a command
    peers.py        the bare scan that all scans are measured by; careful_pandas.py: the method
                    without dnfscale
    type_tables.py  type tables to minimize
    cases.py        all cases, from modules: type_counting, exact_medians, study, prediction,
                    evaluation, conversion, covertype, memory, minimization; growth.py: rows, folds,
                    ell, workers;
                    shapes.py: wide, tiny, categories, files, groups
    report.py       Markdown tables; record.py: the same as JSON, and the change since an earlier
                    record

To add a case, write its module and list it in cases.py; test_bench.py then runs it at a tiny size
with all others.
"""
