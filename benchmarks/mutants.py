"""Mutants of the code that decides, and how many of them the tests kill.

    python -m benchmarks.mutants choose             # 400 mutants, into benchmarks/mutants.json
    python -m benchmarks.mutants cover OUT [TEST…]  # which tests enter which functions
    python -m benchmarks.mutants run OUT [-n 2]     # try the mutants with the tests that enter them

A mutant is one changed expression, chosen with a fixed seed. It is found again by its function and
by the text of its statement, in whichever module of `gitops` they are, so that code may move
between two runs; mutants of statements that are gone are skipped. Each is tried in a copy of the
working tree with at most `_MOST_TESTS` of the tests that enter its function, the quickest first.
`cover` needs Python 3.12 or newer (sys.monitoring).
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import random
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from types import CodeType
from typing import Any, Final

import pytest

_ROOT: Final = Path(__file__).parents[1]
_CHOSEN: Final = Path(__file__).with_name("mutants.json")
_ROOMS: Final = (
    "schemas",
    "broker",
    "planning",
    "rollout",
    "changes",
    "checks",
    "replay/kernel",
)
_NUMBER: Final = 400
_SEED: Final = 32
_MOST_TESTS: Final = 40
_SECONDS: Final = 90
"""A mutant that keeps its tests busy for longer counts as killed: it does not end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One changed expression: `original` and `mutated` are the whole statement, unparsed."""

    room: str
    module: str
    function: str
    original: str
    mutated: str
    change: str


def main() -> None:
    """Run the command that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("choose")
    cover = commands.add_parser("cover")
    cover.add_argument("out", type=Path)
    cover.add_argument("tests", nargs="*")
    run = commands.add_parser("run")
    run.add_argument("out", type=Path)
    run.add_argument("-n", dest="workers", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.command == "choose":
        choose()
    elif arguments.command == "cover":
        sys.exit(cover_tests(arguments.out, arguments.tests))
    else:
        run_mutants(arguments.out, arguments.workers)


# ------------------------------------------------------------------------------- which mutants


def choose() -> None:
    """Write as many mutants of each room as its share of the lines."""
    generator = random.Random(_SEED)  # noqa: S311 (a sample, no secret)
    rooms = {room: sorted((_ROOT / "gitops" / room).rglob("*.py")) for room in _ROOMS}
    lines = {room: sum(_line_count(path) for path in paths) for room, paths in rooms.items()}
    chosen = []
    for room, paths in rooms.items():
        mutants = [mutant for path in paths for mutant in _mutants_of(path, room)]
        number = round(_NUMBER * lines[room] / sum(lines.values()))
        chosen += generator.sample(mutants, min(number, len(mutants)))
    _CHOSEN.write_text(json.dumps([asdict(mutant) for mutant in chosen], indent=1) + "\n", "utf-8")
    print(len(chosen), dict(Counter(mutant.room for mutant in chosen)))


def _line_count(path: Path) -> int:
    return path.read_text("utf-8").count("\n")


def _mutants_of(path: Path, room: str) -> Iterator[Mutant]:
    tree = ast.parse(path.read_text("utf-8"))
    for function, statement in _statements(tree):
        for number, change in enumerate(_changes(statement)):
            yield Mutant(
                room=room,
                module=path.relative_to(_ROOT).as_posix(),
                function=function,
                original=ast.unparse(_head(statement)),
                mutated=ast.unparse(_head(_mutated(statement, number))),
                change=change,
            )


def _statements(tree: ast.AST, function: str = "") -> Iterator[tuple[str, ast.stmt]]:
    """The statements in functions, each with the name of its outermost function or method."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef):
            yield from _statements(child, function or child.name)
        elif isinstance(child, ast.stmt) and not isinstance(child, ast.ClassDef):
            if function and not isinstance(child, ast.Import | ast.ImportFrom | ast.Match):
                yield function, child
            yield from _statements(child, function)
        else:
            yield from _statements(child, function)


def _head(statement: ast.stmt) -> ast.stmt:
    """The statement without the statements in it."""
    head = copy.copy(statement)
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        if isinstance(getattr(head, name, None), list):
            setattr(head, name, [ast.Pass()] if name == "body" else [])
    return head


_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


def _changes(statement: ast.stmt) -> list[str]:
    return [change for node in _nodes(statement) for change in _changes_of(node)]


def _nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of the statement itself, without strings and nested statements."""
    pending: list[ast.AST] = [_head(statement)]
    while pending:
        node = pending.pop()
        yield node
        pending += [
            child
            for child in ast.iter_child_nodes(node)
            if not isinstance(child, ast.stmt | ast.JoinedStr)
        ]


def _changes_of(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
        return ["comparison"]
    if isinstance(node, ast.BoolOp):
        return ["and/or", "operand"]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return ["not"]
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        return ["condition"]
    if isinstance(node, ast.comprehension) and node.ifs:
        return ["filter"]
    if isinstance(node, ast.Constant) and type(node.value) in {bool, int}:
        return ["constant"]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        return ["arithmetic"]
    if isinstance(node, ast.Return) and node.value and not isinstance(node.value, ast.Constant):
        return ["return None"]
    return []


def _mutated(statement: ast.stmt, number: int) -> ast.stmt:
    """A copy of the statement with its `number`-th change."""
    made = copy.deepcopy(statement)
    sites = [(node, change) for node in _nodes(made) for change in _changes_of(node)]
    node, change = sites[number]
    if node.__class__ is made.__class__ and not isinstance(node, ast.expr):
        node = made  # `_nodes` yields a copy of the statement itself
    _apply(node, change)
    return made


def _apply(node: Any, change: str) -> None:  # noqa: ANN401 (its class follows from the change)
    if change == "comparison":
        node.ops[0] = _COMPARISONS[type(node.ops[0])]()
    elif change == "and/or":
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif change == "operand":
        del node.values[-1]
    elif change == "not":
        node.operand = ast.UnaryOp(op=ast.Not(), operand=node.operand)
    elif change == "condition":
        node.test = ast.UnaryOp(op=ast.Not(), operand=node.test)
    elif change == "filter":
        del node.ifs[-1]
    elif change == "constant":
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    elif change == "arithmetic":
        node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
    else:
        node.value = ast.Constant(value=None)


# -------------------------------------------------------------------- which tests enter what


def _monitoring() -> Any:  # noqa: ANN401 (a module that Python 3.11 does not have)
    return getattr(sys, "monitoring")  # noqa: B009 (mypy checks for 3.11)


class FunctionCoverage:
    """Plug-in of pytest: writes, for each test, the functions of `gitops` that it enters."""

    def __init__(self, out: Path) -> None:
        out.mkdir(parents=True, exist_ok=True)
        worker = f"{time.time_ns()}"
        self._file = (out / f"{worker}.jsonl").open("w", encoding="utf-8")
        self._entered: set[tuple[str, str]] = set()
        self._has_failed = False
        monitoring = _monitoring()
        monitoring.use_tool_id(monitoring.COVERAGE_ID, "mutants")
        monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.PY_START)
        monitoring.register_callback(
            monitoring.COVERAGE_ID, monitoring.events.PY_START, self._enter
        )

    def _enter(self, code: CodeType, _offset: int) -> object:
        prefix = f"{_ROOT}/gitops/"
        if code.co_filename.startswith(prefix):
            names = code.co_qualname.split(".<locals>")[0].rsplit(".", 1)
            self._entered.add((code.co_filename[len(prefix) - 7 :], names[-1]))
        return _monitoring().DISABLE

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Record what one test enters, its fixtures included, and how long it takes."""
        self._entered.clear()
        self._has_failed = False
        _monitoring().restart_events()
        begun = time.perf_counter()
        result = yield
        seconds = round(time.perf_counter() - begun, 3)
        if not self._has_failed:
            line = {"test": item.nodeid, "seconds": seconds, "entered": sorted(self._entered)}
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that fails anyway kills no mutant."""
        self._has_failed |= report.failed


def cover_tests(out: Path, tests: list[str]) -> int:
    """Run the tests with `FunctionCoverage`; returns pytest's exit code."""
    default = ["tests/unit", "tests/conformance", "tests/corpus", "tests/scenarios"]
    options = ["-q", "-n", "0", "-m", "not broker and not spark", *(tests or default)]
    return pytest.main(options, plugins=[FunctionCoverage(out)])


def _read_coverage(out: Path) -> dict[tuple[str, str], list[tuple[float, str]]]:
    """The tests of each (module, function), with their seconds, the quickest first."""
    tests = defaultdict(list)
    for file in sorted(out.glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            test = json.loads(line)
            for module, function in test["entered"]:
                tests[module, function].append((test["seconds"], test["test"]))
    return {key: sorted(value) for key, value in tests.items()}


# ------------------------------------------------------------------------- who kills a mutant


def run_mutants(out: Path, workers: int) -> None:
    """Try each mutant and write its outcome into `results.jsonl` in `out`; prints shares by room.

    In random order, so that a run that is stopped is a sample; another run goes on with the rest.
    """
    coverage = _read_coverage(out)
    mutants = [Mutant(**mutant) for mutant in json.loads(_CHOSEN.read_text("utf-8"))]
    random.Random(_SEED).shuffle(mutants)  # noqa: S311 (an order, no secret)
    file = out / "results.jsonl"
    results = (
        [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []
    )
    del mutants[: len(results)]
    copies: SimpleQueue[Path] = SimpleQueue()
    for number in range(workers):
        copies.put(_copy_of_tree(out / f"copy{number}"))

    def try_one(mutant: Mutant) -> str:
        folder = copies.get()
        try:
            return _try(mutant, folder, coverage)
        finally:
            copies.put(folder)

    with ThreadPoolExecutor(workers) as pool, file.open("a", encoding="utf-8") as written:
        for mutant, outcome in zip(mutants, pool.map(try_one, mutants), strict=True):
            results.append({"outcome": outcome, **asdict(mutant)})
            written.write(json.dumps(results[-1]) + "\n")
            written.flush()
            print(outcome, mutant.module, mutant.function, mutant.change, flush=True)
    for room in (*_ROOMS, ""):
        counts = Counter(
            result["outcome"] for result in results if not room or result["room"] == room
        )
        print(room or "all", dict(counts))


def _copy_of_tree(folder: Path) -> Path:
    """Tracked files and those beside the project that tests read."""
    if not folder.exists():
        names = subprocess.run(
            ["git", "ls-files", "-z"], cwd=_ROOT, check=True, capture_output=True, text=True
        ).stdout.split("\0")
        for name in filter(None, names):
            target = folder / "main" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(_ROOT / name, target, follow_symlinks=False)
        (folder / "shared").symlink_to(_ROOT.parent / "shared")
        (folder / "main" / ".venv").symlink_to(_ROOT / ".venv")
    return folder / "main"


def _try(
    mutant: Mutant,
    folder: Path,
    coverage: dict[tuple[str, str], list[tuple[float, str]]],
) -> str:
    """`killed`, `survived`, `not entered` by any test, or `gone` from the code."""
    place = _find(mutant, folder)
    if place is None:
        return "gone"
    module, text = place
    tests = coverage.get((module, mutant.function), [])[:_MOST_TESTS]
    if not tests:
        return "not entered"
    path = folder / module
    original = path.read_text("utf-8")
    path.write_text(text, "utf-8")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:randomly", "-n", "0"]
    try:
        done = subprocess.run(
            [*command, "-p", "no:cacheprovider", *(name for _, name in tests)],
            cwd=folder,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "killed"
    finally:
        path.write_text(original, "utf-8")
    return "killed" if done.returncode else "survived"


def _find(mutant: Mutant, folder: Path) -> tuple[str, str] | None:
    """The module that has the statement, and its mutated text; the mutant's own module first."""
    modules = [mutant.module] if (folder / mutant.module).exists() else []
    modules += [
        path.relative_to(folder).as_posix()
        for path in sorted((folder / "gitops").rglob("*.py"))
        if mutant.function in path.read_text("utf-8")
    ]
    for module in modules:
        text = (folder / module).read_text("utf-8")
        for function, statement in _statements(ast.parse(text)):
            if function == mutant.function and ast.unparse(_head(statement)) == mutant.original:
                return module, _replaced(text, statement, mutant.mutated)
    return None


def _replaced(text: str, statement: ast.stmt, mutated: str) -> str:
    """The text with the statement's own lines, not those of its body, in their mutated form."""
    lines = text.splitlines(keepends=True)
    body = getattr(statement, "body", None)
    end = body[0].lineno - 1 if isinstance(body, list) else statement.end_lineno
    head = mutated.removesuffix("pass").rstrip() if isinstance(body, list) else mutated
    if isinstance(body, list) and body[0].lineno == statement.lineno:
        raise ValueError(f"a body on the line of its statement: {lines[statement.lineno - 1]}")
    indent = " " * statement.col_offset
    if lines[statement.lineno - 1].lstrip().startswith("elif "):
        head = f"el{head}"
    new = "".join(f"{indent}{line}\n" for line in head.split("\n"))
    return "".join((*lines[: statement.lineno - 1], new, *lines[end:]))


if __name__ == "__main__":
    main()
