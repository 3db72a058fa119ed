"""What a sensitive field holds stands in no report, whatever its type and however it fails."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from gitops.model.findings import Location
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.replay import Sample
from gitops.replay.engines.local import LocalRunner
from gitops.replay.failure_display import WITHHELD
from gitops.replay.replay_report import ReplayHistory, ReplayRequest, replay
from gitops.replay.topic_replays import Subject
from tests.support import replay_canaries as canaries
from tests.support.replay_canaries import Canaries
from tests.support.replay_outputs import outputs
from tests.support.states import CREATED, history

TRACES = canaries.traces()

CASES = [
    *(pytest.param(canaries.of_avro(name), id=f"AVRO {name}") for name in canaries.TYPES),
    *(pytest.param(canaries.of_json(name), id=f"JSON {name}") for name in canaries.TYPES),
    *(pytest.param(canaries.of_old_json(name), id=f"old JSON {name}") for name in canaries.TYPES),
    *(
        pytest.param(canaries.of_pairs(name, half), id=f"KEY_VALUE {half} {name}")
        for name in ("string", "enum", "record")
        for half in ("key", "value")
    ),
    *(
        pytest.param(canaries.of_protobuf(name), id=f"PROTOBUF_NATIVE {name}")
        for name in canaries.PROTO_TYPES
    ),
    pytest.param(canaries.of_protobuf_as_bytes("string"), id="PROTOBUF_NATIVE as bytes"),
    pytest.param(canaries.of_protobuf_in_avro_form(), id="PROTOBUF"),
    pytest.param(canaries.of_text(), id="STRING"),
]


def reports(root: Path, case: Canaries, *sensitive: str, show_values: bool) -> dict[str, str]:
    folder = root / "samples"
    folder.mkdir(exist_ok=True)
    payload = pyarrow.array(case.payloads, pyarrow.binary())
    pyarrow.parquet.write_table(pyarrow.table({"payload": payload}), folder / "a.parquet")
    sample = Sample(
        format="parquet",
        path="samples/a.parquet",
        location=Location(file="created.yaml"),
        version=0,
        sensitive=sensitive,
    )
    subject = Subject(
        topic=CREATED,
        history=history(case.written, case.other),
        proposed=case.proposed,
        samples=(sample,),
        strategy=SchemaCompatibilityStrategy.FULL_TRANSITIVE,
    )
    replaying = ReplayRequest(
        runner=LocalRunner(), root=root, examples=10_000, show_values=show_values
    )
    return outputs(replay(replaying, [subject], ReplayHistory(registry="local", source="files")))


def found_in(report: dict[str, str]) -> list[str]:
    """Traces, and what stands around them."""
    found = []
    for form, text in report.items():
        for trace in TRACES:
            at = text.find(trace)
            if at >= 0:
                found.append(f"{form}: {text[max(0, at - 150) : at + 50]}")
    return found


@pytest.mark.parametrize("case", CASES)
def test_a_sensitive_field_is_shown_nowhere(
    tmp_path: Path, case: Canaries, capfd: pytest.CaptureFixture[str]
) -> None:
    for show_values in (True, False):
        assert not found_in(reports(tmp_path, case, "secret", show_values=show_values))
    printed = capfd.readouterr()  # by libraries, too
    assert not found_in({"stdout": printed.out, "stderr": printed.err})
    shown = reports(tmp_path, case, "id", show_values=True)
    assert found_in(shown), "it would be shown"


def test_what_is_not_sensitive_is_still_shown(tmp_path: Path) -> None:
    report = reports(tmp_path, canaries.of_avro("string"), "secret", show_values=True)
    (topic,) = json.loads(report["json"])["topics"]
    values = [
        example["value"]
        for reader in topic["readers"]
        for failure in reader["failures"]
        for example in failure["examples"]
        if example["value"]
    ]
    customer = {"name": "somebody", "secret": "(sensitive)"}
    read, withheld = (
        [one for one in values if one.startswith("{") is is_read] for is_read in (True, False)
    )
    assert json.loads(read[0])["customer"] == customer
    assert set(withheld) == {WITHHELD}
