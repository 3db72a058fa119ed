"""Pages of Markdown, and a shell that does what they tell a reader to do.

A page is its text and its fenced blocks. What counts is the word behind the fence:

- `sh`: commands that must succeed.
- `console`: `$ command` lines, each followed by what it prints. A line `…` stands for any lines.
  A command may fail only where the next one is `echo $?`.
- `sh server`: one command that runs beside the rest of the page until its end.
- `diff`: a change that the reader makes by hand.
- `yaml file=NAME`, and any other language with `file=`: a file that the reader writes.

Everything else is only read. With UPDATE_DOCS=1 in the environment the output shown in a
`console` block is written anew where it differs.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.support.prepared_command import prepared_program

ROOT: Final = Path(__file__).resolve().parents[2]
UPDATE: Final = bool(os.environ.get("UPDATE_DOCS"))
WIDTH: Final = "100"

_FENCE: Final = re.compile(
    r"^(?P<indent> *)```(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```$", re.DOTALL | re.MULTILINE
)
_UNSTABLE: Final = (
    (re.compile(r"sha256:(?:[0-9a-f]{64}|[0-9a-f]*…)"), "sha256:…"),
    (re.compile(r"\bfiles( digest)? [0-9a-f]{7}\b"), r"files\1 0000000"),
    (re.compile(r"\([0-9a-f]{7} "), "(0000000 "),
    (re.compile(r"\b[0-9a-f]{7}(\.\.| with the files)"), r"0000000\1"),
    (re.compile(r"\b(git|way to) [0-9a-f]{7}\b"), r"\1 0000000"),
    (
        re.compile(r"snapshot of \d{4}-\d\d-\d\d \([0-9a-f]{7}\)"),
        "snapshot of 1970-01-01 (0000000)",
    ),
    (re.compile(r"\d+\.\d s\b"), "0.0 s"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"), "1970-01-01 00:00:00 UTC"),
)
_ANY_LINES: Final = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block: the words behind the fence, its text, and where it starts.

    `line` counts from 1; `start` is where the text begins in the page, from 0.
    """

    words: tuple[str, ...]
    text: str
    line: int
    start: int

    @property
    def language(self) -> str:
        """The first word, empty where there is none."""
        return self.words[0] if self.words else ""

    @property
    def file(self) -> str | None:
        """The file that the block is the content of."""
        given = (word.removeprefix("file=") for word in self.words if word.startswith("file="))
        return next(given, None)


def blocks(page: str) -> Iterator[Block]:
    """All fenced blocks of a page, in order."""
    for found in _FENCE.finditer(page):
        indent = len(found["indent"])
        lines = (line[indent:] for line in found["body"].splitlines(keepends=True))
        yield Block(
            words=tuple(found["info"].split()),
            text="".join(lines),
            line=page.count("\n", 0, found.start()) + 1,
            start=found.start("body"),
        )


def normalised(text: str) -> list[str]:
    """Lines without what differs from run to run."""
    for pattern, constant in _UNSTABLE:
        text = pattern.sub(constant, text)
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def matches(expected: str, printed: str) -> bool:
    """Whether a command printed what the page shows."""
    pattern = "".join(
        r"(?:.*\n)*" if line == _ANY_LINES else re.escape(line) + "\n"
        for line in normalised(expected)
    )
    text = "".join(f"{line}\n" for line in normalised(printed))
    return re.fullmatch(pattern, text) is not None


def free_port() -> int:
    """A port of the loopback address on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment(home: Path) -> dict[str, str]:
    """That of a person with the project installed, whose git knows who they are."""
    keep = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    settings = home / ".gitconfig"
    settings.write_text(
        "[user]\nname = Ada\nemail = ada@example.com\n[init]\ndefaultBranch = main\n"
    )
    return keep | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": str(settings),
        "GIT_CONFIG_NOSYSTEM": "1",
        "COLUMNS": WIDTH,
        "LC_ALL": "C.UTF-8",
    }


@dataclass(slots=True, kw_only=True)
class Reader:
    """Somebody who does what a page says, in a folder of their own.

    The folder that a command leaves and what it exports hold for the next one. Port 8080, which
    pages use, becomes `port`.
    """

    home: Path
    port: int = field(default_factory=free_port)
    stack: ExitStack = field(default_factory=ExitStack)
    last_code: int = 0

    def __post_init__(self) -> None:
        (self.home / "at").mkdir()
        self._state.write_text(f"cd '{self.home / 'at'}'\n")

    @property
    def _state(self) -> Path:
        return self.home / "state.sh"

    def run(self, command: str) -> tuple[int, str]:
        """The exit code, and all that was printed to either stream."""
        script = (
            f". '{self._state}'; (exit {self.last_code})\n{self._mine(command)}\n"
            f"code=$?; {{ export -p; echo \"cd '$PWD'\"; }} > '{self._state}'; exit $code\n"
        )
        variables = environment(self.home)
        variables["PATH"] = os.pathsep.join([str(prepared_program().parent), variables["PATH"]])
        done = subprocess.run(
            ["bash", "-c", script],
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
        )
        self.last_code = done.returncode
        return done.returncode, done.stdout.replace(str(self.port), "8080")

    def serve(self, command: str) -> None:
        """Start a command beside the others and wait for its first line."""
        server = subprocess.Popen(
            ["bash", "-c", f". '{self._state}'; exec {self._mine(command).strip()}"],
            env=environment(self.home),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.stack.enter_context(server)
        self.stack.callback(server.terminate)
        assert server.stderr is not None
        line = server.stderr.readline()
        assert "serving" in line, line

    def check_out(self, tree: Path) -> None:
        """Go on in a copy of the checkout at `tree`, whose code is the one that runs."""
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        files = subprocess.run(listed, cwd=tree, capture_output=True, check=True, text=True).stdout
        for name in filter(None, files.split("\0")):
            source, copy = tree / name, self.home / "at" / name
            if source.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, copy, follow_symlinks=False)
        self._state.write_text(f"cd '{self.home / 'at'}'; export PYTHONPATH=$PWD\n")
        code, printed = self.run("git init --quiet && git add --all && git commit --quiet -m copy")
        assert code == 0, printed

    def change(self, diff: str, *, exactly: bool = True) -> None:
        """Make a change that the page shows as a diff, `exactly` at the lines of its header."""
        code, printed = self.run(f"git apply --verbose --whitespace=nowarn - <<'END'\n{diff}END")
        fits = code == 0 and not (exactly and "offset" in printed)
        assert fits, f"the diff does not fit:\n{diff}{printed}"

    def write(self, name: str, text: str) -> None:
        """Write a file as the page shows it."""
        done = self.run(f"mkdir -p \"$(dirname '{name}')\" && cat > '{name}' <<'END'\n{text}END")
        assert done[0] == 0, done[1]

    def _mine(self, command: str) -> str:
        return command.replace("8080", str(self.port))
