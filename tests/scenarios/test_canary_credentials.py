"""A credential is found in nothing that a command prints, writes or starts, whatever happens.

Captures and publications of a real broker are tried in tests/broker/test_capture_credentials.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.pulsar.admin_client import AdminClient
from gitops.registries.server.server import serve_in_thread
from tests.scenarios.repositories import template_for
from tests.support import canary_credentials as canary
from tests.support.command_line import Outcome, captured, command_names
from tests.support.git_repos import GitRepository
from tests.support.http_server import OneTestServer

if TYPE_CHECKING:
    from pytest_httpserver import HTTPServer

pytestmark = pytest.mark.slow

_TOPIC: Final = "shop/orders/order-cancelled"
_OTHER: Final = "shop/orders/other"
_DEFINITION: Final = "{repo}/namespaces/shop/orders/order-cancelled.avsc"
_COMMANDS: Final = (
    "validate",
    "fmt",
    "plan --out {work}/plan.json",
    "apply {work}/plan.json",
    "apply --status {work}/plan.json --format json",
    "apply --auto-approve",
    "check --base HEAD --history registry --report json={work}/check.json",
    "rollout",
    "replay --engine local",
    "drift",
    "snapshot",
    "restore",
    "audit --format json --output {work}/audit.json",
    "import shop/orders",
    f"schemas upload {_OTHER} {_DEFINITION} --type JSON",
    f"schemas get {_TOPIC}",
    f"schemas versions {_TOPIC}",
    f"schemas delete {_OTHER} --yes",
    "policies get shop/orders",
    "policies set shop/orders isAllowAutoUpdateSchema=true",
    f"connect producer {_TOPIC} {_DEFINITION} --type JSON",
    f"connect consumer {_TOPIC} {_DEFINITION} --type JSON",
    "connect client billing",
    f"capture {_TOPIC} --out {{work}}/capture",
    f"publish {{work}}/capture --to {_OTHER}",
)
_WITHOUT_REPOSITORY: Final = (
    "init {work}/fresh",
    "explain PLAN-R001",
    f"compat --strategy FULL {_DEFINITION} {_DEFINITION}",
    "schemas extract acme.orders:Order",
    "github comment --file {work}/report.md --pr 7",
    "github relay {work}/relay --head " + "a" * 40,
    "github issue --file {work}/report.md --title Drift",
    "gitlab note --file {work}/report.md --mr 7",
)
_NOT_TRIED: Final = {"serve"}
"""It has no credentials, and does not end."""


def test_all_commands_are_tried() -> None:
    tried = {
        name
        for line in (*_COMMANDS, *_WITHOUT_REPOSITORY)
        for name in (" ".join(line.split()[:2]), line.split()[0])
    }
    assert set(command_names()) - tried == _NOT_TRIED


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """All that commands may write to; what has the credential is beside it."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "report.md").write_text("# All good\n")
    (folder / "relay").mkdir()
    (folder / "relay/report.md").write_text("# All good\n")
    (folder / "relay/pull-request.txt").write_text("7\n")
    return folder


@contextmanager
def _server() -> Iterator[HTTPServer]:
    server = OneTestServer(host="127.0.0.1")
    server.start()
    try:
        yield server
    finally:
        server.clear()
        server.stop()


def _repository(work: Path, url: str, authentication: str) -> Path:
    settings = f"{{kind: pulsar, url: '{url}', authentication: {authentication}}}"
    root = template_for(work / "repo", "shop", settings)
    head = "apiVersion: pulsar-gitops/v1\nkind: Tenant\n"
    (root / "namespaces/shop/tenant.yaml").write_text(f"{head}tenant: shop\n")
    GitRepository(root).commit()
    return root


def _run(line: str, work: Path) -> Outcome:
    """Asserts that nothing shows the credential; all files are looked at in the end."""
    words = line.format(work=work, repo=work / "repo").split()
    where = () if line in _WITHOUT_REPOSITORY else ("--repo", work / "repo")
    with canary.started_processes() as processes:
        done = captured(*words, *where)
        assert canary.traces(" ".join(processes)) == [], line
    assert canary.traces(done.out + done.err) == [], line
    return done


