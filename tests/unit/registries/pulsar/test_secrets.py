"""Where secrets come from, and that none is repeated."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

import pytest

from gitops.model.config import SecretRef
from gitops.model.errors import UsageError
from gitops.registries.pulsar.secrets import expand_variable, read_secret, read_text_file, redact

if TYPE_CHECKING:
    from pathlib import Path

ENV = SecretRef(kind="env", name="TEST_SECRET")


def test_a_text_that_is_a_variable_as_a_whole_is_its_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEST_URL", "http://broker")
    assert expand_variable("${TEST_URL}", "here") == "http://broker"
    assert expand_variable("http://${TEST_URL}", "here") == "http://${TEST_URL}"


@pytest.mark.parametrize("value", [None, "", " \n"])
def test_a_variable_that_is_not_set_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str | None
) -> None:
    monkeypatch.delenv("TEST_SECRET", raising=False)
    if value is not None:
        monkeypatch.setenv("TEST_SECRET", value)
    with pytest.raises(UsageError, match="TEST_SECRET") as error:
        read_secret(ENV, tmp_path, "here")
    assert "TEST_SECRET" in error.value.hint


def test_a_secret_of_a_file_is_relative_to_the_root_and_stripped(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("  s3cret\n")
    for name in ("token", str(tmp_path / "token"), f"file://{tmp_path}/token"):
        assert read_secret(SecretRef(kind="file", name=name), tmp_path, "here") == "s3cret"


@pytest.mark.parametrize(
    "content", [b"", b" \n", b"s3cret\nsecond", b"s3cret\x00", "s3crét".encode()]
)
def test_a_file_without_a_usable_secret_is_named_and_not_shown(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "token").write_bytes(content)
    with pytest.raises(UsageError, match="token") as error:
        read_secret(SecretRef(kind="file", name="token"), tmp_path, "here")
    assert "s3cr" not in "".join(traceback.format_exception(error.value)).split("Error:")[-1]


@pytest.mark.parametrize("name", ["missing", "."])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read_text_file(name, tmp_path, "here")


def test_a_file_that_is_no_text_is_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"s3cret\xff")
    with pytest.raises(UsageError, match="UTF-8") as error:
        read_text_file("key", tmp_path, "here")
    assert error.value.__cause__ is None


def test_every_secret_is_blotted_out() -> None:
    assert redact("a b a", ("a", "b")) == "… … …"
