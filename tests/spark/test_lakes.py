"""Delta and Iceberg tables, read by Spark with their packages from Maven."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from gitops.model.errors import OutsideError
from gitops.replay.engines.spark_driver import find_java, write_wrapper
from gitops.repository.template import copy_template

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")
pytest.importorskip("pyspark")
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark commands")]

from tests.spark.lakes import LAKES  # noqa: E402 - it needs pyspark
from tests.support.spark import require_packages  # noqa: E402

_TOPIC: Final = "namespaces/shop/orders/order-cancelled.yaml"
_SAMPLES: Final = "samples/shop/orders/order-cancelled.jsonl"
_ROOT: Final = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("kind", "table"), [("delta", "delta.`{}/delta`"), ("iceberg", "lake.shop.orders")]
)
def test_a_table_is_replayed_as_the_file_that_it_was_made_of(
    kind: str, table: str, tmp_path: Path
) -> None:
    lake = LAKES[kind]
    if not lake.fits:
        pytest.skip(f"{kind} has no package for this Spark, but for {', '.join(lake.sparks)}")
    repository = tmp_path / "repo"
    copy_template(repository)
    payloads = (repository / _SAMPLES).read_bytes().splitlines()
    messages = pyarrow.table({"payload": payloads, "schema_version": [0] * len(payloads)})
    pyarrow.parquet.write_table(messages, tmp_path / "orders.parquet")
    settings = {
        "PYSPARK_SUBMIT_ARGS": lake.submit_arguments(tmp_path),
        "PYSPARK_PYTHON": sys.executable,
        "JAVA_HOME": str(_java_home(tmp_path)),
    }
    environment = {**os.environ, **settings}
    written = _run([sys.executable, "-m", "tests.spark.lakes", kind, tmp_path], _ROOT, environment)
    require_packages(written.stdout + written.stderr)
    assert written.returncode == 0, written.stdout + written.stderr

    file = {"format": "json", "path": f"../../../{_SAMPLES}"}
    expected = _replayed(repository, environment, file)
    found = _replayed(repository, environment, {"format": "table", "path": table.format(tmp_path)})
    assert expected["rows"] == len(payloads)
    assert found == expected


def _java_home(folder: Path) -> Path:
    try:
        java = find_java(os.environ)
    except OutsideError as error:
        pytest.skip(f"no Spark: {error}")
    write_wrapper(java, folder / "java")
    return folder / "java"


def _replayed(
    repository: Path, environment: dict[str, str], sample: dict[str, str]
) -> dict[str, object]:
    """What came of the messages, without where they stand."""
    manifest = repository / _TOPIC
    head = manifest.read_text().partition("samples:")[0]
    manifest.write_text(f"{head}samples:\n  - {json.dumps({**sample, 'version': 0})}\n")
    done = _run(
        [
            Path(sys.executable).parent / "pulsar-gitops",
            *("replay", "--format", "json", "--master", "local[1]", "shop/orders/order-cancelled"),
        ],
        repository,
        environment,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    topic: dict[str, object]
    (topic,) = json.loads(done.stdout)["topics"]
    return topic


def _run(
    command: Sequence[str | Path], folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
