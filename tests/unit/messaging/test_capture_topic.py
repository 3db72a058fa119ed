"""Which messages a capture has, whatever ends it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Final

import fastavro
import pytest

pytest.importorskip("pyarrow", reason="the extra 'replay' is not installed")

from gitops.messaging import capture_parts
from gitops.messaging.capture_client import Position
from gitops.messaging.capture_files import (
    CaptureFolder,
    CaptureManifest,
    PartitionState,
    Selection,
)
from gitops.messaging.capture_topic import CaptureJob, MaskedMessage
from gitops.messaging.capture_topic import capture_topic as run
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.model.errors import OutsideError
from gitops.model.names import TopicName
from tests.support.capture_topics import rows_of
from tests.support.fake_messages import FakeMessage, FakeReaders, batches

TOPIC: Final = TopicName.parse("shop/orders/created")
NAME: Final = "persistent://shop/orders/created"


def manifest(
    *ends: Position | None, selection: Selection | None = None, partitioned: bool = False
) -> CaptureManifest:
    numbers = range(len(ends)) if partitioned else (-1,)
    return CaptureManifest(
        topic=NAME,
        registry="fake",
        address="nowhere",
        broker="4.0.7",
        program="test",
        part_format="parquet",
        begun="2026-05-01T00:00:00+00:00",
        selection=selection or Selection(),
        partitions=tuple(
            PartitionState(partition=number, end=end, messages_by_version={})
            for number, end in zip(numbers, ends, strict=True)
        ),
    )


def job(readers: FakeReaders, out: Path, **more: Any) -> CaptureJob:  # noqa: ANN401
    return CaptureJob(topic=TOPIC, readers=readers, folder=CaptureFolder.of(out, TOPIC), **more)


def payloads(out: Path) -> list[bytes | None]:
    return [row["payload"] for row in rows_of(out, TOPIC)]


def begun(
    readers: FakeReaders,
    out: Path,
    wanted: CaptureManifest,
    **more: Any,  # noqa: ANN401
) -> CaptureManifest:
    one = job(readers, out, **more)
    one.folder.begin(wanted, {})
    return run(one, wanted)


def test_messages_up_to_the_end_are_captured_and_none_behind_it(tmp_path: Path) -> None:
    readers = FakeReaders({NAME: batches(20)})
    done = begun(readers, tmp_path, manifest(Position(1, 2, 1)))
    assert payloads(tmp_path) == [b"v%d" % number for number in range(10)]
    assert done.is_complete
    assert done.partitions[0].messages == 10
    assert done.partitions[0].position == Position(1, 2, 1)


def test_a_batch_that_stays_encrypted_is_the_end_where_it_is_the_newest(tmp_path: Path) -> None:
    """The client has it as one message without an index, and goes on to have more."""

    class Endless(FakeReaders):
        def take(self, left: list[FakeMessage], most: int) -> list[FakeMessage]:
            found = super().take(left, most)
            assert found, "it is read beyond its end"
            return found

    whole = FakeMessage(at=Position(1, 5, -1), payload=b"encrypted")
    readers = Endless({NAME: [*batches(4), whole]}, block=1)
    done = begun(readers, tmp_path, manifest(Position(1, 5, 4)))
    assert done.is_complete
    assert payloads(tmp_path)[-1] == b"encrypted"


def test_a_topic_without_messages_ends(tmp_path: Path) -> None:
    for end in (None, Position(1, -1, -1)):
        done = begun(FakeReaders({}), tmp_path / str(end), manifest(end))
        assert done.is_complete
        assert payloads(tmp_path / str(end)) == []


def test_an_end_that_is_never_sent_is_no_hang(tmp_path: Path) -> None:
    """The newest entry may be a marker of a transaction."""
    done = begun(FakeReaders({NAME: batches(5)}), tmp_path, manifest(Position(9, 9, -1)))
    assert done.is_complete
    assert len(payloads(tmp_path)) == 5


def test_a_broker_that_has_more_and_sends_nothing_is_given_up(tmp_path: Path) -> None:
    class Silent:
        def read(self, _most: int) -> list[Any]:
            return []

        def has_more(self) -> bool:
            return True

        def unfinished(self) -> None:
            return None

        def close(self) -> None:
            """Nothing is open."""

    readers = FakeReaders({})
    readers.open = lambda *_, **__: Silent()  # type: ignore[method-assign]
    clock = iter(range(0, 10_000, 10))
    with pytest.raises(OutsideError, match="sent no message for 60 s"):
        begun(readers, tmp_path, manifest(Position(1, 1, 1)), now=lambda: float(next(clock)))


@pytest.mark.slow
def test_avro_parts_have_the_same_messages(tmp_path: Path) -> None:
    key = api.EncryptionKeys(key="k", value=b"v", metadata=[api.KeyValue(key="m", value="1")])
    odd = FakeMessage(
        at=Position(2, 0, -1), is_null=True, event=7, encryption_keys=[key], version=3
    )
    messages = [*batches(9, props={"a": "b"}, key="k"), odd]
    for part_format in ("parquet", "avro"):
        wanted = manifest(odd.at).model_copy(update={"part_format": part_format})
        done = begun(FakeReaders({NAME: messages}), tmp_path / part_format, wanted)
        folder = CaptureFolder.of(tmp_path / part_format, TOPIC)
        assert done.checksums == sums_of(folder)
    (part,) = folder.path.glob("*.avro")
    with part.open("rb") as file:
        rows = list(fastavro.reader(file))
    expected = rows_of(tmp_path / "parquet", TOPIC)
    assert expected[-1]["encryption"]["keys"][0]["value"] == b"v"
    expected[-1]["encryption"]["keys"][0]["metadata"] = {"m": "1"}
    assert rows == expected


def test_times_select_by_publish_time(tmp_path: Path) -> None:
    messages = [
        FakeMessage(at=Position(1, number, -1), payload=b"%d" % number, published=number * 10)
        for number in range(10)
    ]
    wanted = manifest(Position(1, 9, -1), selection=Selection(since=30, until=60))
    begun(FakeReaders({NAME: messages}), tmp_path, wanted)
    assert payloads(tmp_path) == [b"3", b"4", b"5"]


@pytest.mark.slow
def test_a_sample_is_the_same_however_the_messages_come(tmp_path: Path) -> None:
    wanted = manifest(Position(1, 499, 3), selection=Selection(sample=0.25))
    for block in (3, 7, 1000):
        begun(FakeReaders({NAME: batches(2000)}, block=block), tmp_path / str(block), wanted)
    first, *others = [payloads(tmp_path / str(block)) for block in (3, 7, 1000)]
    assert others == [first, first]
    assert 400 < len(first) < 600
    chosen = [row["sequence_id"] for row in rows_of(tmp_path / "3", TOPIC)]
    assert [b"v%d" % number for number in chosen] == first


@pytest.mark.slow
@pytest.mark.parametrize(("share", "number"), [(0.0, 0), (1.0, 200), (1 - 2**-53, 200)])
def test_a_sample_may_be_nothing_or_all(share: float, number: int, tmp_path: Path) -> None:
    wanted = manifest(Position(1, 49, 3), selection=Selection(sample=share))
    begun(FakeReaders({NAME: batches(200)}), tmp_path, wanted)
    assert len(payloads(tmp_path)) == number


@pytest.mark.slow
def test_a_limit_is_divided_among_partitions(tmp_path: Path) -> None:
    partitions = {f"{NAME}-partition-{n}": batches(size) for n, size in enumerate((2, 50, 50))}
    ends = [Position(1, 100, 3)] * 3
    wanted = manifest(*ends, selection=Selection(limit=30), partitioned=True)
    done = begun(FakeReaders(partitions), tmp_path, wanted)
    assert [each.messages for each in done.partitions] == [2, 14, 14]
    assert done.is_complete
    assert len(payloads(tmp_path)) == 30


class _Mask:
    """Leaves odd payloads out and hides the others."""

    def mask(
        self,
        version: int | None,  # noqa: ARG002 - the Protocol's signature
        key: bytes | None,
        payload: bytes | None,
    ) -> MaskedMessage | str:
        assert payload is not None
        return "odd" if int(payload[1:]) % 2 else MaskedMessage(key, b"hidden")


def test_what_cannot_be_masked_is_left_out_and_counted(tmp_path: Path) -> None:
    done = begun(
        FakeReaders({NAME: batches(9)}), tmp_path, manifest(Position(1, 9, 9)), mask=_Mask()
    )
    assert payloads(tmp_path) == [b"hidden"] * 5
    assert done.partitions[0].left_out == {"odd": 4}
    assert done.partitions[0].messages == 5


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_parts, "PART_BYTES", 400)
    monkeypatch.setattr(capture_parts, "GROUP_ROWS", 4)


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_a_capture_that_is_ended_anywhere_goes_on_to_the_same(tmp_path: Path) -> None:
    """By a failure of the broker, by Ctrl-C, and by the death of the process."""
    ends = Position(1, 99, 3)
    whole = begun(FakeReaders({NAME: batches(60, version=7)}), tmp_path / "whole", manifest(ends))
    wanted = rows_of(tmp_path / "whole", TOPIC)
    assert whole.partitions[0].parts > 3
    for seed in range(20):
        random, out = Random(seed), tmp_path / str(seed)  # noqa: S311 - the same each time
        folder = CaptureFolder.of(out, TOPIC)
        folder.begin(manifest(ends), {})
        for _ in range(100):
            _run_a_while(random, out)
            found = folder.manifest()
            assert found
            numbers = Counter(row["message_id"] for row in rows_of(out, TOPIC))
            assert max(numbers.values(), default=1) == 1  # what is there is whole
            if found.is_complete:
                break
        assert rows_of(out, TOPIC) == wanted, seed
        assert found
        assert found.checksums == sums_of(folder)
        assert found.without_schema == {7: 60}
        assert found.messages_by_version == {7: 60}


def test_messages_of_versions_that_are_gone_are_counted(tmp_path: Path) -> None:
    messages = [
        FakeMessage(at=Position(1, number, -1), payload=b"v", version=version)
        for number, version in enumerate((3, 5, -1, 0, 5))
    ]
    wanted = manifest(messages[-1].at).model_copy(update={"versions": (3,)})
    done = begun(FakeReaders({NAME: messages}), tmp_path, wanted)
    assert done.without_schema == {0: 1, 5: 2}
    assert done.messages_by_version == {0: 1, 3: 1, 5: 2}
    assert done.partitions[0].messages == len(payloads(tmp_path)) == 5


def test_a_capture_of_a_former_release_that_goes_on_has_no_counts(tmp_path: Path) -> None:
    wanted = manifest(Position(1, 2, 1))
    document = json.loads(wanted.model_dump_json(by_alias=True))
    del document["partitions"][0]["messagesByVersion"]
    former = CaptureManifest.model_validate_json(json.dumps(document))

    done = begun(FakeReaders({NAME: batches(20)}), tmp_path, former)

    assert done.messages_by_version is None
    assert done.partitions[0].messages == 10


def sums_of(folder: CaptureFolder) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.path.glob("part-*")
    }


class _DeathError(BaseException):
    """The process ends here."""


class _UnsavedFolder(CaptureFolder):
    def save(self, manifest: CaptureManifest) -> None:  # noqa: ARG002 - as that of the base
        raise _DeathError


def _run_a_while(random: Random, out: Path) -> None:
    folder = CaptureFolder.of(out, TOPIC)
    found = folder.manifest()
    assert found
    last = random.randrange(1, 15)
    kind = random.choice(("failure", "interruption", "death", "death before the manifest"))
    readers = FakeReaders({NAME: batches(60, version=7)}, block=random.randrange(1, 6))
    if kind == "death":
        readers.take = _dying(readers, last)  # type: ignore[method-assign]
    elif kind == "failure":
        readers.fails = lambda blocks: blocks >= last
    stopped = (lambda: readers.blocks >= last) if kind == "interruption" else (lambda: False)
    try:
        one = job(readers, out, stopped=stopped)
        if kind.endswith("manifest"):
            one = replace(one, folder=_UnsavedFolder(folder.path))
        run(one, found)
    except (OutsideError, _DeathError):
        return


def _dying(readers: FakeReaders, last: int) -> Any:  # noqa: ANN401
    take = readers.take

    def dying(left: list[FakeMessage], most: int) -> list[FakeMessage]:
        if readers.blocks >= last:
            raise _DeathError
        return take(left, most)

    return dying
