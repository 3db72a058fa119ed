"""What a change touches and reaches, and which history it is compared with."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from gitops.model.check import HistorySource
from gitops.model.findings import Severity
from gitops.model.names import TopicName
from gitops.model.plan import RefusedSchema, RegisterSchema
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.registries.embedded.registry import EmbeddedRegistry
from tests.support.check_repository import (
    FILES,
    FOLDER,
    HEAD,
    SETTINGS,
    avro,
    manifest,
    record,
    report,
    touched,
    with_default,
)
from tests.support.git_repos import GitRepository

pytestmark = pytest.mark.slow


@pytest.fixture
def repo(tmp_path: Path) -> GitRepository:
    made = GitRepository(tmp_path / "repo")
    made.commit(FILES)
    return made


def test_definitions_with_odd_names_touch_their_topics(repo: GitRepository) -> None:
    odd, folded = f"{FOLDER}/it's.avsc", f"{FOLDER}/my own.json"
    repo.commit(
        {
            odd: avro("A", "a"),
            folded: json.dumps({"type": "array", "items": "Money"}),
            "types/money.avsc": avro("Money", "a"),
            f"{FOLDER}/odd.yaml": manifest("type: AVRO, definition: 'it''s.avsc'"),
            f"{FOLDER}/folded.yaml": manifest("type: AVRO, definition: my\n  own.json"),
        }
    )
    repo.write({odd: avro("A", "b"), "types/money.avsc": avro("Money", "b")})
    assert touched(repo) == {"odd": (odd,), "folded": ("types/money.avsc",)}
    repo.git("checkout", "--quiet", "types")
    repo.write({folded: '"string"'})
    assert touched(repo) == {"odd": (odd,), "folded": (folded,)}


def test_an_imported_proto_reaches_its_topic(repo: GitRepository) -> None:
    repo.write({"protos/unit.proto": f"{HEAD}message Unit {{ int64 a = 1; }}\n"})
    assert touched(repo) == {"native": ("protos/unit.proto",)}


def test_a_comment_in_an_imported_proto_reaches_nobody(repo: GitRepository) -> None:
    repo.write({"protos/unit.proto": FILES["protos/unit.proto"] + "// a comment\n"})
    assert touched(repo) == {}


def test_what_brokers_do_by_default_reaches_every_topic(repo: GitRepository) -> None:
    defaults = ", brokerDefaults: {schemaCompatibilityStrategy: BACKWARD}"
    repo.write({"gitops.yaml": SETTINGS.format(defaults)})
    assert touched(repo) == dict.fromkeys(("created", "native", "status"), ("gitops.yaml",))
    (one,) = report(repo).registries
    assert {topic.local_name for topic in one.strategies_before} == {"created", "native", "status"}


@pytest.mark.parametrize("staged", [True, False])
def test_a_renamed_topic_is_known_by_its_schema(repo: GitRepository, *, staged: bool) -> None:
    created = f"{FOLDER}/created"
    repo.write({f"{created}.yaml": None, f"{created}.avsc": None})
    repo.write(
        {
            f"{FOLDER}/placed.yaml": manifest("type: AVRO, definition: placed.avsc"),
            f"{FOLDER}/placed.avsc": FILES[f"{created}.avsc"],
        }
    )
    if staged:
        repo.git("add", "--all")
    found = report(repo).touched
    new, old = (TopicName.parse(f"shop/orders/{name}") for name in ("placed", "created"))
    assert (found.renamed, found.removed) == ({new: old}, ())


def test_a_new_topic_beside_a_removed_one_is_no_rename(repo: GitRepository) -> None:
    repo.write({f"{FOLDER}/created.yaml": None, f"{FOLDER}/created.avsc": None})
    repo.write(
        {
            f"{FOLDER}/other.yaml": manifest("type: AVRO, definition: other.avsc"),
            f"{FOLDER}/other.avsc": avro("Other", *"lmnopq"),
        }
    )
    repo.git("add", "--all")
    found = report(repo).touched
    assert [topic.local_name for topic in found.removed] == ["created"]
    assert found.renamed == {}


def test_a_topic_that_only_changes_its_domain_keeps_its_history(repo: GitRepository) -> None:
    more = "topic: non-persistent://shop/orders/status\n"
    repo.write({f"{FOLDER}/status.yaml": manifest("type: STRING", more)})
    found = report(repo).touched
    assert (found.removed, found.renamed) == ((), {})


@pytest.mark.parametrize("source", [HistorySource.GIT, HistorySource.SNAPSHOT])
def test_a_topic_that_changes_its_domain_is_compared_with_its_history(
    repo: GitRepository, source: HistorySource
) -> None:
    if source is HistorySource.SNAPSHOT:
        record(repo, FILES[f"{FOLDER}/created.avsc"])
        repo.commit()
    else:
        repo.commit({"x": ""})
    more = "topic: non-persistent://shop/orders/created\n"
    repo.commit({f"{FOLDER}/status.yaml": manifest("type: INT64")})
    repo.write(
        {
            f"{FOLDER}/created.yaml": manifest("type: AVRO, definition: created.avsc", more),
            f"{FOLDER}/created.avsc": avro("Created", "a", "b"),
        }
    )
    (one,) = report(repo).registries
    (refused,) = one.plan.notices
    assert isinstance(refused, RefusedSchema)
    assert (one.history.source, refused.latest_version) == (source, 0)
    found = refused.findings[0]
    assert found.compared is not None
    assert found.compared.file == f"{FOLDER}/created.avsc"


def test_a_schema_that_is_taken_out_of_its_manifest(repo: GitRepository) -> None:
    repo.write({f"{FOLDER}/status.yaml": "apiVersion: pulsar-gitops/v1\nkind: Topic\n"})
    assert [one.rule for one in report(repo).findings] == ["CHECK-R001"]


def test_the_snapshot_is_that_of_the_base(repo: GitRepository) -> None:
    """Else a change could bring the history that it wants to be compared with."""
    record(repo)
    repo.write({f"{FOLDER}/created.avsc": avro("Created", "b")})
    (one,) = report(repo).registries
    assert one.history.source is HistorySource.GIT
    assert not any(isinstance(each, RegisterSchema) for each in one.plan.actions)
    repo.git("stash", "--quiet", "--", f"{FOLDER}/created.avsc")
    repo.commit()
    repo.git("stash", "pop", "--quiet")
    (one,) = report(repo).registries
    assert one.history.source is HistorySource.SNAPSHOT
    assert one.history.recorded == repo.git("log", "-1", "--format=%cs")


def test_what_the_base_has_comes_after_an_older_snapshot(repo: GitRepository) -> None:
    """As after each merge, until the next snapshot: its readers are to be thought of."""
    record(repo, avro("Created", "a"))
    repo.commit({f"{FOLDER}/created.avsc": with_default("")})
    repo.write({f"{FOLDER}/created.avsc": with_default(0)})
    (one,) = report(repo).registries
    assert one.history.source is HistorySource.SNAPSHOT
    assert "shop/orders/created (v1)" in one.history.limits[-1]
    (refused,) = one.plan.notices
    assert isinstance(refused, RefusedSchema)
    assert refused.latest_version == 1
    assert one.drift is not None
    assert not one.drift.actions
    assert not one.drift.notices


def test_a_snapshot_that_has_what_the_base_has_needs_no_word(repo: GitRepository) -> None:
    record(repo, avro("Created", "a"))
    repo.commit()
    repo.write({f"{FOLDER}/created.avsc": avro("Created", "a", "b")})
    (one,) = report(repo).registries
    assert len([each for each in one.history.limits if "snapshot" in each]) == 1


def test_a_definition_of_the_base_that_no_registry_takes_is_no_version(
    repo: GitRepository,
) -> None:
    record(repo, avro("Created", "a"))
    repo.commit({f"{FOLDER}/created.avsc": "{"})
    repo.write({f"{FOLDER}/created.avsc": avro("Created", "b")})
    (one,) = report(repo).registries
    assert [
        each.latest_version for each in one.plan.notices if isinstance(each, RefusedSchema)
    ] == [0]


def test_files_that_are_not_reached_are_not_read(
    repo: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gitops.git.checkout import Checkout

    read: set[str] = set()
    whole = Checkout.blob

    def watched(self: Checkout, name: str, path: str) -> bytes:
        read.add(path)
        return whole(self, name, path)

    repo.commit({f"{FOLDER}/created.avsc": avro("Created", "a"), "README.md": "x"})
    repo.write({f"{FOLDER}/created.avsc": avro("Created", "a", "b")})
    monkeypatch.setattr(Checkout, "blob", watched)
    report(repo)
    unread = {f"{FOLDER}/status.yaml", f"{FOLDER}/native.yaml", "README.md", "protos/unit.proto"}
    assert not read & unread


def test_what_a_link_leads_to_reaches_whoever_uses_the_link(repo: GitRepository) -> None:
    real, link = repo.root / "types/real.avsc", repo.root / FOLDER / "created.avsc"
    real.parent.mkdir()
    link.rename(real)
    link.symlink_to("../../../types/real.avsc")
    repo.commit(message="a link")
    repo.write({"types/real.avsc": avro("Created", "a", "b")})

    assert touched(repo) == {"created": (f"{FOLDER}/created.avsc",)}
    repo.git("switch", "--quiet", "--create", "pr")
    repo.commit()
    assert touched(repo) == {"created": (f"{FOLDER}/created.avsc",)}


@pytest.mark.parametrize("folder", ["samples", "snapshots"])
def test_a_definition_may_lie_where_recorded_data_does(repo: GitRepository, folder: str) -> None:
    manifest_of = manifest(f"type: AVRO, definition: ../../../{folder}/real.avsc")
    repo.commit(
        {f"{FOLDER}/created.yaml": manifest_of, f"{folder}/real.avsc": avro("Created", "a")}
    )
    repo.write({f"{folder}/real.avsc": avro("Created", "a", "b")})

    assert touched(repo) == {"created": (f"{folder}/real.avsc",)}


def test_an_import_in_single_quotes_is_one(repo: GitRepository) -> None:
    native = FILES[f"{FOLDER}/native.proto"].replace('"protos/unit.proto"', "'protos/unit.proto'")
    repo.commit({f"{FOLDER}/native.proto": native})
    repo.write({"protos/unit.proto": f"{HEAD}message Unit {{ int64 a = 1; }}\n"})

    assert touched(repo) == {"native": ("protos/unit.proto",)}


def test_a_number_of_thousands_of_digits_is_a_finding(repo: GitRepository) -> None:
    text = avro("Created", "a").replace('"string"', '"int", "default": ' + "9" * 5000)
    repo.write({f"{FOLDER}/created.avsc": text})

    assert "AVRO-P001" in {
        one.rule for each in report(repo).registries for one in each.plan.findings
    } | {one.rule for one in report(repo).findings}


@pytest.mark.rule("CHECK-R009")
def test_errors_of_the_base_that_the_change_depends_on(repo: GitRepository) -> None:
    namespace = f"{FOLDER}/namespace.yaml"
    header = "apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: shop/orders\n"
    repo.commit({namespace: f"{header}schemaCompatibilityStrategy: FULLY\n"})
    repo.write({f"{FOLDER}/created.avsc": avro("Created", "a", "b")})
    warnings = [finding for finding in report(repo).findings if finding.rule == "CHECK-R009"]
    assert [warning.message for warning in warnings] == [
        f"the base already has an error in {namespace}"
    ]
    repo.write({namespace: f"{header}schemaCompatibilityStrategy: FULL\n"})
    assert "CHECK-R009" not in {finding.rule for finding in report(repo).findings}


_CLIENT = (
    "apiVersion: pulsar-gitops/v1\nkind: Client\nname: later\nowner: me\nconsumes:\n"
    "  - {{topic: shop/orders/created, subscription: s, schema: {{{}}}}}\n"
)


def _with_pending_plan(repo: GitRepository) -> None:
    """The registry has v0 of shop/orders/created; its next version, without `a`, is merged."""
    topic = TopicName.parse("shop/orders/created")
    with closing(EmbeddedRegistry("local", repo.root / "x.db")) as live:
        live.create_namespace(topic.namespace)
        live.register_schema(
            topic, SchemaInfo(type=SchemaType.AVRO, schema=FILES[f"{FOLDER}/created.avsc"])
        )
    policy = "schemaCompatibilityStrategy: BACKWARD\n"
    repo.commit(
        {
            ".gitignore": "x.db\n",
            f"{FOLDER}/namespace.yaml": "apiVersion: pulsar-gitops/v1\nkind: Namespace\n"
            f"namespace: shop/orders\n{policy}",
            f"{FOLDER}/created.avsc": json.dumps(
                {"type": "record", "name": "Created", "fields": []}
            ),
        }
    )


@pytest.mark.rule("PLAN-R021")
def test_a_new_client_is_asked_about_after_the_plan_that_is_pending(repo: GitRepository) -> None:
    _with_pending_plan(repo)
    repo.write({"clients/later.yaml": _CLIENT.format("version: 0")})

    (finding,) = report(repo).findings

    assert (finding.rule, finding.severity) == ("PLAN-R021", Severity.ERROR)
    assert finding.location
    assert (finding.location.file, finding.location.line) == ("clients/later.yaml", 6)
    assert finding.clients == ("later",)
    assert finding.message.endswith("the plan for this is not applied yet")


def test_a_client_that_the_pending_plan_lets_in_is_no_finding(repo: GitRepository) -> None:
    _with_pending_plan(repo)
    repo.write(
        {"clients/later.yaml": _CLIENT.format("definition: ../namespaces/shop/orders/created.avsc")}
    )

    assert report(repo).findings == ()


def test_a_lockout_that_the_base_has_already_is_not_the_changes(repo: GitRepository) -> None:
    _with_pending_plan(repo)
    client = _CLIENT.format("version: 0")
    repo.commit({"clients/later.yaml": client})
    repo.write({"clients/later.yaml": client.replace("owner: me", "owner: you")})

    assert report(repo).findings == ()


def _branch_behind_main(repo: GitRepository) -> None:
    """Branch f gives shop/orders/created a field `b` of type int; main is still where it was."""
    repo.git("checkout", "--quiet", "-b", "f")
    repo.commit({f"{FOLDER}/created.avsc": with_default(0)})
    repo.git("checkout", "--quiet", "main")


def test_a_newer_snapshot_of_the_base_counts(repo: GitRepository) -> None:
    record(repo, FILES[f"{FOLDER}/created.avsc"])
    repo.commit()
    _branch_behind_main(repo)
    record(repo, with_default(""))
    repo.commit()
    commit = repo.git("rev-parse", "main")[:7]
    repo.git("checkout", "--quiet", "f")

    (check,) = report(repo).registries

    assert isinstance(check.plan.notices[0], RefusedSchema)
    newer = f"The snapshot is that of {commit}, recorded after the change branched off."
    assert newer in check.history.limits


@pytest.mark.rule("CHECK-R010")
@pytest.mark.parametrize(
    ("merged", "is_reported"),
    [
        ({f"{FOLDER}/created.avsc": with_default("")}, True),
        ({f"{FOLDER}/created.avsc": with_default(0)}, False),
        ({f"{FOLDER}/status.yaml": manifest("type: INT64")}, False),
        ({"clients/later.yaml": _CLIENT.format("version: 0")}, True),
    ],
    ids=["the same file", "the same edit", "another topic", "a client of the topic"],
)
def test_a_base_that_moved_on_for_the_same_topics_is_reported(
    repo: GitRepository, merged: dict[str, str], *, is_reported: bool
) -> None:
    _branch_behind_main(repo)
    repo.commit(merged)
    repo.git("checkout", "--quiet", "f")

    findings = [found for found in report(repo).findings if found.rule == "CHECK-R010"]

    assert bool(findings) is is_reported
    for found in findings:
        (file,) = merged
        assert f"main has changed {file} since" in found.message
        assert found.subject == "shop/orders/created"
