"""`connect` on a cluster whose brokers are of several releases."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitops.changes.registries import registry_config
from gitops.model.policy import BrokerSettings, SettingRemark
from gitops.repository.loader import load
from gitops.usecases.connect import ConnectContext, Connection, ConnectRequest, connect
from tests.support.fake_registry import FakeRegistry
from tests.support.states import CREATED, avro, field, state, topic_state
from tests.support.trees import repository

_PLAIN = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'
_DASHED = _PLAIN.replace('"name":"R"', '"name":"R","namespace":"com.my-co"')
_DOLLAR = _PLAIN.replace('"name":"R"', '"name":"R$"')


def _connection(
    definition: str, folder: Path, *others: str, conflicts: tuple[SettingRemark, ...] = ()
) -> Connection:
    files = load(repository({}))
    _, config = registry_config(files, None)
    (folder / "mine.avsc").write_text(definition)
    registry = FakeRegistry(
        state(topic_state(CREATED, avro(field("a", "int")))),
        broker=BrokerSettings(
            release="4.0.7",
            other_releases=others,
            is_allow_auto_update_schema_enabled=True,
            conflicts=conflicts,
        ),
    )
    context = ConnectContext(
        repository=files, tree=repository({}), root=folder, registry=registry, config=config
    )
    schema = str(folder / "mine.avsc")
    return connect(ConnectRequest(topic=CREATED, role="producer", schemas=(schema,)), context)


@pytest.mark.parametrize(("definition", "verdict"), [(_DASHED, "refuses"), (_DOLLAR, "accepts")])
def test_a_release_that_answers_otherwise_is_noted(
    definition: str, verdict: str, tmp_path: Path
) -> None:
    connection = _connection(definition, tmp_path, "4.0.8", "4.2.4", "6.1.0")

    (note,) = connection.notes
    assert connection.accepted is (verdict == "refuses")
    assert f"brokers of 4.2.4, and such a broker {verdict} a producer with " in note
    assert not _connection(definition, tmp_path, "4.0.8").notes


def test_brokers_that_agree_need_no_note(tmp_path: Path) -> None:
    assert not _connection(_PLAIN, tmp_path, "4.2.4").notes


def test_what_the_cluster_contradicts_is_noted(tmp_path: Path) -> None:
    remark = SettingRemark(key="broker", message="broker is 4.0.7 in the cluster, and 4.2 here")

    connection = _connection(_PLAIN, tmp_path, conflicts=(remark,))

    assert connection.notes == (f"{remark.message}: the cluster's value is used",)
