"""Where rows come from: Parquet footers, partitions, and named datasets."""
