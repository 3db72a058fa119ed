"""From files and a registry to a plan: what is read, what counts, what stops it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.changes.known_names import KnownNames
from gitops.changes.registries import desired_state, registry_config
from gitops.changes.repository_plan import PlanRequest, UnplannableError, plan_repository
from gitops.model.errors import RegistryRefusedError, UsageError
from gitops.model.findings import Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import DeleteSchema
from gitops.model.policy import NamespacePolicies, SchemaCompatibilityStrategy, TopicPolicies
from gitops.model.schema import SchemaHistory
from gitops.model.state import RegistryState, Repository, Scope, TopicState
from gitops.planning.plan import subject_of
from gitops.planning.plan_document import to_document
from gitops.planning.reviewed_plan import resume
from gitops.ports import Progress, no_progress
from gitops.registries.embedded.settings import EmbeddedConfig
from gitops.repository.loader import load
from gitops.usecases.validate import validate
from tests.support.apply_examples import written
from tests.support.fake_registry import FakeRegistry
from tests.support.states import CREATED, ORDERS, STRING, TODAY, state, topic_state
from tests.support.trees import MemoryTree, repository

_MANIFEST = "apiVersion: pulsar-gitops/v1\nkind: Topic\nschema: {type: STRING}\n"
_BAD_DEFAULT = (
    "apiVersion: pulsar-gitops/v1\nkind: Topic\nschema:\n  type: AVRO\n  definition:\n"
    "    type: record\n    name: A\n    fields: [{name: a, type: int, default: text}]\n"
)
_FOLDER = "namespaces/shop/orders"
_CONFIG = EmbeddedConfig(path="registry.db")


def _loaded(files: dict[str, str], rules: str = "") -> Repository:
    tree = repository(files)
    if rules:
        settings = tree.read("gitops.yaml").decode() + f"rules: {rules}\n"
        tree = MemoryTree({**files, "gitops.yaml": settings})
    return load(tree)


def _planning(
    files: Repository, registry: FakeRegistry, *, prune: bool = False, recorded: str = ""
) -> PlanRequest:
    return PlanRequest(
        repository=files,
        registry=registry,
        config=_CONFIG,
        locate=lambda _topic, _pointer: None,
        today=TODAY,
        known=_known(recorded),
        prune=prune,
    )


def _known(recorded: str) -> KnownNames:
    topics = frozenset({TopicName.parse(recorded)} if recorded else ())
    return KnownNames(topics=topics, namespaces=frozenset(topic.namespace for topic in topics))


def test_only_what_the_files_name_is_read() -> None:
    registry = FakeRegistry(listed=[TopicName(ORDERS, "unmanaged")])

    plan_repository(_planning(_loaded({f"{_FOLDER}/created.yaml": _MANIFEST}), registry))

    (scope,) = registry.asked
    assert scope.namespaces == {ORDERS}
    assert scope.topics == {CREATED}


def test_pruning_reads_what_is_listed_or_recorded_in_managed_namespaces() -> None:
    listed = [
        TopicName(ORDERS, "unmanaged"),
        TopicName(ORDERS, "created", "non-persistent"),
    ]
    known = state(
        topic_state(CREATED, STRING),
        topic_state(listed[0], STRING),
        topic_state(TopicName(ORDERS, "recorded"), STRING),
    )
    registry = FakeRegistry(known, listed=listed)
    files = _loaded({f"{_FOLDER}/created.yaml": _MANIFEST}, "{PLAN-R005: 'off'}")

    made = plan_repository(_planning(files, registry, prune=True, recorded="shop/orders/recorded"))
    elsewhere = plan_repository(
        _planning(files, registry, prune=True, recorded="shop/payments/recorded")
    )

    assert [str(a.topic) for a in made.actions if isinstance(a, DeleteSchema)] == [
        "shop/orders/recorded",
        "shop/orders/unmanaged",
    ]
    assert [str(a.topic) for a in elsewhere.actions if isinstance(a, DeleteSchema)] == [
        "shop/orders/unmanaged"
    ]


def test_a_history_that_two_topics_share_is_deleted_once() -> None:
    volatile = TopicName(ORDERS, "other", "non-persistent")
    both = state(topic_state(volatile.keeper, STRING), topic_state(volatile, STRING))
    files = _loaded({f"{_FOLDER}/created.yaml": _MANIFEST})

    made = plan_repository(_planning(files, FakeRegistry(both, listed=both.topics), prune=True))
    alone = plan_repository(_planning(files, FakeRegistry(both, listed=[volatile]), prune=True))

    assert [a.topic for a in made.actions if isinstance(a, DeleteSchema)] == [volatile.keeper]
    assert [a.topic for a in alone.actions if isinstance(a, DeleteSchema)] == [volatile]


def test_a_topic_without_manifest_and_schema_is_none_of_a_plans_subjects() -> None:
    files = _loaded({f"{_FOLDER}/created.yaml": _MANIFEST})
    known = state(topic_state(CREATED, STRING))

    made = plan_repository(
        _planning(files, FakeRegistry(known, listed=[TopicName(ORDERS, "idle")]), prune=True)
    )

    assert set(made.observed) == {"namespace shop/orders", "topic shop/orders/created"}


def test_an_apply_of_a_reviewed_plan_looks_at_its_subjects_and_lists_nothing() -> None:
    gone, newcomer = TopicName(ORDERS, "gone"), TopicName(ORDERS, "newcomer")
    known = state(*(topic_state(name, STRING) for name in (CREATED, gone, newcomer)))
    registry = FakeRegistry(known, unlisted=[ORDERS])
    files = _loaded({f"{_FOLDER}/created.yaml": _MANIFEST})
    twin = TopicName(ORDERS, "created", "non-persistent")
    reviewed = Scope(namespaces=frozenset({ORDERS}), topics=frozenset({gone, twin}))

    made = plan_repository(replace(_planning(files, registry, prune=True), reviewed=reviewed))

    assert [scope.topics for scope in registry.asked] == [{CREATED, gone}]
    assert [a.topic for a in made.actions if isinstance(a, DeleteSchema)] == [gone]


def test_topics_with_a_schema_and_no_manifest_are_unmanaged() -> None:
    own = TopicPolicies(schema_validation_enforced=True)
    names = ["second", "first", "loose", "created-billing-RETRY", "created-billing-DLQ", "gone"]
    listed = [TopicName(ORDERS, name) for name in names]
    known = state(
        topic_state(CREATED, STRING),
        topic_state(listed[0], STRING),
        topic_state(listed[1], STRING),
        topic_state(listed[2], policies=own),
        TopicState(topic=listed[5], history=SchemaHistory(next_version=2)),
    )
    others = [
        TopicName(ORDERS, "created", "non-persistent"),
        TopicName(NamespaceName("shop", "unmanaged"), "other"),
    ]
    files = _loaded({f"{_FOLDER}/created.yaml": _MANIFEST}, "{PLAN-R005: 'off'}")
    registry = FakeRegistry(known, listed=[*listed, *others])

    made = plan_repository(_planning(files, registry))

    assert [str(topic) for topic in made.unmanaged] == [
        "shop/orders/first",
        "shop/orders/loose",
        "shop/orders/second",
    ]
    assert (made.without_schema, made.unlisted, made.actions) == (3, (), ())
    # What they hold decides nothing, and is not among what an apply looks at again.
    assert set(made.observed) == {"namespace shop/orders", "topic shop/orders/created"}
    pruned = plan_repository(_planning(files, registry, prune=True))
    assert [str(topic) for topic in pruned.unmanaged] == ["shop/orders/loose"]
    assert len(pruned.actions) == 2


def test_topics_that_only_a_record_names_are_unmanaged_if_they_have_a_schema() -> None:
    gone = NamespaceName("shop", "gone")
    kept, deleted = TopicName(gone, "kept"), TopicName(gone, "deleted")
    known = state(topic_state(CREATED, STRING), topic_state(kept, STRING))
    files = _loaded({f"{_FOLDER}/created.yaml": _MANIFEST}, "{PLAN-R005: 'off'}")
    names = KnownNames(
        topics=frozenset({CREATED, kept, deleted, TopicName(ORDERS, "renamed")}),
        namespaces=frozenset({ORDERS, gone, NamespaceName("shop", "never")}),
        limits=("The clone is shallow.",),
    )
    planning = replace(_planning(files, FakeRegistry(known)), known=names)

    for prune in (False, True):
        made = plan_repository(replace(planning, prune=prune))

        assert (made.unmanaged, made.unmanaged_namespaces) == ((kept,), (gone,))
        assert (made.without_schema, made.limits, made.actions) == (0, names.limits, ())


def test_without_git_only_a_plan_that_prunes_has_limits() -> None:
    files = _loaded({f"{_FOLDER}/created.yaml": _MANIFEST})
    none = KnownNames(limits=("There is no git.",), has_history=False)
    planning = replace(_planning(files, FakeRegistry()), known=none)

    assert plan_repository(planning).limits == ()
    assert plan_repository(replace(planning, prune=True)).limits == ("There is no git.",)


def test_what_cannot_be_read_stops_only_a_plan_that_prunes() -> None:
    class Forbidding(FakeRegistry):
        def observe(self, scope: Scope, progress: Progress = no_progress) -> RegistryState:
            if any(topic.local_name == "secret" for topic in scope.topics):
                raise RegistryRefusedError("not for you", status=403)
            return super().observe(scope, progress)

    files = _loaded({f"{_FOLDER}/created.yaml": _MANIFEST})
    registry = Forbidding(state(topic_state(CREATED, STRING)), listed=[TopicName(ORDERS, "secret")])

    assert plan_repository(_planning(files, registry)).unlisted == (ORDERS,)
    with pytest.raises(RegistryRefusedError):
        plan_repository(_planning(files, registry, prune=True))


def test_a_topic_that_comes_meanwhile_makes_no_plan_stale() -> None:
    files = _loaded({f"{_FOLDER}/created.yaml": _MANIFEST})
    nothing = state(namespaces={ORDERS: _NOTHING})
    other = TopicName(ORDERS, "other")
    more = state(topic_state(other, STRING))

    before = plan_repository(_planning(files, FakeRegistry(nothing)))
    after = plan_repository(_planning(files, FakeRegistry(more, listed=[other])))

    assert after.unmanaged == (other,)
    assert to_document(after)["digest"] == to_document(before)["digest"]
    assert resume(written(before), after).done == 0


def test_files_with_errors_are_not_planned() -> None:
    files = _loaded({f"{_FOLDER}/created.yaml": _MANIFEST + "nonsense: 1\n"})
    registry = FakeRegistry()

    with pytest.raises(UnplannableError) as raised:
        plan_repository(_planning(files, registry))

    assert raised.value.exit_code == 1
    assert registry.asked == []


def test_findings_are_rated_as_configured() -> None:
    files = {f"{_FOLDER}/created.yaml": _BAD_DEFAULT, f"{_FOLDER}/stray.avsc": '"int"'}

    as_is = plan_repository(
        _planning(_loaded(files), FakeRegistry(state(namespaces={ORDERS: _NOTHING})))
    )
    rated = plan_repository(
        _planning(
            _loaded(files, "{AVRO-P002: 'off', REPO-R023: info}"),
            FakeRegistry(state(namespaces={ORDERS: _NOTHING})),
        )
    )

    assert [(one.rule, one.severity) for one in as_is.findings] == [
        ("AVRO-P002", Severity.ERROR),
        ("REPO-R023", Severity.WARNING),
    ]
    assert [type(one).__name__ for one in as_is.notices] == ["RefusedSchema"]
    # Once nothing holds the invalid default back, no client could use the version.
    assert {one.rule: one.severity for one in rated.findings} == {
        "REPO-R023": Severity.INFO,
        "PLAN-R020": Severity.WARNING,
    }
    assert rated.notices == ()


_NOTHING = NamespacePolicies()


# ------------------------------------------------------------------ desired


def test_every_topic_has_its_namespace() -> None:
    files = _loaded({f"{_FOLDER}/created.yaml": _MANIFEST})

    assert set(desired_state(files, _CONFIG).namespaces) == {ORDERS}


def test_a_registrys_own_policies_are_laid_over_those_of_the_files() -> None:
    text = (
        "apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: shop/orders\n"
        "schemaCompatibilityStrategy: FULL\nschemaValidationEnforced: true\n"
    )
    files = _loaded({f"{_FOLDER}/namespace.yaml": text})
    other = NamespaceName("shop", "other")
    backward = NamespacePolicies(schema_compatibility_strategy=SchemaCompatibilityStrategy.BACKWARD)

    wanted = desired_state(
        files, EmbeddedConfig(path="x", namespaces={ORDERS: backward, other: backward})
    )

    assert {name: each.policies for name, each in wanted.namespaces.items()} == {
        ORDERS: NamespacePolicies(
            schema_compatibility_strategy=SchemaCompatibilityStrategy.BACKWARD,
            schema_validation_enforced=True,
        )
    }


def test_registries_are_found_by_name() -> None:
    files = _loaded({})

    assert registry_config(files, None)[0] == registry_config(files, "local")[0] == "local"
    with pytest.raises(UsageError, match="no registry 'locl'") as raised:
        registry_config(files, "locl")
    assert "local" in raised.value.hint
    with pytest.raises(UsageError) as raised:
        registry_config(files, "production")
    assert raised.value.hint == "known: local"


# ------------------------------------------------------------------ validate


@pytest.mark.parametrize(
    ("paths", "files"),
    [
        ((), ["a.avsc", "b.avsc", "created.yaml"]),
        ((".",), ["a.avsc", "b.avsc", "created.yaml"]),
        ((_FOLDER,), ["a.avsc", "b.avsc", "created.yaml"]),
        (("namespaces",), ["a.avsc", "b.avsc", "created.yaml"]),
        ((f"{_FOLDER}/a.avsc",), ["a.avsc"]),
        ((f"{_FOLDER}/a.avsc", f"{_FOLDER}/created.yaml"), ["a.avsc", "created.yaml"]),
        ((f"{_FOLDER}/a",), []),
        (("names",), []),
        (("clients",), []),
    ],
)
def test_findings_of_some_paths(paths: tuple[str, ...], files: list[str]) -> None:
    loaded = _loaded(
        {
            f"{_FOLDER}/created.yaml": _BAD_DEFAULT,
            f"{_FOLDER}/a.avsc": '"int"',
            f"{_FOLDER}/b.avsc": '"int"',
        }
    )

    found = [one.location.file for one in validate(loaded, paths, today=TODAY) if one.location]

    assert found == [f"{_FOLDER}/{file}" for file in files]


def test_rules_that_are_off_are_not_reported() -> None:
    loaded = _loaded({f"{_FOLDER}/a.avsc": '"int"'}, "{REPO-R023: 'off'}")

    assert validate(loaded, today=TODAY) == ()


def test_an_empty_repository_plans_nothing() -> None:
    made = plan_repository(_planning(_loaded({}), FakeRegistry(RegistryState())))

    assert (made.actions, made.notices, made.findings) == ((), (), ())


@pytest.mark.rule("PLAN-R013")
def test_a_topic_that_the_registry_cannot_show_is_a_finding_and_the_others_are_planned() -> None:
    files = _loaded({f"{_FOLDER}/created.yaml": _MANIFEST, f"{_FOLDER}/paid.yaml": _MANIFEST})
    paid, unmanaged = TopicName(ORDERS, "paid"), TopicName(ORDERS, "unmanaged")
    held = state(topic_state(unmanaged, STRING))
    broken = {paid: "the registry answered 500: gone"}

    plan = plan_repository(_planning(files, FakeRegistry(held, listed=[unmanaged], broken=broken)))

    (found,) = plan.findings
    assert (found.rule, found.subject, found.severity) == ("PLAN-R013", str(paid), Severity.ERROR)
    assert "the registry answered 500: gone" in found.message
    assert [str(subject_of(action)) for action in plan.actions] == [str(CREATED)]
    assert plan.topics == 2
    assert plan.unmanaged == (unmanaged,)
    assert not plan_repository(_planning(files, FakeRegistry(held))).findings


def test_an_unmanaged_topic_that_the_registry_cannot_show_is_not_passed_over() -> None:
    files = _loaded({f"{_FOLDER}/created.yaml": _MANIFEST})
    unmanaged = TopicName(ORDERS, "unmanaged")
    held = state(topic_state(CREATED, STRING))
    registry = FakeRegistry(held, listed=[unmanaged], broken={unmanaged: "gone"})

    assert plan_repository(_planning(files, registry)).unlisted == (ORDERS,)
