"""How a plan, or a commit, found its subjects."""

from __future__ import annotations

from dataclasses import replace

from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import (
    BrokerSettings,
    NamespacePolicies,
    SchemaAutoUpdateCompatibilityStrategy,
    TopicPolicies,
)
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.state import RegistryState, Scope
from gitops.planning.former_state import (
    FormerState,
    FormerTopic,
    before_commit,
    before_plan,
    commit_scope,
    former_topic_state,
    plan_scope,
)
from gitops.planning.plan import make_plan
from gitops.planning.plan_document import Document, to_document
from tests.support.states import (
    CREATED,
    INT64,
    ORDERS,
    STRING,
    avro,
    field,
    question,
    state,
    topic_state,
)
from tests.support.waivers import refusal, waiver

_OTHER = TopicName(ORDERS, "other")
_NEW_SPACE = NamespaceName("shop", "new")
_OLD, _NEW = avro(field("a")), avro(field("a"), field("b", default=""))
_KEY = "schemaCompatibilityStrategy"


def _document(desired: RegistryState, observed: RegistryState, *, prune: bool = False) -> Document:
    asked = question(desired, observed)
    return to_document(make_plan(replace(asked, prune=prune)))


def _before(
    document: Document,
    observed: RegistryState,
    recorded: RegistryState | None = None,
    broker: BrokerSettings | None = None,
) -> FormerState:
    return before_plan(document, observed, recorded or RegistryState(), broker or BrokerSettings())


def test_a_registration_has_the_version_before_it() -> None:
    document = _document(state(topic_state(CREATED, _NEW)), state(topic_state(CREATED, _OLD)))

    former = _before(document, state(topic_state(CREATED, _OLD, _NEW)))

    assert former.topics == {CREATED: FormerTopic(topic=CREATED, schema=_OLD)}
    assert former.left == ()
    assert plan_scope(document) == Scope(
        namespaces=frozenset({ORDERS}), topics=frozenset({CREATED})
    )


def test_a_version_that_is_gone_cannot_come_back() -> None:
    document = _document(state(topic_state(CREATED, _NEW)), state(topic_state(CREATED, _OLD)))

    former = _before(document, state(topic_state(CREATED, _NEW, after=2)))

    assert former.topics == {}
    (one,) = former.left
    assert "the registry has no v0 any more" in one.message
    assert "plan --undo COMMIT" in one.hint


def test_a_first_version_is_what_the_plan_made() -> None:
    document = _document(state(topic_state(CREATED, _NEW)), state(topic_state(CREATED)))

    former = _before(document, state(topic_state(CREATED, _NEW)))

    assert former.topics[CREATED].created == _NEW


def test_a_deletion_is_known_from_the_snapshot_only() -> None:
    observed = state(topic_state(CREATED, _OLD), topic_state(_OTHER, STRING))
    document = _document(state(topic_state(_OTHER, STRING)), observed, prune=True)
    gone = state(topic_state(CREATED, after=2), topic_state(_OTHER, STRING))

    unknown = _before(document, gone)
    known = _before(document, gone, observed)

    assert unknown.topics == {}
    assert "neither the plan nor a snapshot" in unknown.left[0].message
    assert known.topics[CREATED].schema == _OLD
    assert "v0 do not come back" in known.left[0].message


def test_policies_have_the_value_before_the_plan_or_what_means_the_same() -> None:
    def spaces(policies: NamespacePolicies) -> RegistryState:
        return state(namespaces={ORDERS: policies})

    document = _document(
        spaces(
            NamespacePolicies(
                schema_compatibility_strategy=Strategy.FULL,
                is_allow_auto_update_schema=False,
                schema_validation_enforced=True,
                schema_auto_update_compatibility_strategy=(
                    SchemaAutoUpdateCompatibilityStrategy.FULL
                ),
            )
        ),
        spaces(NamespacePolicies()),
    )
    broker = BrokerSettings(is_allow_auto_update_schema_enabled=False)

    former = _before(document, spaces(NamespacePolicies()), broker=broker)

    keys = former.namespaces[ORDERS]
    assert keys == {
        _KEY: Strategy.UNDEFINED,
        "isAllowAutoUpdateSchema": False,
        "schemaValidationEnforced": False,
        "schemaAutoUpdateCompatibilityStrategy": None,
    }
    (one,) = former.left
    assert "a file cannot have that" in one.message


def test_a_topic_without_a_word_of_its_own_followed_its_namespace() -> None:
    own = TopicPolicies(schema_validation_enforced=False)
    enforced = {ORDERS: NamespacePolicies(schema_validation_enforced=True)}
    observed = state(topic_state(CREATED, _OLD), namespaces=enforced)
    document = _document(
        state(topic_state(CREATED, _OLD, policies=own), namespaces=enforced), observed
    )

    former = _before(document, observed)

    assert former.topics[CREATED].policies == {"schemaValidationEnforced": True}


