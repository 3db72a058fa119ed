"""The wheel of this installation, which a schemas repository keeps."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import zipfile
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

import gitops
from gitops.model.errors import UsageError
from gitops.repository import template as module
from gitops.repository.template import build_wheel, copy_template, keep_own_wheel


def archive() -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(build_wheel().content))


def test_it_holds_what_an_installation_needs() -> None:
    names = archive().namelist()

    assert "gitops/cli/start.py" in names
    assert "gitops/template/.github/workflows/check.yml" in names
    assert "gitops/rules/AVRO-R002.md" in names
    assert [name for name in names if name.startswith("gitops/json/")]
    assert not [name for name in names if name.endswith(".pyc")]
    entry_points = f"pulsar_schema_gitops-{gitops.__version__}.dist-info/entry_points.txt"
    assert "pulsar-gitops = gitops.cli.start:main" in archive().read(entry_points).decode()


@pytest.mark.slow
def test_its_record_names_every_file_with_its_hash() -> None:
    packed = archive()
    (record,) = [name for name in packed.namelist() if name.endswith("/RECORD")]
    rows = {row[0]: row[1] for row in csv.reader(packed.read(record).decode().splitlines())}

    assert rows.pop(record) == ""
    for name in packed.namelist():
        if name != record:
            digest = base64.urlsafe_b64encode(hashlib.sha256(packed.read(name)).digest())
            assert rows.pop(name) == f"sha256={digest.decode().rstrip('=')}"
    assert not rows


@pytest.mark.slow
def test_the_same_files_make_the_same_wheel() -> None:
    first = build_wheel()
    build_wheel.cache_clear()

    assert build_wheel() == first


@pytest.mark.slow
def test_a_repository_keeps_it_by_its_hash(tmp_path: Path) -> None:
    copy_template(tmp_path)

    assert keep_own_wheel(tmp_path) == 1

    (wheel,) = tmp_path.glob(".github/actions/pulsar-gitops/*.whl")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    last = (wheel.parent / "requirements.txt").read_text().splitlines()[-1]
    assert last == f"./{wheel.relative_to(tmp_path).as_posix()} --hash=sha256:{digest}"


def test_what_is_not_installed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def distribution(name: str) -> object:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(module, "distribution", distribution)
    build_wheel.cache_clear()
    with pytest.raises(UsageError, match="pulsar-schema-gitops is not installed here"):
        build_wheel()
