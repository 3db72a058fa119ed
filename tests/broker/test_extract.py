"""Classes of a program against what a running broker has, and what it then says to them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from gitops.model.names import NamespaceName, TopicName
from tests.support.admin_rest import admin_request
from tests.support.capture_topics import pulsar_client
from tests.support.command_line import PROGRAM, captured
from tests.support.project_files import ROOT
from tests.support.pulsar_broker import RunningBroker

library = pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
schemas = pytest.importorskip("pulsar.schema", reason="the extra 'pulsar' is not installed")
pytestmark = pytest.mark.broker

MODULE: Final = "orders_of_a_running_broker"
SOURCE: Final = """\
from pulsar.schema import Integer, Record, String

class Same(Record):
    id = String()
Same.__name__ = "Order"

class New(Record):
    id = String()
    note = String(required_default=True)
New.__name__ = "Order"

class Refused(Record):
    id = Integer()
Refused.__name__ = "Order"
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    (tmp_path / f"{MODULE}.py").write_text(SOURCE, "utf-8")
    return tmp_path


def check(
    pulsar: RunningBroker, program: Path, topic: TopicName, name: str
) -> tuple[int, dict[str, Any]]:
    """Outside of a repository: the cluster alone has the schema."""
    ran = captured(
        "schemas", "extract", f"{MODULE}:{name}", "--path", program, "--type", "AVRO",
        "--check", "--topic", topic, "--url", pulsar.admin_url, "--format", "json",
    )  # fmt: skip
    return ran.code, json.loads(ran.out)


def connect(pulsar: RunningBroker, topic: TopicName, name: str) -> None:
    """A producer with the schema of the class, of pulsar-client itself."""
    with pulsar_client(pulsar) as client:
        record = vars(sys.modules[MODULE])[name]
        producer = client.create_producer(str(topic), schema=schemas.AvroSchema(record))
        producer.close()


def test_the_answer_is_what_the_broker_then_does(
    pulsar: RunningBroker, pulsar_namespace: NamespaceName, program: Path
) -> None:
    """Registered, a new version and then registered, refused: by the text of pulsar-client."""
    if not pulsar.service_url:
        pytest.skip("PULSAR_SERVICE_URL does not say where the broker's own protocol listens")
    topic = TopicName(pulsar_namespace, "orders")
    missing = captured(
        "schemas", "extract", f"{MODULE}:Same", "--path", program, "--check", "--topic", topic,
        "--url", pulsar.admin_url,
    )  # fmt: skip
    assert missing.code == 2
    assert "has no schema" in missing.err
    connect(pulsar, topic, "Same")
    code, found = check(pulsar, program, topic, "Same")
    assert (code, found["known"], found["registered"], found["version"]) == (0, True, True, 0)
    code, found = check(pulsar, program, topic, "New")
    assert (code, found["known"], found["version"]) == (3, False, 1)
    code, found = check(pulsar, program, topic, "Refused")
    assert (code, found["accepted"], found["file"]) == (1, False, None)
    with pytest.raises(library.IncompatibleSchema):
        connect(pulsar, topic, "Refused")
    connect(pulsar, topic, "New")
    code, found = check(pulsar, program, topic, "New")
    assert (code, found["registered"], found["version"]) == (0, True, 1)


PAGE: Final = ROOT / "docs/how-to/check-a-class-against-its-schema.md"
TOPIC: Final = "shop/orders/order-cancelled"


def test_the_example_of_an_application_asks_a_running_broker(
    pulsar: RunningBroker, pulsar_namespace: NamespaceName, tmp_path: Path
) -> None:
    """The files of the how-to, in a folder with no checkout of the schemas."""
    page = PAGE.read_text("utf-8")
    blocks = dict(re.findall(r"^```python file=(\S+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    topic = f"{pulsar_namespace}/order-cancelled"
    (tmp_path / "cancellations.py").write_text(blocks["cancellations.py"], "utf-8")
    test = tmp_path / "test_registered.py"
    test.write_text(blocks["test_registered.py"].replace(TOPIC, topic), "utf-8")
    assert topic in test.read_text("utf-8")
    url = f"{pulsar.admin_url}/admin/v2/schemas/{topic}/schema"
    extracted = captured(
        "schemas", "extract", "cancellations:OrderCancelled", "--path", tmp_path, "--jsr310",
        "--type", "JSON", "--format", "json",
    )  # fmt: skip
    assert extracted.code == 0, extracted.err
    body = json.loads(extracted.out)
    admin_request("POST", url, body)
    assert run_tests(pulsar, tmp_path) == 0
    refused = (tmp_path / "cancellations.py").read_text("utf-8") + "    refund: int\n"
    (tmp_path / "cancellations.py").write_text(refused, "utf-8")
    assert run_tests(pulsar, tmp_path) == 1


def run_tests(pulsar: RunningBroker, folder: Path) -> int:
    """The exit code of the application's own tests."""
    path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PULSAR_ADMIN_URL": pulsar.admin_url}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_registered.py"]
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode
