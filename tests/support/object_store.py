"""An object store on a free loopback port that speaks S3, and what clients have to know of it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

import urllib3
from moto.server import ThreadedMotoServer

SECRET: Final = "theKeyThatNobodyMaySee"
KEY: Final = "theIdThatNobodyMaySee"


@contextmanager
def object_store(bucket: str, folder: Path) -> Iterator[Mapping[str, str]]:
    """The environment of its clients, while it holds all files of `folder` in a bucket."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        address = f"http://{host}:{port}"
        urllib3.request("POST", f"{address}/moto-api/reset")  # it keeps what others had
        _put(f"{address}/{bucket}")
        for file in folder.rglob("*"):
            if file.is_file():
                _put(f"{address}/{bucket}/{quote(str(file.relative_to(folder)))}", file)
        yield {
            "AWS_ENDPOINT_URL": address,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }
    finally:
        server.stop()


def _put(address: str, file: Path | None = None) -> None:
    body = file.read_bytes() if file else b""
    answer = urllib3.request("PUT", address, body=body)
    assert answer.status == 200, f"{address}: {answer.status} {answer.data!r}"
