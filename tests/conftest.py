"""What all tests share: the broker, fresh namespaces on it, and how hypothesis runs."""

from __future__ import annotations

import gc
import json
import os
import signal
import uuid
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import settings

from gitops.model.names import NamespaceName
from gitops.recursion_limit import raise_recursion_limit
from tests.support.admin_rest import admin_request
from tests.support.pulsar_broker import BrokerUnavailableError, RunningBroker, pulsar_broker
from tests.support.pulsar_class_path import QUICK_START
from tests.support.scheduling import FileOrGroupScheduling
from tests.support.skips import not_tried

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdist.remote import Producer
    from xdist.scheduler import Scheduling

# A shell that starts the tests in the background has them ignore Ctrl-C, nohup a closed terminal,
# and every command with them that a test starts and signals.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

raise_recursion_limit()

# The JVMs of the Sparks that tests start, also in programs of their own, live a minute.
_SPARK_FLAGS: Final = (*QUICK_START, f"-Dspark.executor.extraJavaOptions={QUICK_START[0]}")
os.environ.setdefault("SPARK_SUBMIT_OPTS", " ".join(_SPARK_FLAGS))

# Machines differ in speed, so no example has a deadline.
settings.register_profile("default", deadline=None)
settings.register_profile("thorough", deadline=None, max_examples=2000)
# Where a red run stops everybody, it must come from a change; people's own runs look further.
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=50)
# `make quick`: a few examples of each property, the same ones each time.
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=10)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default")
)


@pytest.hookimpl(wrapper=True, tryfirst=True)  # xdist names the groups in a hook of the same name
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Keep a file's broker tests in one process (`--dist loadgroup`), and let long groups start.

    The files are shared out, and each process has a broker of its own. Where PULSAR_ADMIN_URL
    names one for all of them, they stay together: some tests change settings of the whole broker.
    """
    for item in items:
        if item.get_closest_marker("broker"):
            shared = os.environ.get("PULSAR_ADMIN_URL")
            group = "broker" if shared else f"broker {item.path.stem}"
            item.add_marker(pytest.mark.xdist_group(group))
    yield
    # A group that takes minutes must not begin when the other process has nothing left to do.
    items.sort(key=lambda item: not (set(item.keywords) & {"xdist_group"}))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    """`loadgroup` where it is asked for; without groups, fast tests are handed out by the file."""
    return FileOrGroupScheduling(config, log) if config.getvalue("dist") == "loadgroup" else None


def pytest_collection_finish() -> None:
    """The thousands of tests that were found stay: no later search for garbage looks at them."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line on what was skipped, and why."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = [each.longrepr[2] for each in skipped if isinstance(each.longrepr, tuple)]
    if told := not_tried(reasons):
        terminalreporter.write_line(told)


@pytest.fixture(scope="session")
def pulsar() -> Iterator[RunningBroker]:
    """A broker: that of PULSAR_ADMIN_URL, else one that is started; skips where neither can be."""
    try:
        with pulsar_broker() as broker:
            yield broker
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker: {reason}")


@pytest.fixture(scope="session")
def pulsar_admin_url(pulsar: RunningBroker) -> str:
    """Where the broker's admin REST listens, without a slash at the end."""
    return pulsar.admin_url


@pytest.fixture
def pulsar_namespace(pulsar_admin_url: str) -> NamespaceName:
    """A namespace, in a tenant of its own, that nobody else uses."""
    namespace = NamespaceName(f"t-{uuid.uuid4().hex[:10]}", "events")
    url = f"{pulsar_admin_url}/admin/v2"
    (cluster, *_) = json.loads(admin_request("GET", f"{url}/clusters"))
    tenant = {"adminRoles": [], "allowedClusters": [cluster]}
    admin_request("PUT", f"{url}/tenants/{namespace.tenant}", tenant)
    admin_request("PUT", f"{url}/namespaces/{namespace}", {})
    return namespace
