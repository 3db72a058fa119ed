"""What a command must not pay for: libraries that it does not use."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitops.repository.template import copy_template
from tests.support.git_repos import GitRepository
from tests.support.loaded_modules import HEAVY, run_and_tell

pytestmark = pytest.mark.slow

_OF_EXTRAS = {"cramjam", "fastavro", "google.protobuf", "numpy", "pandas", "pyarrow", "pyspark"}


def test_help_imports_nothing_heavy() -> None:
    ended = run_and_tell("--help")
    assert ended.returncode == 0, ended.stderr
    assert "pulsar-gitops" in ended.stdout
    modules = ended.stderr.splitlines()
    assert "gitops.cli.app" in modules
    assert not set(HEAVY).intersection(modules)


def test_a_shell_gets_its_answer_without_anything_heavy(tmp_path: Path) -> None:
    copy_template(tmp_path / "repo")
    words = "pulsar-gitops\nplan\n--registry\n"
    variables = {
        "_PULSAR_GITOPS_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": "3",
    }
    ended = run_and_tell(folder=tmp_path / "repo", variables=variables)
    assert (ended.returncode, ended.stdout) == (0, "local\n")
    modules = ended.stderr.splitlines()
    assert "gitops.cli.completion" in modules
    assert not {*HEAVY, "gitops.repository.loader"}.intersection(modules)


def test_validate_does_without_what_reads_samples(tmp_path: Path) -> None:
    """Sensitive names are looked for in definitions, also where no replay is installed."""
    copy_template(tmp_path / "repo")
    assert "sensitive:" in (tmp_path / "repo/namespaces/shop/payments/captured.yaml").read_text()
    ended = run_and_tell("validate", folder=tmp_path / "repo")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    modules = ended.stderr.splitlines()
    assert "gitops.replay.sensitive_fields" in modules
    assert not {"jsonschema", "numpy", "pandas", "pyarrow", "pyspark"}.intersection(modules)


def test_a_check_without_a_replay_does_without_its_libraries(tmp_path: Path) -> None:
    """A schemas repository's workflow installs none of them."""
    copy_template(tmp_path / "repo")
    made = GitRepository(tmp_path / "repo")
    made.git("add", "--all")
    made.git("commit", "--quiet", "-m", "the template")
    ended = run_and_tell("check", "--base", "HEAD", folder=tmp_path / "repo")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    modules = ended.stderr.splitlines()
    assert "gitops.usecases.check" in modules
    assert not {"numpy", "pandas", "pyarrow", "pyspark"}.intersection(modules)


def test_json_does_without_what_only_a_few_commands_need(tmp_path: Path) -> None:
    """Who installs no extra has the JSON of every other command."""
    copy_template(tmp_path / "repo")
    ended = run_and_tell("plan", "--format", "json", folder=tmp_path / "repo")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert not _OF_EXTRAS.intersection(ended.stderr.splitlines())


def test_settings_are_read_without_what_connects(tmp_path: Path) -> None:
    copy_template(tmp_path / "repo")
    ended = run_and_tell("validate", folder=tmp_path / "repo")
    modules = ended.stderr.splitlines()
    assert {"gitops.registries.embedded.settings", "gitops.registries.pulsar.settings"} <= {
        *modules
    }
    connecting = {"gitops.registries.embedded.registry", "gitops.registries.pulsar.registry"}
    assert not {*connecting, "sqlite3", "starlette", "urllib3"}.intersection(modules)


def test_a_stream_of_decisions_does_without_what_only_explains() -> None:
    """It prints nothing for people, and what is right is not held against a JSON Schema."""
    ended = run_and_tell("compat", "--jsonl")
    assert (ended.returncode, ended.stdout) == (0, "")
    modules = ended.stderr.splitlines()
    assert "gitops.repository.documents.decision_cases" in modules
    assert not {*HEAVY, "rich"}.intersection(modules)


def test_a_quick_look_does_without_pandas(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    copy_template(tmp_path / "repo")
    ended = run_and_tell("replay", "--engine", "local", folder=tmp_path / "repo")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    modules = ended.stderr.splitlines()
    assert "pyarrow" in modules
    assert "pandas" not in modules
