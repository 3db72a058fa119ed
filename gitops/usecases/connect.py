"""Whether a broker would let a client connect to a topic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from gitops.broker.connection import (
    Admission,
    ConnectionPolicies,
    ConnectionTarget,
    Role,
    TopicUse,
    refuse_transaction_topic,
)
from gitops.broker.consumer_connection import admit_consumer
from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.table import line_of
from gitops.broker.producer_connection import admit_schemas
from gitops.broker.registration import NOT_REGISTERED
from gitops.changes.registries import desired_state, topic_policies
from gitops.extraction.extraction import ExtractRequest, is_class_name
from gitops.extraction.python_classes import extract_python
from gitops.model.broker_settings import broker_notes
from gitops.model.clients import ClientLanguage
from gitops.model.config import RegistryConfig
from gitops.model.decision import StoredHistory, StoredSchema
from gitops.model.errors import NotThereError, OutsideError, UsageError
from gitops.model.findings import Finding
from gitops.model.names import TopicName
from gitops.model.plan import SchemaChange
from gitops.model.policy import BrokerSettings
from gitops.model.schema import SchemaHistory
from gitops.model.state import RegistryState, Repository, Scope
from gitops.planning.client_readers import (
    MisreadVersion,
    assumed_java_notes,
    misread_versions,
)
from gitops.planning.refusals import DefinitionLocations, findings_of
from gitops.planning.rolling_upgrade import contradiction, other_answers
from gitops.ports import FileTree, Registry
from gitops.repository.client_schema import (
    ClientSchema,
    Context,
    read_client_schema,
    topic_avro_type,
)
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.diff import stored_changes
from gitops.schemas.payload import PayloadError, stored_history, to_stored


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectRequest:
    """A client that wants to connect: its topic, its side, and its schemas, the first first.

    `schemas` are as `read_client_schema` reads them, or names of classes, `MODULE:CLASS`, which
    are read as `extraction` asks. `use` is None where nobody knows whether the topic is idle.
    `language` is the consumer's; None where nobody says it, and Python for a Python class.
    """

    topic: TopicName
    role: Role
    schemas: tuple[str, ...]
    schema_type: str | None = None
    message: str | None = None
    use: TopicUse | None = None
    language: ClientLanguage | None = None
    extraction: ExtractRequest = field(default_factory=partial(ExtractRequest, name=""))


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaAdmission:
    """One schema's admission; `findings` say where a refusal comes from, as far as files do.

    A schema that is refused because it equals no version `differs` from the one that is most
    like it.
    """

    name: str
    admission: Admission
    findings: tuple[Finding, ...]
    differs: VersionDifference | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionDifference:
    """What a schema has otherwise than a version that is registered.

    `advice` is what its Python class may say to have the same; empty where nothing is known.
    """

    version: int
    changes: tuple[SchemaChange, ...]
    advice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """The whole answer; schemas that nobody asked about, the producer being refused, are left out.

    `texts` are the files that findings point into. `notes` are about files and registry. `misread`
    is what a consumer that is let in misreads of messages of live versions.
    """

    request: ConnectRequest
    line: BrokerLine
    policies: ConnectionPolicies
    answered: tuple[SchemaAdmission, ...]
    notes: tuple[str, ...]
    texts: dict[str, str]
    misread: tuple[MisreadVersion, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the client is let in with each of its schemas."""
        return all(schema_admission.admission.accepted for schema_admission in self.answered)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectContext:
    """What an answer is made from: the files in `root`, and a registry."""

    repository: Repository
    tree: FileTree
    root: Path
    registry: Registry
    config: RegistryConfig


