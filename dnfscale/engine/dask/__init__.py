"""The engine on a Dask cluster, and how clusters are started, joined and watched."""
