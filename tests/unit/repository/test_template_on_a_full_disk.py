"""An `init` that cannot write all files leaves none, so that it can be repeated."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitops.model.errors import UsageError
from gitops.repository.template import make_repository


def _fill_disk_at(number: int, patch: pytest.MonkeyPatch) -> Callable[[], int]:
    """The disk is full from this write on, in the middle of a file; answers how many there were."""
    write_bytes, count = Path.write_bytes, [0]

    def write(path: Path, data: bytes) -> int:
        count[0] += 1
        if count[0] > number:
            write_bytes(path, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write_bytes(path, data)

    patch.setattr(Path, "write_bytes", write)
    return lambda: count[0]


def _entries(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.slow
def test_wherever_the_disk_is_full_the_next_init_works(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        writes = _fill_disk_at(10_000, patch)
        make_repository(tmp_path / "whole")
        total = writes()
    assert total > 40

    for number in range(total):
        target = tmp_path / str(number) / "deep/repo"
        with pytest.MonkeyPatch.context() as patch:
            _fill_disk_at(number, patch)
            with pytest.raises(UsageError, match="No space left on device"):
                make_repository(target)
        assert not (tmp_path / str(number)).exists()

    make_repository(target)
    assert _entries(target) == _entries(tmp_path / "whole")


def test_what_was_there_before_stays(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/main\n")
    with pytest.MonkeyPatch.context() as patch:
        _fill_disk_at(20, patch)
        with pytest.raises(UsageError):
            make_repository(tmp_path)
    assert _entries(tmp_path) == [".git", ".git/HEAD"]


@pytest.mark.parametrize("name", ["https://u:c4n4ry@host/x.git", "ssh://host/x"])
def test_a_url_is_no_folder(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as refused:
        make_repository(Path(name))
    assert "c4n4ry" not in f"{refused.value.what} {refused.value.hint}"
    assert _entries(tmp_path) == []
