"""A folder in which a situation happens: edits, git commands, and commands that are recorded."""

from __future__ import annotations

import difflib
import re
import shlex
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import pytest
import time_machine

from gitops.cli.app import COMMANDS, load_command
from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server.server import serve_in_thread
from gitops.reports.formats import FORMATS
from tests.corpus.normalisation import normalised
from tests.support.command_line import Outcome, captured
from tests.support.git_repos import GitRepository

_GROUPS: Final = {"schemas", "policies", "connect"}
_BINARY: Final = re.compile(r"\.(db|db-wal|db-shm|lock|avro|parquet)$")
_MINUTE: Final = 60
_LONGEST_NAME: Final = 60
_UNNAMED: Final = {"base", "main", "engine", "local", "yes"}
"""Words of a command line that are left out of the name of its file."""


class Shell:
    """Runs commands in the repository's folder and keeps what they print and write.

    `root` is the current folder. What is recorded is in `files`: by name, the text of the file
    that is compared.
    """

    def __init__(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, clock: time_machine.Traveller
    ) -> None:
        self.root = root
        self.files: dict[str, str] = {}
        self._monkeypatch = monkeypatch
        self._clock = clock
        self._step_files = root.with_name("step")
        self._step_files.mkdir(parents=True)
        self.move_to(root)

    @property
    def repo(self) -> GitRepository:
        """The git repository in the current folder."""
        return GitRepository.at(self.root)

    def move_to(self, root: Path) -> None:
        """Make this the current folder."""
        root.mkdir(parents=True, exist_ok=True)
        self.root = root
        self._monkeypatch.chdir(root)

    @contextmanager
    def cluster(self) -> Iterator[str]:
        """A cluster without topics, whose URL is the same in every run."""
        host, port = "pulsar.example", 8080
        ask_system = socket.getaddrinfo

        def look_up(name: str, number: int, **options: int) -> object:
            if name == host:
                return ask_system("127.0.0.1", real_port, **options)
            return ask_system(name, number, **options)

        database = self.root.with_name("cluster.db")
        with (
            closing(EmbeddedRegistry("cluster", database)) as registry,
            serve_in_thread(registry, allow_hosts=[host]) as url,
        ):
            real_port = int(url.rpartition(":")[2])
            self._monkeypatch.setattr(socket, "getaddrinfo", look_up)
            yield f"http://{host}:{port}"

    # Edits, of which nothing is recorded.

    def start(self, files: Mapping[str, str | bytes | None], *commands: str) -> None:
        """A git repository with these files and, after these commands, everything committed."""
        GitRepository(self.root).write({".gitignore": ".gitops/\n", **files})
        for command in commands:
            self.prepare(command)
        self.repo.commit(message="Start")

    def write(self, files: Mapping[str, str | bytes | None]) -> None:
        """Write files by path; None removes one."""
        self.repo.write(files)

    def replace(self, file: str, old: str, new: str) -> None:
        """Replace a text that is in a file once."""
        text = (self.root / file).read_text("utf-8")
        assert text.count(old) == 1, (file, old, text)
        (self.root / file).write_text(text.replace(old, new), "utf-8")

    def branch(self, name: str = "change") -> None:
        """Begin a branch."""
        self.repo.git("switch", "--quiet", "--create", name)

    def commit(self, message: str = "A change") -> str:
        """Commit everything; answers the commit."""
        return self.repo.commit(message=message)

    def prepare(self, command: str, *, code: int = 0, stdin: str = "") -> Outcome:
        """Run a command that is not recorded."""
        outcome = self._captured(command, stdin)
        assert outcome.code == code, (command, outcome)
        return outcome

    def register(self, topic: str, definition: str, kind: str = "AVRO") -> None:
        """Register a schema in the registry `local`, as a producer does."""
        name = TopicName.parse(topic)
        database = self.root / ".gitops/local.db"
        database.parent.mkdir(exist_ok=True)
        with closing(EmbeddedRegistry("local", database)) as registry:
            if name.namespace not in registry.list_namespaces():
                registry.create_namespace(name.namespace)
            info = SchemaInfo(type=SchemaType(kind), schema=definition)
            registry.register_schema(name, info)

    # Commands, which are recorded.

    def run(
        self,
        command: str,
        *,
        name: str = "",
        stdin: str = "",
        with_style: bool = False,
        with_files: bool = True,
    ) -> None:
        """Run a command and record what it prints, its exit code and what it writes."""
        before = self._contents()
        outcome = self._captured(command, stdin)
        written = self._changes(before) if with_files else []
        parts = [
            f"$ pulsar-gitops {command}\n",
            outcome.out,
            *_section("stderr", normalised(outcome.err, {})),
            *_section(f"exit code {outcome.code}"),
            *written,
            *self._step_outputs(),
        ]
        text = "".join(part if part.endswith("\n") or not part else f"{part}\n" for part in parts)
        file = f"{name or _slug(command)}.txt"
        assert file not in self.files, f"give {command!r} a name: {file} exists"
        folders = {
            str(self.root): "<repo>",
            str(self.root.parent): "<folder>",
            sys.prefix: "<python>",
        }
        self.files[file] = normalised(text, folders, with_style=with_style)

    def report(self, command: str, *formats: str, name: str = "", stdin: str = "") -> None:
        """Record a command in these formats, or in each that it has."""
        for each in formats or _formats_of(command):
            file = f"{name or _slug(command)}.{each}"
            self.run(f"{command} --format {each}", name=file, stdin=stdin)

    def _captured(self, command: str, stdin: str) -> Outcome:
        """Run a command, a minute after the one before it."""
        self._clock.shift(_MINUTE)
        return captured(*shlex.split(command), stdin=stdin)

    def _contents(self) -> dict[str, str | None]:
        """The text of each file by its path; None where it is binary."""
        contents: dict[str, str | None] = {}
        for path in sorted(self.root.rglob("*")):
            name = path.relative_to(self.root).as_posix()
            if name.startswith(".git/") or "__pycache__" in name or not path.is_file():
                continue
            contents[name] = None if _BINARY.search(name) else path.read_text("utf-8", "replace")
        return contents

    def _changes(self, before: Mapping[str, str | None]) -> list[str]:
        """What a command wrote: new files as they are, changed ones as a diff."""
        after = self._contents()
        parts: list[str] = []
        for name in sorted({*before, *after}):
            if name not in after:
                parts += _section(f"removed {name}")
            elif name not in before and _BINARY.search(name):
                parts += [] if ".db-" in name else _section(f"wrote {name}")
            elif name not in before:
                parts += _section(f"wrote {name}", after[name] or "(empty)")
            elif before[name] != after[name]:
                parts += _section(
                    f"changed {name}", "".join(_diff(before[name] or "", after[name] or ""))
                )
        return parts

    def _step_outputs(self) -> list[str]:
        """What a step of a GitHub workflow gets in its files."""
        parts: list[str] = []
        for path in sorted(self._step_files.iterdir()):
            parts += _section(f"${path.name}", path.read_text("utf-8"))
            path.unlink()
        return parts


def _section(title: str, text: str = "") -> Iterator[str]:
    if title == "stderr" and not text:
        return
    yield f"\n--- {title}\n"
    yield text


def _diff(before: str, after: str) -> Iterator[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm="")
    for line in list(lines)[2:]:
        yield f"{line}\n"


def _slug(command: str) -> str:
    """`schemas get shop/orders/created --version 0` → `schemas-get-created-version-0`."""
    words = [word.strip("-").rpartition("/")[2] for word in shlex.split(command)]
    named = [word.partition(".")[0] for word in words if word not in _UNNAMED]
    return re.sub(r"[^\w.]+", "-", "-".join(named))[:_LONGEST_NAME].strip("-")


def _formats_of(command: str) -> list[str]:
    """The report formats that a command offers, from its `--format` option."""
    first, second, *_ = [*shlex.split(command), ""]
    loaded = load_command(next(row for row in COMMANDS if row.name == first))
    if first in _GROUPS:
        loaded = loaded.commands[second]
    (option,) = [param for param in loaded.params if "--format" in param.opts]
    text = f"{option.metavar} {option.help}"
    return [name for name in FORMATS if re.search(rf"\b{name}\b", text)]
