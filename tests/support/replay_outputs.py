"""A replay's report in all forms that it is printed in."""

from __future__ import annotations

from gitops.model.replay import ReplayReport
from gitops.reports.html.replay import page_html
from gitops.reports.json.documents import to_text
from gitops.reports.json.replay import replay_document
from gitops.reports.markdown.replay import replay_markdown
from gitops.reports.results import ReplayPage
from gitops.reports.text.replay import replay_report
from tests.support.consoles import shown


def outputs(report: ReplayReport) -> dict[str, str]:
    """By form."""
    return {
        "json": to_text(replay_document(report)),
        "markdown": replay_markdown(report, "pulsar-gitops replay", 60_000),
        "html": page_html(ReplayPage(replay=report)),
        "text": shown(replay_report(report, lambda _where: None, seconds=1.0), width=160),
    }