def connect(request: ConnectRequest, connecting: ConnectContext) -> Connection:
    """Ask the broker's rules; raises UsageError, NotThereError, OutsideError.

    The history is the registry's. Policies are the files' where they manage them, else the
    registry's, else the broker's own.
    """
    _require_fitting(request)
    topic = request.topic
    scope = Scope(namespaces=frozenset({topic.namespace}), topics=frozenset({topic}))
    observed = connecting.registry.observe(scope)
    wanted = desired_state(connecting.repository, connecting.config)
    _require_namespace(connecting, topic, observed, wanted)
    history = observed.topics[topic].history
    policies = topic_policies(topic, observed, wanted, connecting.registry.broker)
    place = ConnectionTarget(
        history=_stored_schema(connecting, history),
        policies=policies,
        use=request.use,
        line=line_of(connecting.registry.broker),
    )
    context = Context(
        repository=connecting.repository,
        tree=connecting.tree,
        root=connecting.root,
        topic=topic,
        history=history,
        schema_type=request.schema_type,
        message=request.message,
    )
    offered = [_client_schema(name, context, request) for name in request.schemas]
    answered = _answers(request, place, offered)

    def answer_of(broker: BrokerSettings) -> list[SchemaAdmission]:
        return _answers(request, replace(place, line=line_of(broker)), offered)

    misread, reading_notes = _reading(request, place, offered[0], answered)
    broker = connecting.registry.broker
    others = dict(other_answers(broker, answer_of))
    return Connection(
        request=request,
        line=place.line,
        policies=policies,
        answered=tuple(answered),
        notes=(
            *reading_notes,
            *_notes(connecting, topic, observed, wanted),
            *_contradictions(request, broker, answered, others),
        ),
        texts={
            file: text for client_schema in offered for file, text in client_schema.texts.items()
        },
        misread=misread,
    )


def _reading(
    request: ConnectRequest,
    place: ConnectionTarget,
    offered: ClientSchema,
    answered: Sequence[SchemaAdmission],
) -> tuple[tuple[MisreadVersion, ...], tuple[str, ...]]:
    """What a consumer that is let in misreads, and notes about it where its language is not known.

    A consumer without a schema of its own misreads nothing.
    """
    offer = offered.offer
    if request.role != "consumer" or not isinstance(offer, StoredSchema):
        return (), ()
    if not all(schema_admission.admission.accepted for schema_admission in answered):
        return (), ()
    language = request.language or ("python" if is_class_name(offered.name) else None)
    misread = misread_versions(language, offer, place)
    if language is not None:
        return misread, ()
    return misread, tuple(
        f"{note} (`--language` names its client)" for note in assumed_java_notes(offer, place)
    )


def _client_schema(name: str, context: Context, request: ConnectRequest) -> ClientSchema:
    if not is_class_name(name):
        return read_client_schema(name, context)
    kind = topic_avro_type(context.topic, context.repository, context.history)
    asked = replace(request.extraction, name=name, schema_type=request.schema_type, topic_type=kind)
    extraction = extract_python(asked)
    return ClientSchema(
        name=name,
        offer=to_stored(extraction.info),
        locate=extraction.locate,
        texts=extraction.sources,
    )


def _answers(
    request: ConnectRequest, place: ConnectionTarget, offered: Sequence[ClientSchema]
) -> list[SchemaAdmission]:
    if request.topic.is_of_transactions:
        refused = refuse_transaction_topic(request.topic, request.role)
        return [SchemaAdmission(name=offered[0].name, admission=refused, findings=())]
    if request.role == "consumer":
        admissions: tuple[Admission, ...] = (admit_consumer(place, offered[0].offer),)
    else:
        admissions = admit_schemas(place, [client_schema.offer for client_schema in offered])
    return [
        SchemaAdmission(
            name=client_schema.name,
            admission=admission,
            findings=_findings(request.topic, client_schema, admission),
            differs=_find_difference(place.history, client_schema.name, admission),
        )
        for client_schema, admission in zip(offered, admissions, strict=False)
    ]


def _find_difference(
    history: StoredHistory, name: str, admission: Admission
) -> VersionDifference | None:
    """From the version with the fewest differences, the latest of these."""
    decision, sent = admission.decision, admission.sent
    if decision.accepted or decision.incompatibilities or sent is None:
        return None
    if decision.status != NOT_REGISTERED:
        return None
    differences = []
    for version, stored in reversed(history.entries):
        with suppress(PayloadError, AvroParseError):
            changes = stored_changes(stored, sent)
            advice = _python_advice(changes) if is_class_name(name) else ""
            differences.append(VersionDifference(version=version, changes=changes, advice=advice))
    return min(differences, key=lambda difference: len(difference.changes), default=None)


def _python_advice(changes: Sequence[SchemaChange]) -> str:
    """A field that may be null has the default null in Python's schema only on demand (3.13.0)."""
    without = [
        change.path
        for change in changes
        if (change.before, change.after) == ("default = null", "default –")
    ]
    if not without:
        return ""
    field_name = without[0].rpartition(".")[2]
    return (
        f"the schema has the default null of {', '.join(without)} with required_default=True in "
        f"the class: `{field_name} = String(required_default=True)` if it is a String"
    )


