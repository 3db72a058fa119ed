"""The page on upgrades: what it lets people send to a broker without a repository."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gitops.cli.app import run
from tests.support.admin_rest import admin_request
from tests.support.project_files import ROOT
from tests.support.pulsar_broker import BrokerUnavailableError, pulsar_broker

pytestmark = pytest.mark.broker

_PAGE = ROOT / "docs" / "how-to" / "upgrade-a-cluster.md"
_DASHED = {"type": "record", "name": "Shipped", "namespace": "com.my-co", "fields": []}


def test_rest_deletes_and_registers(tmp_path: Path) -> None:
    curl, bash = shutil.which("curl"), shutil.which("bash")
    if curl is None or bash is None:
        pytest.skip("no curl or no bash")
    blocks = re.findall(r"```bash\n(.*?)```", _PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (script,) = (one for one in blocks if "curl" in one)
    mended = json.dumps({**_DASHED, "namespace": "com.my_co"})
    body = {"type": "AVRO", "schema": mended, "properties": {}}
    (tmp_path / "shipped.json").write_text(json.dumps(body))
    try:
        with pulsar_broker() as broker:
            admin = f"{broker.admin_url}/admin/v2"
            schema = f"{admin}/schemas/shop/orders/shipped/schema"
            clusters = json.loads(admin_request("GET", f"{admin}/clusters"))
            tenant = {"adminRoles": [], "allowedClusters": clusters}
            admin_request("PUT", f"{admin}/tenants/shop", tenant)
            admin_request("PUT", f"{admin}/namespaces/shop/orders", {})
            admin_request("POST", schema, {**body, "schema": json.dumps(_DASHED)})

            environment = {**os.environ, "URL": broker.admin_url}
            subprocess.run([bash, "-ec", script], cwd=tmp_path, env=environment, check=True)

            mine = ["shop/orders/shipped", "--url", broker.admin_url, "--repo", str(tmp_path)]
            assert run(["schemas", "delete", *mine, "--yes"]) == 0
            definition = tmp_path / "shipped.avsc"
            definition.write_text(mended)
            upload = ["schemas", "upload", mine[0], str(definition), "--type", "AVRO", *mine[1:]]
            assert run(upload) == 0

            entries = json.loads(admin_request("GET", f"{schema}s"))["getSchemaResponses"]
            assert [(one["version"], json.loads(one["data"])) for one in entries] == [
                (4, json.loads(mended))
            ]
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker: {reason}")