def test_what_a_waiver_loosens_is_nothing_to_undo() -> None:
    breaking = avro(field("a"), field("must"))
    observed = state(topic_state(CREATED, _OLD))
    desired = state(topic_state(CREATED, breaking))
    asked = question(desired, observed)
    document = to_document(
        make_plan(replace(asked, waivers=(waiver(refusal(make_plan(asked)).fingerprint),)))
    )
    assert [one["action"] for one in document["actions"]].count("SetPolicy") == 2

    former = _before(document, state(topic_state(CREATED, _OLD, breaking)))

    assert former.topics[CREATED] == FormerTopic(topic=CREATED, schema=_OLD)


def test_a_commit_is_undone_by_what_the_files_had() -> None:
    none = RegistryState()
    before = state(
        topic_state(CREATED, _OLD),
        topic_state(_OTHER, INT64),
        namespaces={ORDERS: NamespacePolicies(schema_compatibility_strategy=Strategy.FULL)},
    )
    after = state(
        topic_state(CREATED, _NEW),
        namespaces={
            ORDERS: NamespacePolicies(
                schema_compatibility_strategy=Strategy.BACKWARD, is_allow_auto_update_schema=False
            ),
            _NEW_SPACE: NamespacePolicies(),
        },
    )
    observed = state(topic_state(CREATED, _OLD, _NEW), topic_state(_OTHER))

    former = before_commit(before, after, none, observed)

    assert former.topics == {
        CREATED: FormerTopic(topic=CREATED, schema=_OLD),
        _OTHER: FormerTopic(topic=_OTHER, schema=INT64),
    }
    assert former.namespaces[ORDERS] == {_KEY: Strategy.FULL, "isAllowAutoUpdateSchema": None}
    said = {one.subject: one.message for one in former.left}
    assert said[str(_NEW_SPACE)] == "the namespace stays: no plan deletes one"
    assert "isAllowAutoUpdateSchema stays false" in said[str(ORDERS)]
    assert "do not come back" in said[str(_OTHER)]
    assert commit_scope(before, after).topics == {CREATED, _OTHER}


def test_a_snapshot_has_what_the_files_did_not_manage() -> None:
    def spaces(*, allowed: bool | None) -> RegistryState:
        policies = NamespacePolicies(is_allow_auto_update_schema=allowed)
        return state(namespaces={ORDERS: policies})

    former = before_commit(
        spaces(allowed=None), spaces(allowed=False), spaces(allowed=True), RegistryState()
    )

    assert former.namespaces == {ORDERS: {"isAllowAutoUpdateSchema": True}}
    assert former.left == ()


def test_the_state_for_the_files_keeps_what_the_change_left_alone() -> None:
    policies = TopicPolicies(
        schema_compatibility_strategy=Strategy.FULL, schema_validation_enforced=True
    )
    now = topic_state(CREATED, _NEW, policies=policies)

    then = former_topic_state(
        FormerTopic(topic=CREATED, schema=_OLD, policies={_KEY: Strategy.BACKWARD}), now
    )
    alone = former_topic_state(FormerTopic(topic=CREATED, policies={_KEY: None}), now)

    assert then.history.latest
    assert then.history.latest.info == _OLD
    assert then.policies == replace(policies, schema_compatibility_strategy=Strategy.BACKWARD)
    assert alone.history == now.history
    assert alone.policies == TopicPolicies(schema_validation_enforced=True)


def test_a_schema_that_was_made_a_new_version_stays_as_it_is() -> None:
    revised = topic_state(CREATED, avro(field("a"), revision="2"))

    assert former_topic_state(FormerTopic(topic=CREATED, schema=_OLD), revised) == revised


def test_a_tenant_and_a_topic_that_a_plan_created_stay() -> None:
    document = _document(state(topic_state(CREATED, _NEW)), state(topic_state(CREATED)))
    created = [
        {"action": "CreateTenant", "tenant": "shop", "allowedClusters": None, "adminRoles": []},
        {"action": "CreateTopic", "topic": str(CREATED), "partitions": 2},
    ]
    document["actions"] = [*created, *document["actions"]]

    former = _before(document, state(topic_state(CREATED, _NEW)))

    assert [(one.subject, one.message) for one in former.left] == [
        ("shop", "the tenant stays: no plan deletes one"),
        (str(CREATED), "the topic itself stays: no plan deletes one"),
    ]
    assert plan_scope(document).topics == {CREATED}
