"""Checklists, «at least m of these n»: among terms, over tau from counts, and in coded rows."""
