"""The pictures of each situation show what the program prints today.

`scripts/pictures` writes them. A PNG of a comment has the digest of the Markdown that it was made
from: no browser is needed here.
"""

from __future__ import annotations

from typing import Final

import pytest

from tests.docs.pages import ROOT
from tests.support.comment_pictures import digest, source_digest
from tests.support.pictures import Report, reports
from tests.support.situations import SITUATIONS

PICTURES: Final = ROOT / "docs/pictures"
PAGE: Final = (ROOT / "docs/how-to/read-a-check.md").read_text("utf-8")
STALE: Final = "the picture shows an older report: run scripts/pictures and look at what changed"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    folder = tmp_path_factory.mktemp("situations")
    return {situation.name: report for situation, report in reports(folder)}


@pytest.mark.xdist_group("pictures")
@pytest.mark.parametrize("name", [one.name for one in SITUATIONS])
def test_the_terminal_is_current(name: str, shown: dict[str, Report]) -> None:
    assert (PICTURES / f"{name}.svg").read_text("utf-8") == shown[name].svg, STALE


@pytest.mark.xdist_group("pictures")
@pytest.mark.parametrize("name", [one.name for one in SITUATIONS])
def test_the_comment_is_current(name: str, shown: dict[str, Report]) -> None:
    picture = (PICTURES / f"{name}.png").read_bytes()
    assert source_digest(picture) == digest(shown[name].comment), STALE


def test_a_picture_of_something_else_has_no_digest() -> None:
    signature_and_header = (PICTURES / "good.png").read_bytes()[:33]
    assert source_digest(signature_and_header + b"\0\0\0\0IEND\xaeB`\x82") == ""


def test_the_page_shows_each_situation_and_no_other_picture_is_there() -> None:
    files = {path.name for path in PICTURES.iterdir()}
    assert files == {f"{one.name}{end}" for one in SITUATIONS for end in (".svg", ".png")}
    for one in SITUATIONS:
        assert f"## {one.title}\n" in PAGE
        assert f"(../pictures/{one.name}.svg)" in PAGE
        assert f"(../pictures/{one.name}.png)" in PAGE
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "docs/pictures/breaking.svg" in readme
    assert "docs/pictures/shared-type-bad.png" in readme
