"""Models in other languages: SQL, Python, LaTeX, PMML and plain text, each with the model's answer for every row."""

from __future__ import annotations

from dnfscale.method.export.dialects import DIALECTS
from dnfscale.method.export.latex import export_latex
from dnfscale.method.export.pmml import export_pmml
from dnfscale.method.export.python import export_python
from dnfscale.method.export.sql import export_sql
from dnfscale.method.export.text import export_text

__all__ = ["DIALECTS", "export_latex", "export_pmml", "export_python", "export_sql", "export_text"]
