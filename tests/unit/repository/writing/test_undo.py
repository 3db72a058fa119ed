"""Files as they were before a change: what a commit had is kept, and a property makes versions."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

import pytest

from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import RegistryState
from gitops.planning.former_state import FormerState, FormerTopic
from gitops.planning.revision import is_revision_of
from gitops.ports import FileTree
from gitops.repository.file_trees import OverlaidTree, SelectedTree
from gitops.repository.loader import load
from gitops.repository.writing.adoption import Adoption
from gitops.repository.writing.undo import UndoInput, undo
from tests.support.states import STRING, field, info, record, state, topic_state
from tests.support.trees import repository

_SPACE = NamespaceName("a", "b")
_T, _U = TopicName(_SPACE, "t"), TopicName(_SPACE, "u")
_FOLDER = "namespaces/a/b"
_HEAD = "apiVersion: pulsar-gitops/v1\nkind: "
_STRATEGY = "schemaCompatibilityStrategy"
_OLD, _NEW = record(field("id")), record(field("id"), field("x", default=""))


def _manifest(schema: str = "{type: AVRO, definition: t.avsc}") -> str:
    return f"{_HEAD}Topic\n# ours\nschema: {schema}\n"


def _files(**more: str) -> dict[str, str]:
    return {
        f"{_FOLDER}/namespace.yaml": f"{_HEAD}Namespace\nnamespace: a/b\n{_STRATEGY}: FULL # why\n",
        f"{_FOLDER}/t.yaml": _manifest(),
        f"{_FOLDER}/t.avsc": json.dumps(_NEW),
        **{f"{_FOLDER}/{name}": text for name, text in more.items()},
    }


class _Case:
    """Files, and what an undo makes of them."""

    def __init__(self, files: Mapping[str, str] | None = None) -> None:
        self.tree: FileTree = repository(files or _files())
        self.found = Adoption()

    def undo(
        self,
        former: FormerState,
        observed: RegistryState,
        *,
        restored: Mapping[str, bytes | None] | None = None,
        dirty: Collection[str] = (),
    ) -> Adoption:
        self.found = undo(
            UndoInput(
                tree=self.tree,
                former=former,
                observed=observed,
                overrides={},
                uncommitted=lambda paths: [path for path in paths if path in dirty],
                restored=restored or {},
            )
        )
        return self.found

    def desired(self) -> RegistryState:
        """What the files want after it."""
        tree = OverlaidTree(self.tree, self.found.files)
        kept = SelectedTree(tree, {*tree.paths()} - {*self.found.removed})
        return load(kept).desired


def _former(schema: SchemaInfo, topic: TopicName = _T) -> FormerState:
    return FormerState(topics={topic: FormerTopic(topic=topic, schema=schema)})


@pytest.mark.parametrize("kind", ["AVRO", "JSON", "PROTOBUF"])
def test_an_old_definition_becomes_a_new_version(kind: str) -> None:
    case = _Case(_files(**{"t.yaml": _manifest(f"{{type: {kind}, definition: t.avsc}}")}))
    old, new = (info(one, SchemaType[kind]) for one in (_OLD, _NEW))

    found = case.undo(_former(old), state(topic_state(_T, old, new)))

    assert set(found.files) == {f"{_FOLDER}/t.avsc"}
    assert json.loads(found.files[f"{_FOLDER}/t.avsc"]) == {**_OLD, "revision": "2"}
    latest = case.desired().topics[_T].history.latest
    assert latest
    assert is_revision_of(latest.info, old)


def test_none_is_needed_where_the_change_was_never_applied() -> None:
    found = _Case().undo(_former(info(_OLD)), state(topic_state(_T, info(_OLD))))

    assert json.loads(found.files[f"{_FOLDER}/t.avsc"]) == _OLD


def test_an_inline_definition_gets_it_in_the_manifest() -> None:
    inline = _manifest(f"{{type: AVRO, definition: {json.dumps(_NEW)}}}")
    restored = _manifest(f"\n  type: AVRO\n  definition: {json.dumps(_OLD)} # inline")
    case = _Case({**_files(**{"t.yaml": inline})})
    case.tree = SelectedTree(case.tree, {*case.tree.paths()} - {f"{_FOLDER}/t.avsc"})

    found = case.undo(
        _former(info(_OLD)),
        state(topic_state(_T, info(_OLD), info(_NEW))),
        restored={f"{_FOLDER}/t.yaml": restored.encode()},
    )

    assert found.refused == {}
    text = found.files[f"{_FOLDER}/t.yaml"].decode()
    assert "revision" in text
    assert "# inline" in text


def test_a_pair_gets_it_in_its_value() -> None:
    schema = "{type: KEY_VALUE, encoding: INLINE, key: {type: STRING}, value: {type: AVRO, "
    case = _Case(_files(**{"t.yaml": _manifest(f"{schema}definition: t.avsc}}}}")}))
    latest_now = load(case.tree).desired.topics[_T].history.latest
    assert latest_now
    new = latest_now.info
    old = SchemaInfo(
        type=new.type,
        schema=new.schema.replace(',{"name":"x","type":"string","default":""}', ""),
        properties=new.properties,
    )

    case.undo(_former(old), state(topic_state(_T, old, new)))

    latest = case.desired().topics[_T].history.latest
    assert latest
    assert '"revision":"2"' in latest.info.schema
    assert is_revision_of(latest.info, old)


def test_what_has_no_place_for_it_is_refused_and_the_files_are_as_they_were() -> None:
    case = _Case(_files(**{"t.yaml": _manifest("{type: INT64}")}))
    case.tree = SelectedTree(case.tree, {*case.tree.paths()} - {f"{_FOLDER}/t.avsc"})
    int64 = SchemaInfo(type=SchemaType.INT64)

    found = case.undo(_former(STRING), state(topic_state(_T, STRING, int64)))

    (error,) = found.refused.values()
    assert "no property can make it another one" in error.what
    assert "type: STRING" in found.files[f"{_FOLDER}/t.yaml"].decode()


def test_what_the_change_made_is_removed_and_what_it_deleted_is_written() -> None:
    created = FormerTopic(topic=_T, created=info(_NEW))
    deleted = FormerTopic(topic=_U, schema=STRING, policies={_STRATEGY: Strategy.FULL})
    case = _Case()

    found = case.undo(
        FormerState(topics={_T: created, _U: deleted}),
        state(topic_state(_T, info(_NEW)), topic_state(_U)),
    )

    assert found.removed == (f"{_FOLDER}/t.avsc", f"{_FOLDER}/t.yaml")
    topics = case.desired().topics
    assert topics.keys() == {_U}
    assert topics[_U].policies.schema_compatibility_strategy is Strategy.FULL


def test_policies_come_back_beside_their_comments() -> None:
    former = FormerState(namespaces={_SPACE: {_STRATEGY: Strategy.BACKWARD}})

    found = _Case().undo(former, RegistryState())

    text = found.files[f"{_FOLDER}/namespace.yaml"].decode()
    assert f"{_STRATEGY}: BACKWARD # why" in text


def test_a_value_that_no_file_can_have_loses_its_key() -> None:
    found = _Case().undo(FormerState(namespaces={_SPACE: {_STRATEGY: None}}), RegistryState())

    assert _STRATEGY not in found.files[f"{_FOLDER}/namespace.yaml"].decode()


def test_files_that_nobody_changed_since_come_back_as_they_were() -> None:
    before = f"// as it was\n{json.dumps(_OLD)}".encode()

    found = _Case().undo(
        _former(info(_OLD)),
        state(topic_state(_T, info(_OLD))),
        restored={f"{_FOLDER}/t.avsc": before},
    )

    assert found.files == {f"{_FOLDER}/t.avsc": before}


def test_files_that_would_have_an_error_are_written_anew() -> None:
    found = _Case().undo(
        _former(info(_OLD)),
        state(topic_state(_T, info(_OLD))),
        restored={f"{_FOLDER}/t.yaml": b"kind: Nothing\n"},
    )

    assert set(found.files) == {f"{_FOLDER}/t.avsc"}


def test_an_uncommitted_file_is_never_overwritten() -> None:
    case, path = _Case(), f"{_FOLDER}/t.avsc"

    found = case.undo(
        _former(info(_OLD)), state(topic_state(_T, info(_OLD), info(_NEW))), dirty=[path]
    )

    assert found.files == {}
    assert f"{path} has changes that are not committed" in found.refused[_T].what


def test_nor_is_one_that_only_needs_the_property() -> None:
    case, path = _Case(_files(**{"t.avsc": json.dumps(_OLD)})), f"{_FOLDER}/t.avsc"
    observed = state(topic_state(_T, info(_OLD), info(_NEW)))

    refused = case.undo(_former(info(_OLD)), observed, dirty=[path])
    found = case.undo(_former(info(_OLD)), observed)

    assert f"{path} has changes that are not committed" in refused.refused[_T].what
    assert b'"revision": "2"' in found.files[path]


def test_a_second_undo_changes_nothing() -> None:
    revised = {**_OLD, "revision": "2"}
    case = _Case(_files(**{"t.avsc": json.dumps(revised)}))

    found = case.undo(
        _former(info(_OLD)), state(topic_state(_T, info(_OLD), info(_NEW), info(revised)))
    )

    assert (found.files, found.removed, found.refused) == ({}, (), {})
