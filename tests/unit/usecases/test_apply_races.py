"""Somebody else is faster: what the registry then refuses is a stale plan, and nothing worse."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from gitops.model.apply_result import Result
from gitops.model.errors import (
    GitopsError,
    OutsideError,
    PartialApplyError,
    RegistryRefusedError,
    StalePlanError,
)
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import CreateNamespace, Plan
from gitops.model.policy import NamespacePolicies, PolicyChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo
from gitops.model.state import RegistryState, Scope
from gitops.planning.plan import make_plan
from gitops.ports import Progress, Registry, no_progress
from gitops.registries.embedded.administration import Administration
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.usecases.apply import apply
from tests.support.fake_registry import FakeRegistry
from tests.support.pulsar_client import open_test_registry
from tests.support.states import (
    CREATED,
    ORDERS,
    STRING,
    avro,
    field,
    observe,
    question,
    state,
    topic_state,
)

_FRESH = json.dumps(
    {
        "schema_compatibility_strategy": "UNDEFINED",
        "is_allow_auto_update_schema": True,
        "schema_validation_enforced": False,
        "schema_auto_update_compatibility_strategy": None,
    }
)
"""What a Pulsar 4.0.7 broker says of the schemas of a new namespace."""
_LOOKS = 2
_BACKWARD = NamespacePolicies(schema_compatibility_strategy=Strategy.BACKWARD)
_DESIRED = state(topic_state(CREATED, STRING), namespaces={ORDERS: _BACKWARD})


def _planned(registry: Registry, desired: RegistryState = _DESIRED) -> Plan:
    return make_plan(question(desired, observe(registry, desired)))


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[EmbeddedRegistry]:
    opened = EmbeddedRegistry("local", tmp_path / "registry.db")
    yield opened
    opened.close()


def test_of_two_applies_at_once_one_wins_and_the_other_is_stale(tmp_path: Path) -> None:
    both = [EmbeddedRegistry("local", tmp_path / "registry.db") for _ in range(2)]
    plans = [_planned(each) for each in both]
    together = threading.Barrier(2)

    def run(number: int) -> GitopsError | None:
        together.wait(timeout=60)
        try:
            apply(plans[number], both[number])
        except GitopsError as error:
            return error
        return None

    with ThreadPoolExecutor(2) as pool:
        lost = [error for error in pool.map(run, range(2)) if error]

    (error,) = lost
    assert (type(error), error.exit_code) == (StalePlanError, 5)
    assert "namespace shop/orders changed since the plan was made" in error.what
    assert _planned(both[0]).actions == ()
    for each in both:
        each.close()


@pytest.mark.slow
def test_a_pulsar_namespace_that_somebody_else_has_created_is_stale(
    httpserver: HTTPServer,
) -> None:
    created: list[str] = []

    def answer(request: Request) -> Response:
        path = request.path.removeprefix("/admin/v2/")
        if request.method == "PUT":
            # The plan saw none; now there is one, and it is not ours.
            created.append(path)
            return Response('{"reason": "Namespace already exists"}', status=409)
        known = {"namespaces/shop": "[]", **dict.fromkeys(created, _FRESH)}
        return Response(known[path]) if path in known else Response(status=404)

    for path in ("shop", "shop/orders"):
        httpserver.expect_request(f"/admin/v2/namespaces/{path}").respond_with_handler(answer)
    pulsar = open_test_registry(httpserver.url_for(""))
    plan = _planned(pulsar, state(namespaces={ORDERS: NamespacePolicies()}))
    assert plan.actions == (CreateNamespace(namespace=ORDERS),)

    with pytest.raises(StalePlanError, match="Namespace already exists") as raised:
        apply(plan, pulsar)

    assert raised.value.exit_code == 5
    assert raised.value.where.endswith("/admin/v2/namespaces/shop/orders")


def _register_first(registry: EmbeddedRegistry) -> None:
    registry.register_schema(CREATED, avro(field("other")))


def _tighten(registry: EmbeddedRegistry) -> None:
    never = Strategy.ALWAYS_INCOMPATIBLE
    registry.register_schema(CREATED, avro(field("a")))
    registry.set_policies(
        ORDERS, [PolicyChange(key="schemaCompatibilityStrategy", before=None, after=never)]
    )


def _delete_namespace(registry: EmbeddedRegistry) -> None:
    Administration(registry.database).delete_namespace(ORDERS)


@pytest.mark.parametrize("meanwhile", [_register_first, _tighten, _delete_namespace])
def test_a_schema_that_is_refused_because_of_somebody_elses_change_is_stale(
    registry: EmbeddedRegistry, meanwhile: Callable[[EmbeddedRegistry], None]
) -> None:
    registry.create_namespace(ORDERS)
    plan = _planned(registry, state(topic_state(CREATED, avro(field("a"), field("b")))))
    meanwhile(registry)

    with pytest.raises(StalePlanError, match="changed since the plan was made") as raised:
        apply(plan, registry)

    assert "make a new plan" in raised.value.hint


def test_after_other_actions_it_is_an_apply_in_part(registry: EmbeddedRegistry) -> None:
    class Slow(EmbeddedRegistry):
        """Somebody registers another schema just before ours."""

        def register_schema(self, topic: TopicName, info: SchemaInfo) -> int:
            _register_first(registry)
            return super().register_schema(topic, info)

    slow = Slow("local", registry.database.path)
    told: list[Result] = []

    with pytest.raises(PartialApplyError, match=r"2 of 3 .* changed since the plan") as raised:
        apply(_planned(slow), slow, tell=told.append)

    assert raised.value.exit_code == 6
    assert raised.value.hint == "make a new plan and have it reviewed"
    assert [type(one.error) for one in told] == [type(None), type(None), StalePlanError]
    slow.close()


@pytest.mark.parametrize("status", [401, 403, 404, 409, 422])
def test_a_refusal_of_what_nobody_has_touched_stays_one(status: int) -> None:
    refused = RegistryRefusedError("no", status=status)
    fake = FakeRegistry(fails_at=0, error=refused)

    with pytest.raises(RegistryRefusedError) as raised:
        apply(_planned(fake), fake)

    assert raised.value is refused


def test_a_registry_that_cannot_be_looked_at_again_leaves_the_refusal() -> None:
    class Gone(FakeRegistry):
        """Answers the plan and the look before the write, and no other."""

        def observe(self, scope: Scope, progress: Progress = no_progress) -> RegistryState:
            if len(self.asked) == _LOOKS:
                raise OutsideError("gone")
            return super().observe(scope, progress)

    fake = Gone(fails_at=0, error=RegistryRefusedError("taken", status=409))

    with pytest.raises(RegistryRefusedError, match="taken"):
        apply(_planned(fake), fake)


def test_a_namespace_that_is_gone_takes_no_policies_and_is_stale(
    registry: EmbeddedRegistry,
) -> None:
    other = NamespaceName("shop", "other")
    registry.create_namespace(other)
    plan = _planned(registry, state(namespaces={other: _BACKWARD}))
    Administration(registry.database).delete_namespace(other)

    with pytest.raises(StalePlanError, match="namespace shop/other changed"):
        apply(plan, registry)