def _contradictions(
    request: ConnectRequest,
    broker: BrokerSettings,
    answered: Sequence[SchemaAdmission],
    others: Mapping[str, Sequence[SchemaAdmission]],
) -> Iterator[str]:
    """The releases beside the one that decided which answer otherwise to one of the schemas."""
    for release, admissions in others.items():
        for ours, schema_admission in zip(answered, admissions, strict=False):
            if ours.admission.accepted is not schema_admission.admission.accepted:
                what = f"a {request.role} with {ours.name}"
                yield contradiction(broker, release, schema_admission.admission.decision, what)


def _findings(topic: TopicName, offered: ClientSchema, admission: Admission) -> tuple[Finding, ...]:
    """Each incompatibility with its places; a refusal that has none is told by its step."""
    if not admission.decision.incompatibilities:
        return ()
    return findings_of(str(topic), admission.decision, DefinitionLocations(new=offered.locate))


def _require_fitting(request: ConnectRequest) -> None:
    """Raise UsageError for what no client can ask for."""
    if request.role == "producer" and "AUTO_CONSUME" in request.schemas:
        raise UsageError("AUTO_CONSUME is for consumers", hint="a producer has AUTO_PRODUCE")
    if request.role == "consumer" and {"AUTO_PRODUCE", "AUTO_PUBLISH"} & set(request.schemas):
        raise UsageError("AUTO_PRODUCE is for producers", hint="a consumer has AUTO_CONSUME")
    if {"AUTO_PRODUCE", "AUTO_PUBLISH"} & set(request.schemas[1:]):
        hint = "name the schema that the message has"
        raise UsageError("AUTO_PRODUCE is the schema of a producer, not of a message", hint=hint)


def _require_namespace(
    connecting: ConnectContext, topic: TopicName, observed: RegistryState, wanted: RegistryState
) -> None:
    """Raise NotThereError for a namespace that neither files nor registry have."""
    if observed.namespaces[topic.namespace].exists or topic.namespace in wanted.namespaces:
        return
    where = connecting.registry.address
    raise NotThereError(f"there is no namespace '{topic.namespace}'", where=where)


def _stored_schema(connecting: ConnectContext, history: SchemaHistory) -> StoredHistory:
    try:
        return stored_history(history)
    except PayloadError as error:
        raise OutsideError(
            f"the registry contains a schema that cannot be read: {error}",
            where=connecting.registry.address,
        ) from None


def _notes(
    connecting: ConnectContext, topic: TopicName, observed: RegistryState, wanted: RegistryState
) -> tuple[str, ...]:
    """Where files and registry differ, the answer is about what is not there yet."""
    broker = connecting.registry.broker
    live = topic_policies(topic, observed, RegistryState(), broker)
    notes = []
    if live != topic_policies(topic, observed, wanted, broker):
        notes.append("the files' policies are used here; the registry has others until `apply`")
    declared = wanted.topics.get(topic)
    if declared and declared.history.entries and not observed.topics[topic].history.entries:
        notes.append("the files' schema of this topic is not registered until `apply`")
    origins = [origin for origin in wanted.topics if _is_origin(origin, topic)]
    if origins and declared is None:
        origin = max(origins, key=lambda origin: len(origin.local_name))
        notes.append(
            "this is named as the dead-letter or retry topic of a subscription of "
            f"{origin}: declare it with the schema of that topic"
        )
    return (*notes, *broker_notes(broker, _deciding(live)))


def _is_origin(origin: TopicName, topic: TopicName) -> bool:
    """Whether the topic is named as a dead-letter or retry topic of a subscription of `origin`."""
    is_beside = topic.is_of_subscription and origin.namespace == topic.namespace
    return is_beside and topic.local_name.startswith(f"{origin.local_name}-")


def _deciding(live: ConnectionPolicies) -> list[str]:
    """The settings of the broker that count here."""
    by = {
        "schema_compatibility_strategy": live.strategy_by,
        "is_allow_auto_update_schema_enabled": live.auto_update_by,
        "is_schema_validation_enforced": live.validation_by,
    }
    return ["release", *(name for name, who in by.items() if who == "broker")]
