"""Values of the wrong type at every position of every file of a repository, in whole commands.

None of them is a bug of ours (exit code 70), and none makes a traceback. `WRONG_VALUES=2000` tries
so many documents of each kind instead of a few.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import fastavro
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.command_line import captured
from tests.support.git_repos import GitRepository
from tests.support.whole_documents import FILES, OLD, ORDERS
from tests.support.wrong_values import (
    EXAMPLES,
    OF_YAML,
    assert_no_bug,
    text_of,
    wrong_documents,
)

_FORMATS: Final = ("text", "json", "markdown", "github", "sarif")


def _commands(path: str) -> list[list[str]]:
    """Whole command lines that read the files, without `--repo`."""
    formats = [["--format", each] for each in _FORMATS]
    histories = [["--history", each] for each in ("auto", "registry", "snapshot", "git")]
    stem = path.rpartition("/")[2].partition(".")[0]
    topic = f"shop/orders/{stem if f'{ORDERS}/{stem}.yaml' in FILES else 'order'}"
    manifest = f"{ORDERS}/{topic.rpartition('/')[2]}.yaml"
    check = ["check", "--base", "HEAD~1"]
    return [
        *(["validate", *each] for each in formats),
        *(["plan", "--prune", *each] for each in formats),
        *([*check, *each] for each in histories),
        *([*check, "--replay", "--engine", "local", *each] for each in formats),
        *(["rollout", *each] for each in histories),
        *(["rollout", "--base", "HEAD~1", *each] for each in histories),
        *(["replay", "--engine", "local", *each] for each in histories),
        ["fmt"],
        ["fmt", "--check"],
        ["fmt", "--diff"],
        ["plan", "--out", "plan.json", "--waivers", "waivers"],
        ["apply", "--auto-approve"],
        ["snapshot"],
        ["import"],
        ["schemas", "versions", topic],
        ["schemas", "get", topic],
        ["policies", "get", topic],
        ["connect", "producer", topic, manifest],
        ["connect", "consumer", topic, "v0"],
    ]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository, committed, applied when it was younger, and with samples."""
    root = tmp_path_factory.mktemp("base") / "repo"
    made = GitRepository(root)
    files: dict[str, str | bytes | None] = {path: text_of(each) for path, each in FILES.items()}
    younger = {path: text for path, text in files.items() if not path.startswith("snapshots/")}
    made.commit({**younger, ".gitignore": ".gitops/\n", f"{ORDERS}/order.avsc": text_of(OLD)})
    ended = captured("apply", "--auto-approve", "--repo", root)
    assert ended.code == 0, ended
    made.commit(files)
    (root / "samples").mkdir()
    (root / "samples" / "inline.jsonl").write_text('{"a": "b"}\n{"a": null}\n')
    with (root / "samples" / "order.avro").open("wb") as file:
        fastavro.writer(file, fastavro.parse_schema(OLD), [{"id": "a", "count": 1}])
    shutil.rmtree(root / ".git" / "hooks", ignore_errors=True)
    assert captured("validate", "--repo", root).code == 0
    return root


@contextlib.contextmanager
def _copy(base: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="wrong-") as folder:
        root = Path(folder) / "repo"
        shutil.copytree(base, root, symlinks=True)
        before = Path.cwd()
        os.chdir(root)
        try:
            yield root
        finally:
            os.chdir(before)


@pytest.mark.parametrize("path", list(FILES))
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_no_file_makes_a_bug(base: Path, path: str, data: st.DataObject) -> None:
    more = OF_YAML if path.endswith(".yaml") else ()
    document = data.draw(wrong_documents(FILES[path], more=more))
    commands = data.draw(st.lists(st.sampled_from(_commands(path)), min_size=1, max_size=3))
    in_base = data.draw(st.sampled_from((False, False, False, True)))
    with _copy(base) as root:
        good = (root / path).read_bytes()
        (root / path).write_text(text_of(document), encoding="utf-8")
        if in_base:
            made = GitRepository(root)
            made.commit()
            made.commit()
            (root / path).write_bytes(good)
        for command in (["validate"], *commands):
            assert_no_bug(command, captured(*command))
