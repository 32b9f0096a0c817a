"""report.html: what a run, or several, came to, for a person to look at; and its charts as files."""

from dnfscale.jobs.report.figures import render_figures
from dnfscale.jobs.report.page import render_report
from dnfscale.jobs.report.run import ReportRun, report_run

__all__ = ["ReportRun", "render_figures", "render_report", "report_run"]
