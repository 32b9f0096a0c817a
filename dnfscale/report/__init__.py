"""report.html: the result of one or several runs as a page for people, and its charts as files."""

from dnfscale.report.figures import render_figures
from dnfscale.report.page import render_report
from dnfscale.report.run import ReportRun, report_run

__all__ = ["ReportRun", "render_figures", "render_report", "report_run"]
