"""The kinds of clusters, a module each: its keys, its checks, and how it is started or joined."""
