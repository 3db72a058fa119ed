"""Which clients a plan locks out: by a policy, by a version, and what a waiver changes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitops.model.clients import (
    Client,
    ClientLanguage,
    Consumes,
    ObservedClients,
    ObservedProducer,
    ObservedSubscription,
    ObservedTopic,
    Produces,
    VersionPin,
)
from gitops.model.findings import Finding, Location, Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import Plan, SetPolicy
from gitops.model.policy import NamespacePolicies, TopicPolicies
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaHistory, SchemaInfo, SchemaType
from gitops.model.waivers import Waiver
from gitops.planning.plan import PlanInput, decide_topics, make_plan
from tests.support.states import CREATED, ORDERS, TODAY, avro, field, question, state, topic_state
from tests.support.waivers import refusal, waiver

LONG, TEXT = avro(field("a", "long")), avro(field("a", "string"))
WIDER = avro(field("a", "long"), field("b", "string", default=""))
_HERE = Location(file="clients/writer.yaml")
NARROWER = avro(field("b", "string", default=""))


def policy_change(
    before: NamespacePolicies, after: NamespacePolicies, *history: SchemaInfo
) -> PlanInput:
    """The files want the latest version under other policies of the namespace."""
    observed = state(topic_state(CREATED, *history), namespaces={ORDERS: before})
    desired = state(topic_state(CREATED, *history[-1:]), namespaces={ORDERS: after})
    return question(desired, observed)


def strategy_change(before: Strategy, after: Strategy, *history: SchemaInfo) -> PlanInput:
    return policy_change(
        NamespacePolicies(schema_compatibility_strategy=before),
        NamespacePolicies(schema_compatibility_strategy=after),
        *history,
    )


def lockouts(plan: Plan) -> dict[str, Finding]:
    return {one.rule: one for one in plan.findings if one.rule.startswith("PLAN-R02")}


@pytest.mark.rule("PLAN-R020")
@pytest.mark.rule("PLAN-R021")
@pytest.mark.parametrize(
    ("after", "rules"),
    [
        (Strategy.FULL_TRANSITIVE, {"PLAN-R020", "PLAN-R021"}),
        (Strategy.BACKWARD_TRANSITIVE, {"PLAN-R020"}),
        (Strategy.ALWAYS_INCOMPATIBLE, {"PLAN-R020"}),
        (Strategy.FORWARD_TRANSITIVE, set()),
        (Strategy.FULL, set()),
        (Strategy.ALWAYS_COMPATIBLE, set()),
    ],
)
def test_a_strategy_that_the_history_breaks_locks_consumers_out(
    after: Strategy, rules: set[str]
) -> None:
    """v0 cannot connect under BACKWARD either, so nothing is lost for it there."""
    before = Strategy.ALWAYS_COMPATIBLE if "PLAN-R021" in rules else Strategy.BACKWARD

    found = lockouts(make_plan(strategy_change(before, after, LONG, TEXT)))

    assert found.keys() == rules
    if "PLAN-R020" in rules:
        latest = found["PLAN-R020"]
        assert (latest.severity, latest.subject) == (Severity.ERROR, str(CREATED))
        assert latest.message.startswith(
            "consumers with v1, the latest version, can no longer connect: "
            f"schemaCompatibilityStrategy {before.value} → {after.value}: "
        )
    if "PLAN-R021" in rules:
        assert found["PLAN-R021"].severity is Severity.WARNING
        assert found["PLAN-R021"].message.startswith("consumers with v0 can no longer connect: ")


@pytest.mark.rule("PLAN-R021")
def test_an_older_version_is_an_error_where_a_client_declares_it() -> None:
    here = Location(file="clients/billing.yaml")
    pin = Consumes(
        topic=CREATED, subscription="billing", schemas=(VersionPin(version=0),), location=here
    )
    client = Client(name="billing", owner="", consumes=(pin,), produces=(), location=here)
    asked = strategy_change(Strategy.ALWAYS_COMPATIBLE, Strategy.FULL, LONG, TEXT)

    (undeclared,) = lockouts(make_plan(asked)).values()
    (declared,) = lockouts(make_plan(replace(asked, clients=(client,)))).values()

    assert (undeclared.severity, declared.severity) == (Severity.WARNING, Severity.ERROR)
    assert declared.message.startswith("consumers with v0 (billing) can no longer connect: ")


def test_observed_clients_are_named_with_what_is_not_known() -> None:
    """Statistics show no schema: a live subscription may or may not be of the version."""
    here = Location(file="clients/billing.yaml")
    pin = Consumes(
        topic=CREATED, subscription="billing", schemas=(VersionPin(version=1),), location=here
    )
    client = Client(name="billing", owner="", consumes=(pin,), produces=(), location=here)
    observed = ObservedTopic(
        producers=(ObservedProducer(name="", client=""),),
        subscriptions=tuple(ObservedSubscription(name=name) for name in ("audit", "billing")),
    )
    asked = replace(
        strategy_change(Strategy.ALWAYS_COMPATIBLE, Strategy.FULL, LONG, TEXT), clients=(client,)
    )

    def message(clients: ObservedClients) -> str:
        (found,) = lockouts(make_plan(replace(asked, observed_clients=clients))).values()
        assert found.severity is Severity.WARNING
        return found.message

    assert message(ObservedClients(topics={CREATED: observed})).endswith(
        "; 1 observed subscription ('audit') may be among them: which versions they use is not "
        "known"
    )
    assert message(ObservedClients(unread={CREATED: "403"})).endswith(
        "; its statistics could not be read, so that its clients are not known"
    )
    assert message(ObservedClients()).endswith("a reader of long cannot read string")


@pytest.mark.rule("PLAN-R021")
@pytest.mark.parametrize(
    ("after", "first", "reasons"),
    [
        (Strategy.ALWAYS_COMPATIBLE, None, []),
        (Strategy.FULL, None, ["a topic in use without a schema accepts them under"]),
        (Strategy.FULL, LONG, ["only consumers whose schema fits v0 are let in"]),
        (
            Strategy.ALWAYS_INCOMPATIBLE,
            LONG,
            ["ALWAYS_INCOMPATIBLE allows no", "ALWAYS_INCOMPATIBLE refuses all"],
        ),
    ],
)
def test_a_strategy_for_topics_without_a_schema_locks_consumers_out(
    after: Strategy, first: SchemaInfo | None, reasons: list[str]
) -> None:
    asked = strategy_change(Strategy.ALWAYS_COMPATIBLE, after)
    if first:
        topics = {CREATED: topic_state(CREATED, first)}
        asked = replace(asked, desired=replace(asked.desired, topics=topics))
    new = replace(asked, new_topics=frozenset({CREATED}))

    found = lockouts(make_plan(asked)).values()

    assert [one.severity for one in found] == [Severity.WARNING] * len(reasons)
    assert all(why in one.message for why, one in zip(reasons, found, strict=True)), found
    assert "PLAN-R021" not in lockouts(make_plan(new))


def test_a_topics_own_policy_comes_first_where_it_keeps_consumers_in() -> None:
    asked = strategy_change(Strategy.ALWAYS_COMPATIBLE, Strategy.FULL)
    own = TopicPolicies(schema_compatibility_strategy=Strategy.ALWAYS_COMPATIBLE)
    topics = {CREATED: replace(topic_state(CREATED), policies=own)}

    made = make_plan(replace(asked, desired=replace(asked.desired, topics=topics)))

    assert [one.subject for one in made.actions if isinstance(one, SetPolicy)] == [CREATED, ORDERS]
    assert not lockouts(made)


@pytest.mark.rule("PLAN-R021")
def test_validation_locks_producers_without_a_schema_out() -> None:
    enforced = NamespacePolicies(schema_validation_enforced=True)

    (found,) = lockouts(make_plan(policy_change(NamespacePolicies(), enforced, LONG))).values()

    assert (found.rule, found.severity) == ("PLAN-R021", Severity.WARNING)
    assert found.message.startswith("producers without a schema can no longer connect: ")
    assert not lockouts(make_plan(policy_change(enforced, enforced, LONG)))


@pytest.mark.parametrize(("language", "clients"), [("python", ["meter"]), ("java", [])])
def test_a_pin_of_a_python_client_to_a_number_is_a_producer_without_a_schema(
    language: ClientLanguage, clients: list[str]
) -> None:
    """The library has no type for numbers, and sends no schema (pulsar-client 3.13.0)."""
    enforced = NamespacePolicies(schema_validation_enforced=True)
    asked = policy_change(NamespacePolicies(), enforced, SchemaInfo(type=SchemaType.INT32))
    produces = Produces(topic=CREATED, schemas=(VersionPin(version=0),), location=_HERE)
    client = Client(
        name="meter", owner="", consumes=(), produces=(produces,), location=_HERE, language=language
    )

    (finding,) = lockouts(make_plan(replace(asked, clients=(client,)))).values()

    assert [name for name in ("meter",) if name in finding.message] == clients


@pytest.mark.rule("PLAN-R022")
def test_without_auto_update_nobody_registers_a_schema() -> None:
    before = NamespacePolicies(is_allow_auto_update_schema=True)
    after = NamespacePolicies(is_allow_auto_update_schema=False)

    (found,) = lockouts(make_plan(policy_change(before, after, LONG))).values()
    (empty,) = lockouts(make_plan(policy_change(before, after))).values()

    assert (found.rule, found.subject) == ("PLAN-R022", str(ORDERS))
    assert str(CREATED) in empty.message
    assert not lockouts(make_plan(policy_change(after, after, LONG)))
    assert not lockouts(make_plan(policy_change(after, before, LONG)))


@pytest.mark.rule("PLAN-R022")
def test_a_topic_whose_first_version_the_plan_registers_is_not_named_as_empty() -> None:
    before = NamespacePolicies(is_allow_auto_update_schema=True)
    after = NamespacePolicies(is_allow_auto_update_schema=False)
    observed = state(topic_state(CREATED), namespaces={ORDERS: before})
    desired = state(topic_state(CREATED, LONG), namespaces={ORDERS: after})

    finding = lockouts(make_plan(question(desired, observed)))["PLAN-R022"]

    assert "until one is" not in finding.message


@pytest.mark.rule("PLAN-R021")
def test_a_version_that_older_consumers_cannot_read() -> None:
    policies = NamespacePolicies(schema_compatibility_strategy=Strategy.BACKWARD)
    observed = state(topic_state(CREATED, WIDER), namespaces={ORDERS: policies})

    def plan_for(new: SchemaInfo) -> Plan:
        return make_plan(question(state(topic_state(CREATED, new)), observed))

    (found,) = lockouts(plan_for(NARROWER)).values()
    assert (found.rule, found.severity) == ("PLAN-R021", Severity.WARNING)
    assert found.message.startswith(
        "consumers with v0 can no longer connect: BACKWARD once v1 is registered: "
    )
    assert not lockouts(plan_for(LONG))


@pytest.mark.rule("PLAN-R020")
def test_a_first_version_that_no_consumer_can_use() -> None:
    policies = NamespacePolicies(schema_compatibility_strategy=Strategy.ALWAYS_INCOMPATIBLE)
    observed = state(topic_state(CREATED), namespaces={ORDERS: policies})

    (found,) = lockouts(make_plan(question(state(topic_state(CREATED, LONG)), observed))).values()

    assert (found.rule, found.severity) == ("PLAN-R020", Severity.WARNING)


@pytest.mark.rule("PLAN-R021")
@pytest.mark.parametrize(
    ("observed", "next_version", "severity", "message"),
    [
        (None, 0, None, ""),
        (ObservedTopic(subscriptions=(ObservedSubscription(name="audit"),)), 0, "WARNING", ""),
        (
            ObservedTopic(producers=(ObservedProducer(name="writer", client=""),)),
            0,
            "ERROR",
            "is among them: a topic without a version has no other clients",
        ),
        (
            ObservedTopic(producers=(ObservedProducer(name="writer", client=""),)),
            1,
            "WARNING",
            "may be among them: which versions they use is not known",
        ),
    ],
    ids=["nobody", "consumer", "producer", "producer-after-a-deletion"],
)
def test_an_observed_producer_on_a_topic_that_never_had_a_schema_has_none(
    observed: ObservedTopic | None, next_version: int, severity: str | None, message: str
) -> None:
    """Whether or not the topic can be seen: a snapshot does not show that it exists."""
    policies = NamespacePolicies(schema_validation_enforced=True)
    history = SchemaHistory(entries=(), next_version=next_version)
    before = state(
        replace(topic_state(CREATED), history=history, exists=False), namespaces={ORDERS: policies}
    )
    asked = question(state(topic_state(CREATED, LONG)), before)
    clients = ObservedClients(topics={CREATED: observed} if observed else {})

    found = lockouts(make_plan(replace(asked, observed_clients=clients)))

    assert [one.severity.name for one in found.values()] == ([severity] if severity else [])
    if severity:
        assert "producers without a schema can no longer" in found["PLAN-R021"].message
        assert found["PLAN-R021"].message.endswith(message)
        assert ("; 1 observed producer ('writer') " in found["PLAN-R021"].message) is bool(message)
        declared = Produces(topic=CREATED, schemas=(VersionPin(version=0),), location=_HERE)
        client = Client(name="writer", owner="", consumes=(), produces=(declared,), location=_HERE)
        again = make_plan(replace(asked, observed_clients=clients, clients=(client,)))
        assert "observed producer" not in lockouts(again)["PLAN-R021"].message


def test_topics_of_which_more_is_known_are_decided_again_and_no_others() -> None:
    """The plan is the same as one that is made of the whole input."""
    others = [TopicName(ORDERS, f"t{number}") for number in range(3)]
    topics = (CREATED, *others)
    loose, full = (
        NamespacePolicies(schema_compatibility_strategy=strategy)
        for strategy in (Strategy.ALWAYS_COMPATIBLE, Strategy.FULL)
    )
    observed = state(*(topic_state(t, LONG, TEXT) for t in topics), namespaces={ORDERS: loose})
    desired = state(*(topic_state(t, TEXT) for t in topics), namespaces={ORDERS: full})
    neighbour = TopicName(ORDERS, "neighbour")
    asked = question(desired, observed)
    asked = replace(asked, neighbours={neighbour: topic_state(neighbour, LONG, TEXT)})
    seen = ObservedTopic(subscriptions=(ObservedSubscription(name="audit"),))
    known = replace(
        asked, observed_clients=ObservedClients(topics={CREATED: seen, neighbour: seen})
    )
    before = decide_topics(asked)
    counted: list[str] = []

    after = decide_topics(
        known,
        lambda what, done, number: counted.append(f"{what} {done} of {number}"),
        former=before,
        changed=[neighbour, CREATED],
    )

    assert before.topics_with_affected_clients() == {*topics, neighbour}
    assert counted == ["comparing schemas 0 of 1"]
    assert list(after.topics) == sorted(topics)
    assert make_plan(known, decisions=after) == make_plan(known)
    assert make_plan(known) != make_plan(asked)


def test_topics_of_one_cause_are_one_finding() -> None:
    others = [TopicName(ORDERS, f"t{number}") for number in range(3)]
    asked = strategy_change(Strategy.BACKWARD, Strategy.FULL_TRANSITIVE, LONG, TEXT)
    neighbours = {name: topic_state(name, LONG, TEXT) for name in others}

    found = lockouts(make_plan(replace(asked, neighbours=neighbours)))["PLAN-R020"]

    assert found.subjects == (str(CREATED), *map(str, others))
    assert found.message == (
        "consumers with the latest version can no longer connect to 4 topics of shop/orders: "
        "schemaCompatibilityStrategy BACKWARD → FULL_TRANSITIVE"
    )


def test_a_waiver_of_the_namespace_approves_exactly_this() -> None:
    asked = strategy_change(Strategy.BACKWARD, Strategy.FULL_TRANSITIVE, LONG, TEXT)
    (proposal,) = make_plan(asked).proposals
    fingerprint = proposal.text.partition('fingerprint: "')[2].partition('"')[0]
    agreed: Waiver = replace(waiver(fingerprint), subject=ORDERS)

    approved = make_plan(replace(asked, waivers=(agreed,)))
    (other,) = make_plan(
        replace(strategy_change(Strategy.BACKWARD, Strategy.ALWAYS_INCOMPATIBLE, LONG, TEXT))
    ).proposals
    unneeded = make_plan(
        replace(strategy_change(Strategy.BACKWARD, Strategy.FULL, LONG, TEXT), waivers=(agreed,))
    )

    comments = [line[2:] for line in proposal.text.splitlines() if line.startswith("# ")]
    (effect,) = proposal.effects
    assert effect in " ".join(comments), "as in the waiver of a topic"
    assert "can no longer connect" in effect
    assert effect.endswith(" (shop/orders/created).")
    assert [one.severity for one in approved.findings] == [Severity.INFO]
    assert approved.proposals == ()
    assert fingerprint not in other.text
    assert [(finding.rule, finding.message) for finding in unneeded.findings] == [
        ("WAIVER-R003", "no client of the namespace is locked out by this plan")
    ]


def consumer(name: str, schema: VersionPin | SchemaInfo) -> Client:
    here = Location(file=f"clients/{name}.yaml")
    use = Consumes(topic=CREATED, subscription=name, schemas=(schema,), location=here)
    return Client(name=name, owner="", consumes=(use,), produces=(), location=here)


@pytest.mark.parametrize("schema", [VersionPin(version=0), NARROWER], ids=["version", "own"])
def test_a_check_that_counts_a_client_twice_asks_for_the_approval_that_a_plan_needs(
    schema: VersionPin | SchemaInfo,
) -> None:
    """A check has the clients from before and after a change, the plan after it only the latter."""
    asked = strategy_change(Strategy.ALWAYS_COMPATIBLE, Strategy.ALWAYS_INCOMPATIBLE, LONG, TEXT)
    client = consumer("billing", schema)

    (checked,) = make_plan(replace(asked, clients=(client, client))).proposals
    (planned,) = make_plan(replace(asked, clients=(client,))).proposals

    assert checked.text == planned.text


@pytest.mark.parametrize("schema", [VersionPin(version=0), NARROWER], ids=["version", "own"])
def test_a_client_that_is_declared_after_the_approval_is_not_approved(
    schema: VersionPin | SchemaInfo,
) -> None:
    asked = strategy_change(Strategy.ALWAYS_COMPATIBLE, Strategy.FULL_TRANSITIVE, LONG, TEXT)
    first = consumer("first", VersionPin(version=1))
    (proposal,) = make_plan(replace(asked, clients=(first,))).proposals
    fingerprint = proposal.text.partition('fingerprint: "')[2].partition('"')[0]
    agreed = replace(waiver(fingerprint), subject=ORDERS)

    approved = make_plan(replace(asked, clients=(first,), waivers=(agreed,)))
    later = make_plan(replace(asked, clients=(first, consumer("later", schema)), waivers=(agreed,)))

    assert Severity.ERROR not in {finding.severity for finding in approved.findings}
    errors = [one.message for one in later.findings if one.severity is Severity.ERROR]
    assert any("later" in message for message in errors), errors


def test_an_expired_waiver_approves_nothing() -> None:
    asked = strategy_change(Strategy.BACKWARD, Strategy.FULL_TRANSITIVE, LONG, TEXT)
    (proposal,) = make_plan(asked).proposals
    fingerprint = proposal.text.partition('fingerprint: "')[2].partition('"')[0]
    expired = replace(waiver(fingerprint, expires=TODAY.replace(year=2000)), subject=ORDERS)

    plan = make_plan(replace(asked, waivers=(expired,)))

    assert [one.severity for one in plan.findings] == [Severity.ERROR]
    assert [one.file for one in plan.proposals] == [expired.file]


def test_a_waived_schema_says_whom_it_locks_out_before_and_after_its_approval() -> None:
    own = TopicPolicies(schema_compatibility_strategy=Strategy.FULL_TRANSITIVE)
    observed = state(replace(topic_state(CREATED, LONG), policies=own))
    asked = question(state(topic_state(CREATED, TEXT)), observed)
    refused = refusal(make_plan(asked))
    assert refused.waiver is not None

    assert refused.waiver.effects == (
        "Once v1 is registered, consumers with v1, v0 can no longer connect, v1 itself included.",
        (
            "Every later version is compared with v0 too, and one that keeps this change is "
            "refused for the same reason, until the strategy is not transitive (FULL compares "
            "with the latest version alone) or the topic's schema is deleted."
        ),
        (
            "Alternatives: a new topic for this definition; or first, in a separate change, "
            "schemaCompatibilityStrategy FULL."
        ),
    )
    found = lockouts(make_plan(replace(asked, waivers=(waiver(refused.fingerprint),))))
    assert {rule: one.severity for rule, one in found.items()} == {
        "PLAN-R020": Severity.WARNING,
        "PLAN-R021": Severity.WARNING,
    }


def _waived_with_clients(*named: str) -> Plan:
    """Billing and audit are pinned to v0; the schema has a waiver that names some clients."""
    observed = state(
        topic_state(CREATED, LONG),
        namespaces={ORDERS: NamespacePolicies(schema_compatibility_strategy=Strategy.FULL)},
    )
    desired = replace(observed, topics=state(topic_state(CREATED, TEXT)).topics)
    clients = tuple(consumer(name, VersionPin(version=0)) for name in ("audit", "billing"))
    asked = replace(question(desired, observed), clients=clients)
    agreed = waiver(refusal(make_plan(asked)).fingerprint)
    return make_plan(replace(asked, waivers=(replace(agreed, locked_out=frozenset(named)),)))


@pytest.mark.rule("PLAN-R021")
@pytest.mark.parametrize(
    ("named", "severities"),
    [
        ((), {("audit", "billing"): Severity.ERROR}),
        (("billing",), {("audit",): Severity.ERROR, ("billing",): Severity.INFO}),
        (("audit", "billing"), {("audit", "billing"): Severity.INFO}),
    ],
)
def test_a_waived_schema_may_lock_out_the_clients_that_its_waiver_names(
    named: tuple[str, ...], severities: dict[tuple[str, ...], Severity]
) -> None:
    plan = _waived_with_clients(*named)

    findings = {found.clients: found for found in plan.findings if found.rule == "PLAN-R021"}
    assert {clients: found.severity for clients, found in findings.items()} == severities
    for clients, found in findings.items():
        if found.severity is Severity.ERROR:
            assert f"add {' and '.join(clients)} to lockedOut in waivers/agreed.yaml" in found.hint
        else:
            assert "by waivers/agreed.yaml, approved by @acme/platform" in found.hint


@pytest.mark.rule("PLAN-R020")
@pytest.mark.rule("PLAN-R021")
def test_a_lockout_names_the_policy_that_decides_and_has_its_line() -> None:
    before = NamespacePolicies(
        schema_compatibility_strategy=Strategy.ALWAYS_COMPATIBLE,
        is_allow_auto_update_schema=True,
        schema_validation_enforced=False,
    )
    after = NamespacePolicies(
        schema_compatibility_strategy=Strategy.FULL,
        is_allow_auto_update_schema=False,
        schema_validation_enforced=True,
    )
    asked = policy_change(before, after, LONG, TEXT)
    lines = {"schemaCompatibilityStrategy": 4, "schemaValidationEnforced": 6}

    def locate(_: NamespaceName | TopicName | None, key: str) -> Location:
        return Location(file="namespace.yaml", line=lines.get(key, 1))

    found = make_plan(replace(asked, locate_policy=locate)).findings
    consumers = next(one for one in found if one.message.startswith("consumers with v0"))
    producers = next(one for one in found if "producers without a schema" in one.message)

    assert consumers.location
    assert producers.location
    assert (consumers.location.line, producers.location.line) == (4, 6)
    assert ": schemaCompatibilityStrategy ALWAYS_COMPATIBLE → FULL: " in consumers.message
    assert ": schemaValidationEnforced false → true: " in producers.message


def test_a_waiver_names_the_clients_that_it_locks_out() -> None:
    here = Location(file="clients/billing.yaml")
    pin = Consumes(
        topic=CREATED, subscription="billing", schemas=(VersionPin(version=0),), location=here
    )
    client = Client(name="billing", owner="", consumes=(pin,), produces=(), location=here)
    seen = ObservedTopic(
        subscriptions=tuple(ObservedSubscription(name=name) for name in ("audit", "billing"))
    )
    own = TopicPolicies(schema_compatibility_strategy=Strategy.FULL_TRANSITIVE)
    observed = state(replace(topic_state(CREATED, LONG), policies=own))
    asked = replace(
        question(state(topic_state(CREATED, TEXT)), observed),
        clients=(client,),
        observed_clients=ObservedClients(topics={CREATED: seen}),
    )

    refused = refusal(make_plan(asked))

    assert refused.waiver is not None
    assert refused.waiver.effects[1:3] == (
        "billing is a declared client that can no longer connect as consumer.",
        (
            "Observed subscription 'audit', which nobody declares, may be locked out too: which "
            "versions they use is not known."
        ),
    )
    assert "# billing is a declared client" in refused.waiver.text
    assert "\nlockedOut: [billing] #" in refused.waiver.text


def test_without_auto_update_the_finding_has_the_line_of_the_policy() -> None:
    line = Location(file="namespaces/shop/orders/namespace.yaml", line=4)
    manifest = replace(line, line=2)
    before = NamespacePolicies(is_allow_auto_update_schema=True)
    after = NamespacePolicies(is_allow_auto_update_schema=False)
    asked = policy_change(before, after, LONG)

    def place(known: dict[str, Location]) -> Location | None:
        plan = make_plan(replace(asked, locate_policy=lambda _, key: known.get(key)))
        return lockouts(plan)["PLAN-R022"].location

    assert place({"isAllowAutoUpdateSchema": line, "kind": manifest}) == line
    assert place({"kind": manifest}) == manifest


@pytest.mark.parametrize("strategy", [Strategy.FULL, Strategy.BACKWARD])
def test_without_a_transitive_strategy_only_older_consumers_are_out(strategy: Strategy) -> None:
    own = TopicPolicies(schema_compatibility_strategy=strategy)
    observed = state(replace(topic_state(CREATED, LONG), policies=own))
    refused = refusal(make_plan(question(state(topic_state(CREATED, TEXT)), observed)))
    assert refused.waiver is not None

    assert refused.waiver.effects == (
        "Once v1 is registered, consumers with v0 can no longer connect.",
        "Later versions are compared with v1 alone.",
        "Alternatives: a new topic for this definition.",
    )


@pytest.mark.rule("CLIENT-R005")
def test_a_schema_that_observed_clients_use_is_not_deleted() -> None:
    seen = ObservedTopic(
        producers=(ObservedProducer(name="", client="Pulsar-Java-v4.0.7"),),
        subscriptions=(ObservedSubscription(name="audit"),),
    )
    asked = question(state(), state(topic_state(CREATED, LONG)), prune=True)

    plan = make_plan(replace(asked, observed_clients=ObservedClients(topics={CREATED: seen})))
    (finding,) = (finding for finding in plan.findings if finding.rule == "CLIENT-R005")

    assert finding.severity is Severity.ERROR
    assert finding.message.endswith("subscription 'audit' and a producer (Pulsar-Java-v4.0.7)")
    assert not [found for found in make_plan(asked).findings if found.rule == "CLIENT-R005"]


def test_always_incompatible_refuses_consumers_and_every_later_version() -> None:
    own = TopicPolicies(schema_compatibility_strategy=Strategy.ALWAYS_INCOMPATIBLE)
    observed = state(replace(topic_state(CREATED, LONG), policies=own))
    refused = refusal(make_plan(question(state(topic_state(CREATED, TEXT)), observed)))
    assert refused.waiver is not None

    now, later = refused.waiver.effects

    assert "consumers" in now
    assert "every later version, until the strategy is another one" in now
    assert "schemaCompatibilityStrategy" in later
    assert "compared with" not in now + later


@pytest.mark.parametrize(
    ("before", "after", "own_before", "own_after", "first"),
    [
        (Strategy.ALWAYS_COMPATIBLE, Strategy.FULL_TRANSITIVE, None, Strategy.FULL, CREATED),
        (Strategy.FULL_TRANSITIVE, Strategy.FULL, Strategy.FULL, Strategy.UNDEFINED, ORDERS),
        (Strategy.ALWAYS_COMPATIBLE, Strategy.FULL, None, Strategy.FULL, ORDERS),
    ],
)
def test_nobody_is_locked_out_between_two_policies(
    before: Strategy,
    after: Strategy,
    own_before: Strategy | None,
    own_after: Strategy,
    first: TopicName | NamespaceName,
) -> None:
    """The history fits each strategy but the transitive one, which holds for a moment or never."""
    own = TopicPolicies(schema_compatibility_strategy=own_before)
    changed = TopicPolicies(schema_compatibility_strategy=own_after)
    observed = state(
        topic_state(CREATED, LONG, TEXT, policies=own),
        namespaces={ORDERS: NamespacePolicies(schema_compatibility_strategy=before)},
    )
    desired = state(
        topic_state(CREATED, TEXT, policies=changed),
        namespaces={ORDERS: NamespacePolicies(schema_compatibility_strategy=after)},
    )

    plan = make_plan(question(desired, observed))

    subjects = [one.subject for one in plan.actions if isinstance(one, SetPolicy)]
    assert sorted(map(str, subjects)) == sorted(map(str, (ORDERS, CREATED)))
    assert subjects[0] == first


@pytest.mark.rule("PLAN-R020")
@pytest.mark.rule("PLAN-R021")
def test_a_deletion_names_the_clients_that_it_locks_out() -> None:
    """Nobody may register a schema, so that producers are refused as well."""
    closed = NamespacePolicies(is_allow_auto_update_schema=False)
    observed = state(topic_state(CREATED, LONG, WIDER), namespaces={ORDERS: closed})
    desired = state(namespaces={ORDERS: closed})

    plan = make_plan(question(desired, observed, prune=True))

    messages = {
        (finding.rule, finding.severity, finding.message.partition(" can no longer")[0])
        for finding in plan.findings
        if finding.rule.startswith("PLAN-R02")
    }
    assert messages == {
        ("PLAN-R020", Severity.WARNING, "consumers with v1, the latest version,"),
        ("PLAN-R020", Severity.WARNING, "producers with v1, the latest version,"),
        ("PLAN-R021", Severity.WARNING, "consumers with v0"),
        ("PLAN-R021", Severity.WARNING, "producers with v0"),
    }
    assert plan.findings[-1].subject == str(CREATED)


def test_a_deletion_under_always_compatible_locks_nobody_out() -> None:
    """Consumers connect whatever the topic has, and producers register their schema again."""
    tolerant = NamespacePolicies(schema_compatibility_strategy=Strategy.ALWAYS_COMPATIBLE)
    observed = state(topic_state(CREATED, LONG), namespaces={ORDERS: tolerant})
    desired = state(namespaces={ORDERS: tolerant})

    assert not lockouts(make_plan(question(desired, observed, prune=True)))


@pytest.mark.rule("PLAN-R021")
def test_consumers_with_schemas_that_nobody_registered_are_locked_out_by_a_stricter_policy() -> (
    None
):
    """ALWAYS_COMPATIBLE lets every consumer in, and registers nothing on a topic in use."""
    asked = strategy_change(Strategy.ALWAYS_COMPATIBLE, Strategy.FULL, LONG)

    (finding,) = lockouts(make_plan(asked)).values()

    assert (finding.rule, finding.severity) == ("PLAN-R021", Severity.WARNING)
    assert finding.message == (
        "consumers with a schema that is no version of the topic can no longer connect: "
        "schemaCompatibilityStrategy ALWAYS_COMPATIBLE → FULL: only those whose schema fits the "
        "registered versions are let in"
    )


@pytest.mark.parametrize(
    ("before", "after", "versions", "rules"),
    [
        (Strategy.FULL, Strategy.FULL_TRANSITIVE, [LONG], ["PLAN-R021"]),
        (Strategy.BACKWARD, Strategy.FULL_TRANSITIVE, [LONG, WIDER], ["PLAN-R021"]),
        (Strategy.BACKWARD_TRANSITIVE, Strategy.FULL_TRANSITIVE, [LONG], ["PLAN-R021"]),
        (Strategy.BACKWARD, Strategy.BACKWARD_TRANSITIVE, [LONG, WIDER], ["PLAN-R021"]),
        (Strategy.BACKWARD, Strategy.BACKWARD_TRANSITIVE, [LONG], []),
        (Strategy.FULL, Strategy.BACKWARD, [LONG, WIDER], []),
        (Strategy.BACKWARD, Strategy.FORWARD_TRANSITIVE, [LONG, WIDER], []),
        (Strategy.FULL_TRANSITIVE, Strategy.FULL, [LONG, WIDER], []),
    ],
)
def test_a_strategy_that_compares_consumers_with_more_may_lock_out_unregistered_schemas(
    before: Strategy, after: Strategy, versions: list[SchemaInfo], rules: list[str]
) -> None:
    """BACKWARD, FORWARD, FULL and FORWARD_TRANSITIVE compare consumers alike (Pulsar 4.0.7)."""
    findings = lockouts(make_plan(strategy_change(before, after, *versions)))

    assert list(findings) == rules
