"""Samples at s3a:// addresses, read by Spark with Hadoop's S3A, as the same files on disk are."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Final

import pytest

from gitops.model.errors import OutsideError
from gitops.replay.engines.spark_driver import find_java, write_wrapper

pyspark = pytest.importorskip("pyspark")
pytest.importorskip("moto")
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark commands")]

from tests.support.object_store import object_store  # noqa: E402 - it needs moto
from tests.support.stored_samples import (  # noqa: E402 - it needs pyarrow
    BUCKET,
    on_disk,
    replayed,
    write_repository,
)

_SDKS: Final = {"3.5.0": "2.35.4"}
"""By Hadoop: the version of the AWS SDK that it was built with."""

_MODULES: Final = ("s3", "s3-transfer-manager", "sts", "apache-client")
"""18 MB with all that they need; the bundle of the whole SDK, which S3A asks for, has 686."""

_SETTINGS: Final = """\
<ivysettings>
  <settings defaultResolver="central"/>
  <resolvers><ibiblio name="central" m2compatible="true"/></resolvers>
</ivysettings>
"""
"""Not from ~/.m2: Ivy takes a description there for the library, which may not be there."""


def _hadoop() -> str:
    jars = Path(pyspark.__file__).parent / "jars"
    (jar,) = jars.glob("hadoop-client-api-*.jar")
    found = re.search(r"-(\d[\d.]*)\.jar$", jar.name)
    return found[1] if found else jar.name


def _arguments(folder: Path) -> str:
    hadoop = _hadoop()
    if hadoop not in _SDKS:
        pytest.skip(f"not known which AWS SDK Hadoop {hadoop} goes with")
    settings = folder / "ivysettings.xml"
    settings.write_text(_SETTINGS)
    sdk = [f"software.amazon.awssdk:{name}:{_SDKS[hadoop]}" for name in _MODULES]
    packages = ",".join([f"org.apache.hadoop:hadoop-aws:{hadoop}", *sdk])
    return (
        f"--packages {packages} --exclude-packages software.amazon.awssdk:bundle "
        f"--conf spark.jars.ivySettings={settings} "
        "--conf spark.hadoop.fs.s3a.path.style.access=true pyspark-shell"
    )


def test_s3a_is_read_by_spark_as_the_disk_is(tmp_path: Path) -> None:
    try:
        write_wrapper(find_java(os.environ), tmp_path / "java")
    except OutsideError as error:
        pytest.skip(f"no Spark: {error}")
    settings = {
        "PYSPARK_SUBMIT_ARGS": _arguments(tmp_path),
        "PYSPARK_PYTHON": sys.executable,
        "JAVA_HOME": str(tmp_path / "java"),
    }
    write_repository(tmp_path / "repo")
    with object_store(BUCKET, tmp_path / "repo") as clients:
        environment = {**os.environ, **settings, **clients}
        expected = on_disk(tmp_path / "repo", environment)
        place = f"s3a://{BUCKET}/samples"
        found = replayed(tmp_path / "repo", place, environment, "--master", "local[2]")
    assert found == expected
