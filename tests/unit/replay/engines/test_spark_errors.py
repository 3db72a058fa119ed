"""What is told of an exception of Spark."""

from __future__ import annotations

import pytest

from gitops.replay.engines.spark_errors import failure, first_line, reason, shown

JAVA = """An error occurred while calling o56.collectToPython.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 failed
Traceback (most recent call last):
  File "worker.py", line 1, in main
    import msgspec
ModuleNotFoundError: No module named 'msgspec'

\tat org.apache.spark.api.python.BasePythonRunner.compute(PythonRunner.scala:1)
"""


def test_a_module_that_workers_lack_is_named() -> None:
    error = failure(ValueError(JAVA), "Spark failed")
    assert error.what == "Spark failed: the Python of Spark's workers has no module 'msgspec'"
    assert error.exit_code == 4


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            JAVA.replace("worker.py", "/venv/gitops/replay/batch_reader.py").replace(
                "ModuleNotFoundError", "KeyError"
            ),
            "KeyError at replay/batch_reader.py:1 in main",
        ),
        (JAVA.replace("ModuleNotFoundError", "KeyError"), "KeyError: No module named 'msgspec'"),
        ("An error occurred while calling o1.x.\n: java.io.IOException: no disk", "no disk"),
        ('Exception in thread "main" org.apache.spark.SparkException: Master', "Master"),
        ("\n[TABLE_OR_VIEW_NOT_FOUND] no\nmore", "[TABLE_OR_VIEW_NOT_FOUND] no"),
        ("cannot open s3a://key:secret@bucket/x", "cannot open s3a://bucket/x"),
        (
            '<_InactiveRpcError of RPC that terminated with:\n\tdetails = "Connection refused"\n>',
            "Connection refused",
        ),
        ("", ""),
        ("x" * 400, "x" * 300 + "…"),
    ],
)
def test_one_line_tells_what_went_wrong(text: str, line: str) -> None:
    assert first_line(text) == line


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            (
                "java.lang.RuntimeException: java.lang.ClassNotFoundException: "
                "Class org.apache.hadoop.fs.s3a.S3AFileSystem not found"
            ),
            (
                "Spark runs without org.apache.hadoop:hadoop-aws, of its Hadoop's version: "
                "start it with --packages"
            ),
        ),
        (
            "ClassNotFoundException: Class org.apache.hadoop.fs.azurebfs.Secure not found",
            (
                "Spark runs without org.apache.hadoop:hadoop-azure, of its Hadoop's version: "
                "start it with --packages"
            ),
        ),
        (
            'x.UnsupportedFileSystemException: No FileSystem for scheme "s3"',
            "Spark has no file system for s3://: Hadoop calls it s3a://",
        ),
        (
            'x.UnsupportedFileSystemException: No FileSystem for scheme "oss"',
            "Spark has no file system for oss://: start it with a package for that",
        ),
        (
            (
                "An error occurred while calling o1.sql.\n"
                ": java.lang.NoSuchMethodError: 'void a.B.c()'\n\tat d"
            ),
            (
                "a package does not fit this Spark, or lacks another one that it needs: "
                "NoSuchMethodError: 'void a.B.c()'"
            ),
        ),
        (
            (
                "io.fabric8.KubernetesClientException: An error has occurred.\n\tat a\n"
                "Caused by: java.io.IOException: closed\n"
                "Caused by: java.net.ConnectException: Connection refused"
            ),
            "Connection refused",
        ),
    ],
)
def test_what_spark_lacks_is_named(text: str, told: str) -> None:
    assert reason(Exception(text)) == told


def test_java_that_ends_at_once_tells_the_exception_that_ended_it() -> None:
    told = ':: loading settings ::\nException in thread "main" java.lang.RuntimeException: [no x]\n'
    failed = failure(Exception("JAVA_GATEWAY_EXITED"), "Spark does not start", told)
    assert failed.what == "Spark does not start: [no x]"


@pytest.mark.parametrize(
    ("master", "told"),
    [
        ("sc://host:15002/;token=secret", "sc://host:15002"),
        ("sc://user:secret@host", "sc://host"),
        ("local[2]", "local[2]"),
    ],
)
def test_no_secret_of_an_address_is_told(master: str, told: str) -> None:
    assert shown(master) == told


def test_java_that_ends_at_once_tells_what_it_said() -> None:
    gone = RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited")
    assert failure(gone, "no Spark").what == "no Spark: Java ended at once"
    assert failure(gone, "no Spark", "\nout of memory\n").what == "no Spark: out of memory"


def test_a_cluster_that_no_master_answers_for_is_told() -> None:
    error = RuntimeError("Cannot call methods on a stopped SparkContext.\nThis stopped")
    told = failure(error, "Spark does not start on spark://host:7077").what
    assert told.startswith("Spark does not start on spark://host:7077: no master answers there")
