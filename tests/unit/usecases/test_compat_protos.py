"""`.proto` files, compared as the versions of one topic."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitops.model.errors import UsageError
from gitops.usecases.compat import compare_files

pytestmark = pytest.mark.slow


_HEAD = 'syntax = "proto3";\npackage shop;\n'
_ORDER = _HEAD + "message Order { string id = 1; }\n"


def _file(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_a_root_message_that_was_renamed_is_refused_as_the_broker_does(tmp_path: Path) -> None:
    more = "message Other { string id = 1; }\n"
    old = _file(tmp_path / "old.proto", _ORDER + more)
    new = _file(tmp_path / "new.proto", _ORDER.replace("Order", "Purchase") + more)

    found = compare_files([old, old, new], "FULL", messages=["shop.Order", "shop.Purchase"])

    assert (found.decision.accepted, found.decision.status) == (False, 409)
    with pytest.raises(UsageError, match=r"has no message 'shop\.Order'"):
        compare_files([old, new], "FULL", messages=["shop.Order"])
    with pytest.raises(UsageError, match="names 3 messages"):
        compare_files([old, new], "FULL", messages=["a", "b", "c"])


@pytest.mark.parametrize("way", ["named", "around"])
def test_imports_reach_the_repository(tmp_path: Path, way: str) -> None:
    root = tmp_path / "repo"
    _file(root / "types/money.proto", _HEAD + "message Money { int64 units = 1; }\n")
    text = _ORDER.replace("message", 'import "types/money.proto";\nmessage')
    text = text.replace("1; }", "1; Money price = 2; }")
    order = _file(root / "namespaces/order.proto", text)
    if way == "around":
        _file(root / "gitops.yaml", "")

    found = compare_files(
        [order], "FULL", messages=["shop.Order"], root=root if way == "named" else None
    )

    assert (found.decision.accepted, found.findings) == (True, ())


def test_what_does_not_compile_is_a_finding_at_its_place(tmp_path: Path) -> None:
    old = _file(tmp_path / "old.proto", _ORDER)
    new = _file(tmp_path / "new.proto", _ORDER.replace("id = 1", "id 1"))

    found = compare_files([old, new], "FULL")

    assert not found.decision.accepted
    assert {one.rule for one in found.findings} == {"REPO-R020"}
    place = found.findings[0].location
    assert place is not None
    assert (place.file, place.line) == (str(new), 3)
    assert "All log messages" not in "".join(one.message for one in found.findings)


def test_what_protoc_logs_is_no_problem_of_a_file(tmp_path: Path) -> None:
    new = _file(tmp_path / "new.proto", 'import "nowhere.proto";\nmessage A {}\n')

    found = compare_files([new], "FULL")

    assert [one.message for one in found.findings if "absl" in one.message] == []
    assert {one.location.file for one in found.findings if one.location} == {str(new)}
    assert "nowhere.proto" in "".join(one.message for one in found.findings)
