"""Datasets by name, CSV files as Parquet, and made tables: what `dnfscale data` does."""