def _set_environment(monkeypatch: pytest.MonkeyPatch, work: Path, parrot: str, runner: str) -> None:
    api = {
        "GITHUB_API_URL": f"{parrot}/api/v3",
        "GITHUB_REPOSITORY": "acme/schemas",
        "CI_API_V4_URL": f"{parrot}/api/v4",
        "CI_PROJECT_ID": "7",
        "CI_PROJECT_URL": "https://gitlab.example/acme/schemas",
        "TMPDIR": str(work),
    }
    for name, value in (canary.environment(runner) | api).items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("kind", canary.KINDS)
def test_a_credential_that_is_accepted_is_found_nowhere(
    kind: str, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = EmbeddedRegistry("served", work / "served.db")
    with _server() as server, serve_in_thread(registry) as url:
        issuer = canary.serve_issuer(server)
        hosts = canary.Parrot()
        server.expect_request(re.compile("/hosts/.*")).respond_with_handler(hosts.answer)
        _set_environment(monkeypatch, work, server.url_for("/hosts"), server.url_for("/runner"))
        _repository(work, url, canary.credential(kind, work.parent / "secrets", issuer))

        codes = {line: _run(line, work).code for line in _COMMANDS}
        for line in _WITHOUT_REPOSITORY:
            _run(line, work)

    # Only a broker has messages, and the registry here has policies that the files do not have.
    bad = {line.split()[0] for line, code in codes.items() if code not in (0, 3)}
    assert bad <= {"capture", "publish"}, codes
    assert hosts.heard_credentials
    assert canary.traces_in(work) == []


@pytest.mark.parametrize("kind", canary.KINDS)
def test_a_credential_that_a_server_repeats_is_found_nowhere(
    kind: str, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _server() as server, _server() as other:
        parrot = canary.Parrot()
        other.expect_request(re.compile(".*")).respond_with_handler(parrot.answer)
        issuer = canary.serve_issuer(server)
        _set_environment(monkeypatch, work, other.url_for(""), server.url_for("/runner"))
        _repository(work, other.url_for(""), canary.credential(kind, work.parent / "s", issuer))

        # What is printed depends on the command, what is sent on the kind: each meets some of each.
        commands = _COMMANDS[[*canary.KINDS].index(kind) % 3 :: 3]
        refused = [line for line in commands if _run(line, work).code not in (0, 3)]

    assert len(refused) > len(commands) // 2
    assert parrot.heard_credentials
    assert canary.traces_in(work) == []


@pytest.mark.parametrize("kind", ["clientSecret", "credentialsFile", "oidc, exchanged"])
def test_a_credential_that_an_issuer_repeats_is_found_nowhere(
    kind: str, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _server() as server:
        issuer = canary.serve_issuer(server, parrot=True)
        _set_environment(monkeypatch, work, issuer, server.url_for("/runner"))
        _repository(work, "http://127.0.0.1:1", canary.credential(kind, work.parent / "s", issuer))

        for line in ("plan", f"schemas get {_TOPIC}"):
            assert "403" in _run(line, work).err

    assert canary.traces_in(work) == []


_MISTAKES: Final = (
    "{kind: pulsar, url: 'http://127.0.0.1:1/?token=CANARY'}",
    "{kind: pulsar, url: 'http://127.0.0.1:1/#CANARY'}",
    "{kind: pulsar, url: 'http://127.0.0.1:1;token=CANARY'}",
    "{kind: pulsar, url: '127.0.0.1:1?CANARY'}",
    "{kind: pulsar, url: 'htp://me:CANARY@127.0.0.1:1'}",
    "{kind: pulsar, url: 'http://127.0.0.1:1', serviceUrl: 'pulsar://127.0.0.1:6650?jwt=CANARY'}",
    "{kind: pulsar, url: 'http://127.0.0.1:1', tokn: CANARY}",
    "{kind: pulsar, url: 'http://127.0.0.1:1', auth: {tok: CANARY}}",
    "{kind: pulsar, url: 'http://127.0.0.1:1', authentication: {basic: {username: x, pw: CANARY}}}",
    "{kind: pulsar, url: 'http://127.0.0.1:1', authentication: {CANARY: x}}",
    "{kind: pulsar, url: 'http://127.0.0.1:1', authentication: {token: CANARY}}",
    "{kind: pulzar, url: 'http://127.0.0.1:1', pwd: CANARY}",
    "{kind: embedded, path: live.db,   pwd: CANARY}",
)


@pytest.mark.parametrize("entry", _MISTAKES)
def test_a_secret_in_the_wrong_place_of_the_settings_is_found_in_no_output(
    entry: str, work: Path
) -> None:
    root = _repository(work, "http://127.0.0.1:1", "{token: '${NONE}'}")
    base = GitRepository.at(root)
    settings = (root / "gitops.yaml").read_text()
    old = next(line for line in settings.splitlines() if "127.0.0.1:1" in line)
    name = old.split(":")[0]
    text = settings.replace(old, f"{name}: {entry.replace('CANARY', canary.CANARY)}")
    (root / "gitops.yaml").write_text(text)
    base.commit()
    formats = ("text", "json", "markdown", "html", "sarif", "codequality", "github")

    lines = ["plan", "plan --format json", "fmt --diff", "apply --auto-approve", "drift", "audit"]
    lines += [f"validate --format {name}" for name in formats]
    lines += [f"check --base HEAD~1 --format {name}" for name in formats]
    codes = {_shown(line.split(), root, work) for line in lines}

    assert codes & {1, 2}


_URLS: Final = (
    "http://me:CANARY@127.0.0.1:1/x.git",
    "https://CANARY@127.0.0.1:1/x.git",
    "https://127.0.0.1:1/x.git?token=CANARY",
    "ssh://me:CANARY@127.0.0.1:1/x",
    "git+https://me:CANARY@127.0.0.1:1/x",
)


@pytest.mark.parametrize("url", _URLS)
def test_a_secret_in_a_url_on_the_command_line_is_not_repeated(
    url: str, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(work)
    given = url.replace("CANARY", canary.CANARY)
    for line in (
        "audit",
        "plan",
        "check",
        "drift",
        "import",
        "snapshot",
        "fmt",
        "connect producer",
    ):
        with_topic = ["a/b/c", "--version", "0"] if line.startswith("connect") else []
        assert _shown([*line.split(), *with_topic, "--repo", given], work, work) in (2, 4)
    for line in ("validate", "init", "schemas get a/b/c --url", "schemas get a/b/c --registry"):
        assert _shown([*line.split(), given], work, work) == 2
    assert canary.traces_in(work) == []


def _shown(words: list[str], repo: Path, work: Path) -> int:
    """The exit code of a command whose output has no credential."""
    known = "--repo" in words or repo == work or words[0] == "validate"
    more = [str(repo)] if words[0] == "validate" and repo != work else []
    done = captured(*words, *more, *([] if known else ["--repo", str(repo)]))
    assert canary.traces(done.out + done.err) == [], words
    return done.code


def test_the_traceback_of_a_bug_has_no_credential(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: AdminClient, *_arguments: object) -> None:
        raise RuntimeError(f"a bug at {self!r}, {vars(self)}")

    _set_environment(monkeypatch, work, "http://127.0.0.1:1", "http://127.0.0.1:1")
    _repository(work, "http://127.0.0.1:1", canary.credential("token", work.parent / "s", ""))
    monkeypatch.setattr(AdminClient, "get", fail)

    done = _run("plan", work)

    assert done.code == 70
    assert "a bug at" in done.err


def test_the_search_finds_what_it_looks_for(work: Path) -> None:
    (work / "file").write_text(f"Authorization: Bearer {canary.CANARY}")
    (work / "basic").write_text("Authorization: Basic bWU6YzRuNHJ5LTlmODZkMDgxODg0YzdkNjU=")
    (work / "encoded").write_text(f"token={canary.ISSUED.upper()}")

    assert len(canary.traces_in(work)) == 3
    with canary.started_processes() as processes:
        GitRepository(work / "git").commit({"file": "content"})
        assert any("subprocess.Popen" in each for each in processes)
