"""`schemas extract` from the command line: output, exit codes, wrong options, and `connect`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

import pytest
from jsonschema import Draft202012Validator

from gitops.cli.app import run
from gitops.model.errors import GitopsError, UsageError
from tests.support.git_repos import GitRepository
from tests.support.project_files import ROOT

TOPIC: Final = "shop/orders/order-cancelled"
SOURCE: Final = """
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import ClassVar

CancellationReason = Enum("CancellationReason", "CUSTOMER OUT_OF_STOCK PAYMENT_FAILED OTHER")

@dataclass
class Same:
    _avro_namespace: ClassVar[str] = "shop.orders"
    orderId: str
    cancelledAt: datetime
    reason: CancellationReason
Same.__name__ = "OrderCancelled"

@dataclass
class New(Same):
    note: str | None = None
New.__name__ = "OrderCancelled"

@dataclass
class Refused(Same):
    refund: int
Refused.__name__ = "OrderCancelled"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program beside a schemas repository; Python has not got its module yet."""
    monkeypatch.delitem(sys.modules, "cancellations_of_test", raising=False)
    assert run(["init", str(tmp_path / "schemas")]) == 0
    (tmp_path / "cancellations_of_test.py").write_text(SOURCE, "utf-8")
    return tmp_path


def extract(folder: Path, name: str, *more: str) -> int:
    module = f"cancellations_of_test:{name}"
    return run(["schemas", "extract", module, "--path", str(folder), "--jsr310", *more])


def check(folder: Path, name: str, repo: str, *more: str) -> int:
    return extract(folder, name, "--check", "--topic", TOPIC, "--repo", repo, *more)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "code"), [("Same", 0), ("New", 3), ("Refused", 1)])
def test_a_class_is_the_schema_a_new_version_or_refused(
    folder: Path, name: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert check(folder, name, str(folder / "schemas"), "--format", "json") == code
    found = json.loads(capsys.readouterr().out)
    assert found["accepted"] is (code != 1)
    assert found["known"] is (code == 0)
    assert found["type"] == "JSON"
    assert found["file"] == {"path": "namespaces/shop/orders/order-cancelled.avsc", "version": 0}
    lines = [one["location"]["line"] for one in found["findings"]]
    assert lines == ([24] if code == 1 else [])


@pytest.mark.slow
def test_the_text_names_the_line_of_the_class(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(folder, "Refused", str(folder / "schemas")) == 1
    out = capsys.readouterr().out
    assert "✗ refused under" in out
    assert "24 |     refund: int" in out


@pytest.mark.slow
def test_the_repository_may_be_the_url_of_a_clone(folder: Path) -> None:
    repo = GitRepository(folder / "schemas")
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "-m", "schemas")
    assert check(folder, "Same", f"file://{folder}/schemas") == 0
    assert check(folder, "New", f"file://{folder}/schemas") == 3


@pytest.mark.slow
def test_connect_accepts_a_class(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = str(folder / "schemas")
    assert run(["apply", "--repo", repo, "--auto-approve"]) == 0
    words = ["connect", "producer", TOPIC, "cancellations_of_test:Same", "--jsr310"]
    capsys.readouterr()
    assert run([*words, "--path", str(folder), "--repo", repo]) == 0
    assert "its messages contain v0" in capsys.readouterr().out
    assert check(folder, "Same", repo) == 0
    assert "v0 is registered" in capsys.readouterr().out


@pytest.mark.slow
def test_a_snapshot_answers_without_the_registry(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was registered when it was recorded, and nothing that came later."""
    repo = folder / "schemas"
    assert run(["apply", "--repo", str(repo), "--auto-approve"]) == 0
    assert run(["snapshot", "--repo", str(repo)]) == 0
    (database,) = repo.rglob("*.db")
    database.unlink()
    capsys.readouterr()
    for name, code in (("Same", 0), ("New", 3), ("Refused", 1)):
        assert check(folder, name, str(repo), "--snapshot", "--format", "json") == code
        found = json.loads(capsys.readouterr().out)
        assert found["registered"] is (name == "Same")
        assert found["version"] == {"Same": 0, "New": 1, "Refused": None}[name]
    assert not list(repo.rglob("*.db"))


def test_out_has_the_definition_and_nothing_else(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert extract(folder, "Same") == 0
    printed = capsys.readouterr().out
    assert extract(folder, "Same", "--out", str(folder / "a.avsc")) == 0
    assert (folder / "a.avsc").read_text("utf-8") == printed
    assert json.loads(printed)["name"] == "OrderCancelled"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["extracted", "match"])
def test_json_has_a_published_schema(
    folder: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--check", "--topic", TOPIC, "--repo", str(folder / "schemas")]
    capsys.readouterr()
    extract(folder, "Refused", *(more if form == "match" else []), "--format", "json")
    file = ROOT / "docs" / "reference" / "json" / f"{form}.schema.json"
    schema = json.loads(file.read_text("utf-8"))
    assert not list(Draft202012Validator(schema).iter_errors(json.loads(capsys.readouterr().out)))


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["order"],
        ["a:B", "--java", "a.B"],
        ["a:B", "--classpath", "a.jar"],
        ["a:B", "--check"],
        ["a:B", "--topic", TOPIC],
        ["--java", "a.B"],
        ["--java", "a.B", "--classpath", "missing.jar"],
        ["json:JSONDecoder"],
    ],
)
def test_wrong_options_are_usage_errors(words: list[str]) -> None:
    with pytest.raises(UsageError) as raised:
        run(["schemas", "extract", *words])
    assert raised.value.hint


@pytest.mark.slow
def test_a_topic_that_nobody_has_is_no_answer_of_the_check(folder: Path) -> None:
    with pytest.raises(GitopsError) as raised:
        extract(
            folder, "Same", "--check", "--topic", "shop/orders/none", "--repo", f"{folder}/schemas"
        )
    assert raised.value.exit_code == 2
