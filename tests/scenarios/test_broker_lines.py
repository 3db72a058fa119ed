"""A definition that one broker line accepts and another refuses, through the whole of commands."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from gitops.model.policy import BrokerSettings
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server import responses
from gitops.registries.server.app import PATHS
from gitops.registries.server.server import serve_in_thread
from tests.scenarios.registries import behind_rest
from tests.support.command_line import captured as run
from tests.support.git_repos import GitRepository

_DOLLAR = {"type": "record", "name": "Order", "fields": [{"name": "a$b", "type": "int"}]}
_DASH = {**_DOLLAR, "namespace": "com.my-co", "fields": [{"name": "a", "type": "int"}]}


def _repository(root: Path, broker: str, definition: object) -> Path:
    folder = root / "namespaces" / "shop" / "orders"
    folder.mkdir(parents=True)
    (root / "gitops.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Config\nregistries:\n  local:\n    kind: embedded\n"
        f'    path: registry.db\n    broker: "{broker}"\n'
    )
    (folder / "namespace.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: shop/orders\n"
    )
    (folder / "order.avsc").write_text(json.dumps(definition))
    (folder / "order.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Topic\ntopic: order\n"
        "schema: {type: AVRO, definition: order.avsc}\n"
    )
    return root


@pytest.mark.parametrize(
    ("definition", "accepting", "refusing"), [(_DOLLAR, "4.2", "4.0"), (_DASH, "4.0.7", "5.0")]
)
def test_a_registry_decides_by_its_line(
    tmp_path: Path, definition: object, accepting: str, refusing: str
) -> None:
    good = _repository(tmp_path / "good", accepting, definition)
    bad = _repository(tmp_path / "bad", refusing, definition)

    assert run("validate", "--repo", str(good)).code == 0
    assert run("plan", "--repo", str(good), "--out", str(tmp_path / "p.json")).code == 0
    applied = run("apply", "--repo", str(good), str(tmp_path / "p.json"))
    assert applied.code == 0, applied.err
    assert run("plan", "--repo", str(good)).code == 0
    refused = run("validate", "--repo", str(bad))
    assert refused.code == 1
    assert "AVRO-P001" in refused.out


@pytest.mark.parametrize("history", ["snapshot", "git"])
def test_a_check_judges_files_by_the_line_that_was_recorded(tmp_path: Path, history: str) -> None:
    """Of a change that touches no snapshot, and whose gitops.yaml has the line of last year."""
    root = tmp_path / "r"
    _repository(root, "4.0", {"type": "record", "name": "Order", "fields": []})
    settings = (root / "gitops.yaml").read_text()
    repo = GitRepository(root)
    recorded = {"apiVersion": "pulsar-gitops/v1", "kind": "BrokerSnapshot", "release": "4.2.4"}
    topic = {"apiVersion": "pulsar-gitops/v1", "kind": "NamespaceSnapshot", "policies": {}}
    repo.commit(
        {
            "gitops.yaml": settings.replace("kind: embedded", "kind: pulsar").replace(
                "path: registry.db", "url: 'http://127.0.0.1:9'"
            ),
            "snapshots/local/broker.json": json.dumps(recorded),
            "snapshots/local/shop/orders.json": json.dumps({**topic, "namespace": "shop/orders"}),
        }
    )
    definition = json.dumps({**_DOLLAR, "name": "Other"})
    manifest = (root / "namespaces/shop/orders/order.yaml").read_text()
    repo.write(
        {
            "namespaces/shop/orders/other.avsc": definition,
            "namespaces/shop/orders/other.yaml": manifest.replace("order", "other"),
        }
    )

    assert run("validate", "--repo", root).code == 0
    done = run("check", "--base", "HEAD", "--history", history, "--repo", root)
    assert done.code == 0, done.out
    assert "Pulsar 4.2.4 (snapshot)" in done.out
    assert "AVRO-" not in done.out


@pytest.mark.parametrize(("serving", "declared"), [("4.2", ""), ("4.0", "4.2"), ("5.0", "4.0")])
def test_a_plan_judges_files_by_the_line_that_the_cluster_reports(
    tmp_path: Path, serving: str, declared: str
) -> None:
    root = _repository(tmp_path / "r", "4.0", _DOLLAR if serving != "4.0" else _DASH)
    line = f'    broker: "{declared}"\n' if declared else ""
    registry = EmbeddedRegistry("served", tmp_path / "x.db", BrokerSettings(release=serving))
    with serve_in_thread(registry) as url:
        live = behind_rest(url)
        (root / "gitops.yaml").write_text(
            "apiVersion: pulsar-gitops/v1\nkind: Config\nregistries:\n  live:\n    kind: pulsar\n"
            f"    url: '{url}'\n{line}"
        )
        (root / "namespaces/shop").rename(root / f"namespaces/{live.tenant}")
        (root / f"namespaces/{live.tenant}/orders/namespace.yaml").unlink()
        plan = str(tmp_path / "p.json")

        judged = run("validate", "--repo", root).out
        planned = run("plan", "--repo", root, "--out", plan, "--format", "json")
        applied = run("apply", "--repo", root, plan)
    registry.close()

    assert "AVRO-" in judged
    found = [one["rule"] for one in json.loads(planned.out)["findings"]]
    assert not any(rule.startswith("AVRO-") for rule in found)
    assert (planned.code, applied.code) == (0, 0), applied.err


def test_a_reviewed_plan_with_an_external_schema_is_applied(tmp_path: Path) -> None:
    repository = _repository(tmp_path / "r", "4.2", _DOLLAR)
    folder = repository / "namespaces" / "shop" / "orders"
    (folder / "raw.any").write_text("zzz")
    (folder / "raw.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Topic\nschema: {type: EXTERNAL, definition: raw.any}\n"
    )
    plan = str(tmp_path / "p.json")

    assert run("plan", "--repo", str(repository), "--out", plan).code == 0
    applied = run("apply", "--repo", str(repository), plan)
    assert applied.code == 0, applied.err
    shown = run("schemas", "get", "shop/orders/raw", "--repo", str(repository), "--format", "json")
    assert json.loads(shown.out)["type"] == "EXTERNAL"


def test_an_unknown_line_names_those_there_are(tmp_path: Path) -> None:
    repository = _repository(tmp_path / "r", "4.7", _DOLLAR)

    found = run("validate", "--repo", str(repository))

    assert found.code == 1
    assert "there is no profile of Pulsar 4.7" in found.out
    assert "3.0, 3.3, 4.0, 4.1, 4.2, 5.0" in found.out


def test_compat_takes_a_line(tmp_path: Path) -> None:
    file = tmp_path / "order.avsc"
    file.write_text(json.dumps(_DOLLAR))

    codes = {
        line: run("compat", "--first", "--broker", line, str(file)).code
        for line in ("3.0", "4.0", "4.2", "5.0", "4.7")
    }

    assert codes == {"3.0": 1, "4.0": 1, "4.2": 0, "5.0": 0, "4.7": 2}


def test_a_case_of_a_stream_may_name_its_line() -> None:
    cases = [
        {"id": n, "candidate": {"type": "EXTERNAL", "schema": "x"}, **broker}
        for n, broker in enumerate(({}, {"broker": "4.0"}, {"broker": "5.0"}, {"broker": "9"}))
    ]

    answer = run("compat", "--jsonl", "--broker", "4.2", stdin="\n".join(map(json.dumps, cases)))

    verdicts = [json.loads(line) for line in answer.out.splitlines()]
    assert [each["accepted"] for each in verdicts] == [True, False, True, False]
    assert "no profile of Pulsar 9" in verdicts[3]["reason"]
    assert answer.code == 2


def test_a_case_of_a_stream_may_have_the_old_form_of_json_allowed() -> None:
    old = {"candidate": {"type": "JSON", "schema": '{"type":"object"}'}}
    switch = "schemaJsonAllowLegacyJacksonFormat"
    cases = [old, {**old, switch: True}, {**old, switch: False}, {**old, "broker": "4.2-legacy"}]
    lines = "\n".join(map(json.dumps, cases))

    def accepted(*options: str) -> list[bool]:
        answer = run("compat", "--jsonl", "--broker", "4.2.4", *options, stdin=lines)
        verdicts = [json.loads(line) for line in answer.out.splitlines()]
        assert (answer.code, "no profile" in verdicts[3]["reason"]) == (2, True)
        return [each["accepted"] for each in verdicts]

    assert accepted() == [False, True, False, False]
    assert accepted("--legacy-json") == [True, True, False, False]


def test_compat_decides_with_the_old_form_of_json_allowed(tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    file.write_text('{"type":"object"}')
    words = ("compat", "--first", "--type", "JSON", "--broker", "4.2", str(file))

    assert "✗ refused:" in run(*words).out
    assert "Pulsar would accept it as v0" in run(*words, "--legacy-json").out


@pytest.mark.parametrize("release", ["4.2.4-legacy", "4.2-legacy", "4.0.7-luna", "4.2.4x"])
def test_what_a_named_release_has_behind_its_numbers_is_not_passed_over(
    tmp_path: Path, release: str
) -> None:
    repository = _repository(tmp_path / "named", release, _DASH)
    mine = str(_repository(tmp_path / "mine", "4.0", _DASH))
    file = tmp_path / "order.avsc"
    file.write_text(json.dumps(_DASH))
    wanted = [
        run("compat", "--first", "--broker", release, str(file)),
        run("serve", "--broker", release, "--port", "0"),
        run("plan", "--repo", mine, "--as-if-broker", release),
        run("audit", "--repo", mine, "--as-if-broker", release),
    ]

    assert run("validate", "--repo", str(repository)).code == 1
    assert [each.code for each in wanted] == [2, 2, 2, 2]
    assert all(f"no profile of Pulsar {release}" in each.out + each.err for each in wanted)


def test_a_client_connects_by_the_rules_of_the_line(tmp_path: Path) -> None:
    old = _repository(tmp_path / "old", "3.0", _DASH)
    new = _repository(tmp_path / "new", "4.2", _DOLLAR)
    file = tmp_path / "wrong.avsc"
    file.write_text('["null"]')

    # A consumer whose definition is not valid is let in from 3.3 on; 3.0 has valid top unions.
    for repository, said in ((old, "as Pulsar 3.0.7 decides"), (new, "as Pulsar 4.2.4 decides")):
        assert run("plan", "--repo", str(repository), "--out", str(tmp_path / "p.json")).code == 0
        assert run("apply", "--repo", str(repository), str(tmp_path / "p.json")).code == 0
        topic = "shop/orders/other"
        found = run("connect", "producer", topic, str(file), "--repo", str(repository))
        assert said in found.out
        assert found.code == (0 if repository == old else 1), found.out


@pytest.mark.parametrize("broker", ["?", "x", "4.7"])
def test_a_line_that_there_is_none_of_offers_the_option_of_the_command(broker: str) -> None:
    served = run("serve", "--broker", broker, "--port", "0")
    compared = run("compat", "--broker", broker, "--first", "order.avsc")

    assert (served.code, compared.code) == (2, 2)
    assert "Pulsar" in served.err
    assert "--broker" in served.err
    assert "--as-if-broker" not in served.err


@pytest.mark.rule("PLAN-R011")
@pytest.mark.parametrize(
    ("release", "declared", "source", "decided"),
    [
        ("4.0.7", "4.0", "4.0.7 (learned)", []),
        ("4.0.7", "5.0", "4.0.7 (learned)", ["broker"]),
        ("5.0.1", "5.0", "5.0.1 (learned)", ["policy"]),
        ("5.0.1", "4.0", "5.0.1 (learned)", ["policy"]),
        ("", "4.0", "4.0 (gitops.yaml)", []),
        ("", "5.0", "5.0 (gitops.yaml)", ["policy"]),
    ],
)
def test_lockouts_are_decided_by_the_line_that_the_cluster_has(  # noqa: PLR0913, PLR0917 - columns
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    release: str,
    declared: str,
    source: str,
    decided: list[str],
) -> None:
    """The policy keeps consumers out of 5.0 alone; the move to 5.0 is a cause of its own.

    A cluster that does not show its release is taken for what `gitops.yaml` says, which is named.
    """
    root = _repository(tmp_path / "repo", "4.0", _DASH)
    assert run("apply", "--auto-approve", "--repo", root).code == 0
    if not release:
        for path in ("/brokers/version", "/schemas/{tenant}/{namespace}/{topic}/compatibility"):
            hidden = dict.fromkeys(PATHS[path], lambda _: responses.reason("hidden", 404))
            monkeypatch.setitem(PATHS, path, hidden)
    settings = BrokerSettings(release=release or "4.0.7")
    with (
        closing(EmbeddedRegistry("served", root / "registry.db", settings)) as registry,
        serve_in_thread(registry) as url,
    ):
        (root / "gitops.yaml").write_text(
            "apiVersion: pulsar-gitops/v1\nkind: Config\nregistries:\n  local:\n    kind: pulsar\n"
            f"    url: {url}\n    broker: '{declared}'\n"
        )
        with (root / "namespaces/shop/orders/namespace.yaml").open("a") as manifest:
            manifest.write("schemaCompatibilityStrategy: BACKWARD_TRANSITIVE\n")
        shown = run("plan", "--repo", root)
        plan = json.loads(run("plan", "--format", "json", "--repo", root).out)

    lockouts = [one["message"] for one in plan["findings"] if one["rule"] == "PLAN-R020"]
    causes = {
        "policy": "consumers with v0, the latest version, can no longer connect: "
        "schemaCompatibilityStrategy FULL → BACKWARD_TRANSITIVE: v0 is not a valid Avro schema",
        "broker": "producers with v0, the latest version, can no longer connect: broker 4.0 → 5.0",
    }
    named = [cause for cause, text in causes.items() if any(text in one for one in lockouts)]
    assert (named, len(lockouts)) == (decided, len(decided)), lockouts
    assert shown.code == (1 if decided else 0)
    assert f"Pulsar {source}" in shown.out, shown.out
    conflicts = [one["message"] for one in plan["findings"] if one["rule"] == "PLAN-R011"]
    contradiction = f"broker is {release} in the cluster, and {declared} in gitops.yaml"
    is_contradicted = bool(release) and not release.startswith(declared)
    assert conflicts == ([contradiction] if is_contradicted else [])
