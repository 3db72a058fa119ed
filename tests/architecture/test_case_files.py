"""A case is one text file, from which its files come back byte by byte."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.case_files import CASES, Case, Link, cases, pack, unpack, with_defaults

_TEXT: Final = b"""\
A sentence about the case.

-- strategy --
FULL
-- a folder/plain.txt --
one

-- two --x
-- empty --
-- link -> ../plain.txt --
-- odd (escaped) --
caf\\xe9\\r
a\\tb \\\\n\\
-- expected.txt --
"""
_PATHS: Final = st.text("ab./ ", min_size=1).map(lambda path: f"repo/{path}.yaml")
_LINES: Final = st.lists(
    st.sampled_from([b"-- a --", b"a", b"\\", b"\\x", b"\xff", b"\r", b"\n", b"\xef\xbb\xbf"])
).map(b"".join)


def test_the_files_of_a_case() -> None:
    assert unpack(_TEXT) == {
        "strategy": b"FULL\n",
        "a folder/plain.txt": b"one\n\n-- two --x\n",
        "empty": b"",
        "link": Link("../plain.txt"),
        "odd": b"caf\xe9\r\na\tb \\n",
        "expected.txt": b"",
    }


def test_the_text_of_a_case() -> None:
    assert pack(unpack(_TEXT), "A sentence about the case.\n\n") == _TEXT


@pytest.mark.slow
@given(st.dictionaries(_PATHS, _LINES | st.binary() | st.builds(Link, _PATHS)))
def test_every_file_comes_back(files: dict[str, bytes | Link]) -> None:
    assert unpack(pack(files)) == files


def test_every_case_is_in_the_form_in_which_it_would_be_written() -> None:
    others = [path for path in CASES.glob("*/*.txt") if not _is_canonical(path.read_bytes())]

    assert not others


@pytest.mark.parametrize("text", [b"-- a --\n-- a --\n", b"-- a -> b --\ncontent\n"])
def test_a_file_that_is_there_twice_or_a_link_with_content_is_a_mistake(text: bytes) -> None:
    with pytest.raises(AssertionError):
        unpack(text)


def test_what_a_case_leaves_out() -> None:
    own = {"repo/gitops.yaml": b"# own\n", "new.proto": b""}

    assert list(with_defaults({"repo/a.yaml": b""})) == ["repo/gitops.yaml", "repo/a.yaml"]
    assert with_defaults(own) == own | {"message": b"shop.Order\n"}
    assert with_defaults({"new.avsc": b""}) == {"new.avsc": b""}


def test_the_files_are_written_as_they_are(tmp_path: Path) -> None:
    Case("REPO-R018", "x", {"repo/a.txt": b"\r\n\xff", "repo/b": Link("a.txt")}).write(tmp_path)

    assert (tmp_path / "repo" / "b").readlink() == Path("a.txt")
    assert (tmp_path / "repo" / "b").read_bytes() == b"\r\n\xff"


def test_every_file_below_the_cases_is_a_case_of_a_kind_that_is_tested() -> None:
    files = {path for path in CASES.rglob("*") if path.is_file()} - {CASES / "README.md"}
    tested = {CASES / f"{case}.txt" for case in (*cases("strategy"), *cases("repo/*"))}

    assert files == tested


def _is_canonical(text: bytes) -> bool:
    comment, mark, sections = text.partition(b"-- ")
    return pack(unpack(mark + sections), comment.decode()) == text
