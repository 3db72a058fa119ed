"""Tables stay the only place that names a schema type, a report format or a command."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from gitops.cli.app import COMMANDS
from gitops.reports.formats import FORMATS
from tests.support.project_files import ROOT, project_files

_MODULES: Final = [path for path in project_files("gitops/**.py") if path.stem != "__init__"]


def test_each_use_case_is_a_command() -> None:
    commands = {row.module for row in COMMANDS}
    assert {path.stem for path in _MODULES if path.parent.name == "usecases"} <= commands


def test_few_files_choose_by_one_schema_type() -> None:
    named = [_name(path) for path in _MODULES if "SchemaType.PROTOBUF_NATIVE" in path.read_text()]
    assert 0 < len(named) <= 4, named
    word = re.compile(r"SchemaType\.[A-Z_]+\b")
    named = [_name(path) for path in _MODULES if word.search(path.read_text("utf-8"))]
    assert len(named) <= 31, named


def test_no_file_but_the_table_names_a_report_format() -> None:
    """Words of GitHub, SARIF and HTML with the same letters are in the modules about them."""
    words = re.compile(rf'"(?:{"|".join({*FORMATS} - {"text", "json"})})"')
    named = {_name(path) for path in _MODULES if words.search(path.read_text("utf-8"))}
    other_words = {
        "gitops.cli.app",  # the command `github`
        "gitops.cli.commands.github",  # the extra `github`
        "gitops.registries.pulsar.error_responses",  # error pages in HTML
        "gitops.reports.sarif",  # SARIF's own member `markdown`
    }
    assert named - other_words == {"gitops.reports.formats"}


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)
