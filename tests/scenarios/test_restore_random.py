"""Whatever history an embedded registry has: recorded and restored, it is recorded the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Final

import pytest

from gitops.model.errors import GitopsError, OutsideError, RegistryRefusedError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import CreateNamespace
from gitops.model.policy import PolicyChange, managed_items
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.restore import UnfinishedRestore
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import NamespaceState, Scope, TopicState
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.repository.file_trees import GivenFiles
from gitops.repository.snapshots import render
from gitops.usecases.apply import apply
from gitops.usecases.restore import RecordedRegistry, check, read_snapshot, restore
from tests.support.states import field, info, pair, record

pytestmark = pytest.mark.slow

_SEEDS: Final = 40
_SPACES: Final = (NamespaceName("a", "b"), NamespaceName("a", "c"), NamespaceName("d", "e"))
_TOPICS: Final = tuple(
    topic
    for space in _SPACES
    for topic in (
        TopicName(space, "t0"),
        TopicName(space, "t1"),
        TopicName(space, "t2", "non-persistent"),
    )
)
_STRATEGY: Final = "schemaCompatibilityStrategy"
_AUTO_UPDATE: Final = "isAllowAutoUpdateSchema"


def _random(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - no secret


def _opened(path: Path) -> EmbeddedRegistry:
    return EmbeddedRegistry("local", path, clock=lambda: 7)


def _schema(random: Random) -> SchemaInfo:
    fields = [field(name, random.choice(["string", "int"])) for name in random.sample("uvw", 2)]
    order = record(*fields, **random.choice([{}, {"doc": "an order"}]))
    match random.randrange(5):
        case 0:
            return SchemaInfo(type=random.choice([SchemaType.INT64, SchemaType.BYTES]))
        case 1:
            return pair("", order, "STRING")
        case 2:
            return info("null", SchemaType.STRING)
        case _:
            kind = random.choice([SchemaType.AVRO, SchemaType.JSON, SchemaType.PROTOBUF])
            return info(order, kind, random.choice([{}, {"owner": "x"}]))


def _change(registry: EmbeddedRegistry, random: Random) -> None:
    """One thing that people or clients do to a registry."""
    topic = random.choice(_TOPICS)
    subject = topic if random.random() < 0.5 else topic.namespace
    match random.randrange(10):
        case 0:
            registry.delete_schema(topic)
        case 1:
            registry.delete_schema(topic, force=random.random() < 0.3)
        case 2:
            change = PolicyChange(
                key=_STRATEGY, before=None, after=random.choice([None, *Strategy])
            )
            registry.set_policies(subject, [change])
        case 3:
            key = random.choice([_AUTO_UPDATE, "schemaValidationEnforced"])
            change = PolicyChange(key=key, before=None, after=random.choice([None, True, False]))
            registry.set_policies(topic.namespace, [change])
        case 4:
            registry.create_topic(topic, random.choice([0, 3]))
        case _:
            registry.register_schema(topic, _schema(random))


def _lived(path: Path, random: Random) -> EmbeddedRegistry:
    """A registry to which many of these were done, some of them refused."""
    registry = _opened(path)
    for space in random.sample(_SPACES, random.randint(1, 3)):
        registry.create_namespace(space)
    for _ in range(random.randint(5, 80)):
        with suppress(RegistryRefusedError):
            _change(registry, random)
    return registry


def _recorded(registry: EmbeddedRegistry) -> dict[str, bytes]:
    spaces = registry.list_namespaces()
    topics = frozenset(topic for topic in _TOPICS if topic.namespace in spaces)
    scope = Scope(namespaces=frozenset(spaces), topics=topics, partitions=topics)
    return render("local", registry.observe(scope))


def _read(files: dict[str, bytes]) -> RecordedRegistry:
    return RecordedRegistry(source="local", state=read_snapshot(GivenFiles(files), "local"))


class _Fragile(EmbeddedRegistry):
    """Fails at one write, before or after it is carried out."""

    left = -1
    is_late = False

    @contextmanager
    def _write(self) -> Iterator[None]:
        self.left -= 1
        if self.left == 0 and not self.is_late:
            raise OutsideError("the wire is cut")
        yield
        if self.left == 0:
            raise OutsideError("the wire is cut")

    def register_schema(self, topic: TopicName, info: SchemaInfo) -> int:
        with self._write():
            return super().register_schema(topic, info)

    def set_policies(
        self, subject: NamespaceName | TopicName, changes: Iterable[PolicyChange]
    ) -> None:
        with self._write():
            super().set_policies(subject, changes)

    def delete_schema(self, topic: TopicName, *, force: bool = False) -> int:
        with self._write():
            return super().delete_schema(topic, force=force)


@pytest.mark.parametrize("seed", range(_SEEDS))
def test_an_empty_registry_gets_the_recorded_bytes(seed: int, tmp_path: Path) -> None:
    with (
        closing(_lived(tmp_path / "old.db", _random(seed))) as old,
        closing(_opened(tmp_path / "new.db")) as new,
    ):
        files = _recorded(old)
        recorded = _read(files)
        found = restore(recorded, new)
        assert found.obstacles == ()

        apply(found.plan, new)

        assert _recorded(new) == files
        assert check(recorded, new).differences == {}
        assert restore(recorded, new).plan.actions == ()


@pytest.mark.parametrize("seed", range(_SEEDS))
def test_a_restore_that_was_cut_leaves_nothing_open_and_goes_on(seed: int, tmp_path: Path) -> None:
    random = _random(seed)
    with (
        closing(_lived(tmp_path / "old.db", random)) as old,
        closing(_Fragile("local", tmp_path / "new.db", clock=lambda: 7)) as new,
    ):
        files = _recorded(old)
        recorded = _read(files)
        plan = restore(recorded, new).plan
        new.left, new.is_late = random.randint(1, max(1, len(plan.actions))), random.random() < 0.5
        with suppress(GitopsError):
            apply(plan, new)

        assert _open_ones(new) <= _open_ones(old)
        created = {one.namespace for one in plan.actions if isinstance(one, CreateNamespace)}
        again = restore(recorded, new, unfinished=UnfinishedRestore(created=frozenset(created)))
        assert again.obstacles == ()
        apply(again.plan, new)
        assert _recorded(new) == files


def _open_ones(registry: EmbeddedRegistry) -> set[object]:
    """The subjects whose strategy is held loose, or that are kept from auto-update."""
    spaces = registry.list_namespaces()
    topics = frozenset(topic for topic in _TOPICS if topic.namespace in spaces)
    state = registry.observe(Scope(namespaces=frozenset(spaces), topics=topics))
    found: set[object] = set()
    states: list[NamespaceState | TopicState] = [*state.namespaces.values(), *state.topics.values()]
    for each in states:
        name = str(each.topic if isinstance(each, TopicState) else each.namespace)
        items = managed_items(each.policies)
        found |= {(name, key) for key, value in items if value is Strategy.ALWAYS_COMPATIBLE}
        found |= {(name, key) for key, value in items if key == _AUTO_UPDATE and value is False}
    return found


def test_the_seeds_have_deletions_gaps_and_equal_schemas(tmp_path: Path) -> None:
    gaps, again = 0, 0
    for seed in range(_SEEDS):
        with closing(_lived(tmp_path / f"{seed}.db", _random(seed))) as registry:
            for content in _recorded(registry).values():
                topic = json.loads(content)
                versions = topic.get("versions", [])
                gaps += bool(versions and versions[0]["version"])
                again += bool(topic.get("nextVersion") and not versions)
    assert gaps > 10
    assert again > 5
