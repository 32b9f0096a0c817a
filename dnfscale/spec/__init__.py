"""What a job says: one typed tree, in which each key is declared once, and the registries that
extend it.
"""
