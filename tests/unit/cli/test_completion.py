"""What a shell offers, by its own protocol: the scripts are loaded, and asked as by a Tab."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitops.cli.app import run
from gitops.reports.formats import available_formats
from gitops.reports.results import PlanResult
from gitops.repository.template import copy_template
from tests.support.command_line import PROGRAM
from tests.support.prepared_command import prepared_program

VARIABLE = "_PULSAR_GITOPS_COMPLETE"
HOSTILE = "x\\$(touch evil)`touch evil`\"'"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """The template, with a topic whose file has another name, and names for no shell."""
    folder = tmp_path / "repo"
    copy_template(folder)
    topics = folder / "namespaces/shop/orders"
    (topics / "long.yaml").write_text("apiVersion: pulsar-gitops/v1\ntopic: 'a-long-name' # so\n")
    (topics / f"{HOSTILE.replace('/', '')}.yaml").write_text("kind: Topic\n")
    (topics / "more.yaml").write_text(f"topic: {HOSTILE}\n")
    settings = folder / "gitops.yaml"
    settings.write_text(f"{settings.read_text()}\n# the end\n", "utf-8")
    return folder


def _run(shell: list[str], script: str, folder: Path) -> str:
    home = folder / ".home"
    home.mkdir(exist_ok=True)
    path = f"{prepared_program().parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [*shell, script],
        cwd=folder,
        env={**os.environ, "HOME": str(home), "PATH": path, "XDG_CONFIG_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert done.stderr == ""
    return done.stdout


def _in_bash(folder: Path, *lines: str) -> dict[str, list[str]]:
    """What bash offers for the last word of each line, all asked in one shell."""
    asks = "".join(
        f"COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=()\n"
        f"_pulsar_gitops_completion pulsar-gitops\n"
        f'echo "= {number}"; printf "%s\\n" "${{COMPREPLY[@]}}"\n'
        for number, line in enumerate(lines)
    )
    script = f'eval "$({VARIABLE}=source_bash pulsar-gitops)"\n{asks}'
    parts = _run(["bash", "-c"], script, folder).split("= ")[1:]
    return {line: part.split("\n")[1:-1] for line, part in zip(lines, parts, strict=True)}


TOPICS = [
    "shop/orders/a-long-name",
    "shop/orders/order-by-customer",
    "shop/orders/order-cancelled",
    "shop/orders/order-created",
    "shop/orders/order-status",
]


@pytest.mark.slow
def test_bash(repo: Path) -> None:
    offered = _in_bash(
        repo,
        "pulsar-gitops va",
        'pulsar-gitops plan --registry ""',
        "pulsar-gitops schemas get shop/o",
        "pulsar-gitops audit --as-if-strategy U",
        "pulsar-gitops audit --as-if-strategy FULL_",
        "pulsar-gitops validate na",
    )
    strategies = [[""], ["FULL_TRANSITIVE"]]  # UNDEFINED is none to judge by
    assert list(offered.values()) == [
        ["validate"],
        ["local"],
        TOPICS,
        *strategies,
        [""],  # then files
    ]
    assert not (repo / "evil").exists()


Ask = Callable[..., list[str]]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """The same question without a shell; the last word is the one that is not complete."""

    def offered(*words: str) -> list[str]:
        monkeypatch.setenv(VARIABLE, "complete_bash")
        monkeypatch.setenv("COMP_WORDS", "\n".join(["pulsar-gitops", *map(shlex.quote, words)]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        with pytest.raises(SystemExit) as ended:
            run([])
        assert ended.value.code == 0
        return capsys.readouterr().out.split()

    return offered


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("schemas", ""), ["upload", "get", "versions", "delete", "extract"]),
        (("policies", "get", "shop/o"), ["shop/orders", *TOPICS]),
        (("replay", "shop/p"), ["shop/payments/captured"]),
        (("explain", "AVRO-P"), ["AVRO-P001", "AVRO-P002", "AVRO-P003"]),
        (("compat", "-s", "BACK"), ["BACKWARD", "BACKWARD_TRANSITIVE"]),
        (("compat", "--type", "KEY"), ["KEY_VALUE"]),
        (("plan", "--format", ""), [*available_formats(PlanResult)]),
        (("plan", "--det"), ["--detailed-exitcode"]),
        (("connect", "producer", "shop/orders/x", "AU"), ["AUTO_CONSUME", "AUTO_PRODUCE"]),
        (("connect", "producer", "shop/orders/x", ""), []),
        (("schemas", "get", "--registry", ""), ["local"]),
    ],
)
def test_what_is_offered(
    words: tuple[str, ...],
    expected: list[str],
    repo: Path,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(repo / "clients")
    assert ask(*words) == expected


def test_the_repository_may_be_named(repo: Path, ask: Ask) -> None:
    assert ask("schemas", "get", "--repo", str(repo), "shop/p") == ["shop/payments/captured"]
    assert ask("plan", "--repo", str(repo / "none"), "--registry", "") == []


def test_a_group_is_offered_where_several_registries_are_meant(tmp_path: Path, ask: Ask) -> None:
    (tmp_path / "gitops.yaml").write_text("registries: {a: {}, b: {}}\ngroups: {all: [a, b]}\n")

    assert ask("plan", "--repo", str(tmp_path), "--registry", "") == ["a", "b", "all"]
    assert ask("schemas", "get", "--repo", str(tmp_path), "--registry", "") == ["a", "b"]


def test_files_that_are_no_repository_say_nothing(tmp_path: Path, ask: Ask) -> None:
    lines = (("plan", "--repo", str(tmp_path), "--registry", ""), ("replay", "--repo", "x", ""))
    settings = tmp_path / "gitops.yaml"
    assert [ask(*line) for line in lines] == [[], []]
    (tmp_path / "namespaces/a/b/c.yaml").mkdir(parents=True)
    for text, names in (
        ("registries: [", []),
        ("- 1", []),
        (f"registries: {{'{HOSTILE[:-1]}': {{}}, good: x}}", ["good"]),
    ):
        settings.write_text(f"{text}\n")
        assert [ask(*line) for line in lines] == [names, []]


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_fish(repo: Path) -> None:
    script = (
        f"{VARIABLE}=source_fish pulsar-gitops | source; "
        "complete -C 'pulsar-gitops schemas get shop/o'; complete -C 'pulsar-gitops explain KV-P'"
    )
    assert _run(["fish", "-c"], script, repo).splitlines() == [
        *TOPICS,
        "KV-P001\thalf of a KEY_VALUE is a KEY_VALUE",
    ]


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
def test_zsh(repo: Path) -> None:
    """The shell's own `_arguments` needs a terminal: another one shows what it would get."""
    script = f"""
        compdef() {{ :; }}; _files() {{ print files; }}
        _arguments() {{ eval ws\\=\\( ${{1[7,-3]}} \\); print -l -- $ws; }}
        eval "$({VARIABLE}=source_zsh pulsar-gitops)"
        words=(pulsar-gitops schemas get shop/o); CURRENT=4; _pulsar_gitops_completion
        words=(pulsar-gitops validate na); CURRENT=3; _pulsar_gitops_completion
    """
    assert _run(["zsh", "-fc"], script, repo).splitlines() == [*TOPICS, "files"]
    assert not (repo / "evil").exists()


@pytest.mark.slow
def test_installing_for_bash(tmp_path: Path) -> None:
    script = "pulsar-gitops --install-completion; pulsar-gitops --show-completion"
    said = _run(["bash", "-c"], f"{script}; true", tmp_path)
    installed = tmp_path / ".home/.bash_completions/pulsar-gitops.sh"
    assert "bash completion installed in" in said
    assert installed.read_text() in said
    assert str(installed) in (tmp_path / ".home/.bashrc").read_text()


@pytest.mark.slow
def test_a_word_of_no_shell_is_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [PROGRAM, "plan"],
        cwd=tmp_path,
        env={**os.environ, VARIABLE: "nonsense"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Invalid completion instruction.\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [{}, {"COMP_CWORD": "abc", "COMP_WORDS": "pulsar-gitops x"}], ids=["none", "odd"]
)
def test_a_completion_without_its_words_is_told(tmp_path: Path, words: dict[str, str]) -> None:
    done = subprocess.run(
        [PROGRAM, "plan"],
        cwd=tmp_path,
        env={**os.environ, VARIABLE: "complete_bash", **words},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: a shell asks for completions without its words\n")
