"""Which answers are refusals, and what the hint says."""

from __future__ import annotations

import json

import pytest

from gitops.model.errors import OutsideError, RegistryRefusedError, UnknownOutcomeError
from gitops.registries.pulsar.error_responses import Answer, refusal, unexpected_body


def answer(status: int, body: str = "", method: str = "POST") -> Answer:
    kind = "application/json" if body.startswith("{") else "text/html"
    return Answer(method, "http://b/admin/v2/x", status, "Reason", kind, body.encode())


def reason(text: str) -> str:
    return json.dumps({"reason": text})


def stack_trace(error: str) -> str:
    return reason(
        f"\n --- An unexpected error\n\nMessage: why\n\nStacktrace:\n\n{error}: why\n\tat x"
    )


def refused(of: Answer) -> OutsideError:
    return refusal(of, of.message, permission="a role", hint="a hint")


@pytest.mark.parametrize("status", [400, 404, 405, 409, 412, 413, 415, 422])
def test_a_refusal_keeps_status_and_message(status: int) -> None:
    error = refused(answer(status, reason("no")))
    assert isinstance(error, RegistryRefusedError)
    assert (error.status, error.what, error.hint) == (status, "no", "a hint")
    assert error.where == "POST http://b/admin/v2/x"


@pytest.mark.parametrize(
    ("status", "said", "named"),
    [
        (401, "<title>Error 401 Authentication required</title>", "authentication"),
        (401, "", "authentication"),
        (401, reason("Unauthorized to validateTenantOperation for …"), "a role"),
        (401, reason("Don't have permission to administrate resources on this tenant"), "a role"),
        (401, reason("This operation requires super-user access"), "a role"),
        (403, reason("no"), "a role"),
        (403, "", "a role"),
    ],
)
def test_credentials_are_told_from_permissions(status: int, said: str, named: str) -> None:
    error = refused(answer(status, said))
    assert isinstance(error, RegistryRefusedError)
    assert error.status == status
    assert named in error.hint


@pytest.mark.parametrize(
    ("error", "is_refusal"),
    [
        ("org.apache.avro.AvroTypeException", True),
        ("org.apache.pulsar.broker.service.schema.exceptions.IncompatibleSchemaException", True),
        ("java.lang.NullPointerException", True),
        ("java.util.concurrent.TimeoutException", False),
        ("org.apache.bookkeeper.client.BKException$BKNotEnoughBookiesException", False),
        ("org.apache.pulsar.metadata.api.MetadataStoreException", False),
    ],
)
def test_a_500_about_the_schema_is_told_from_a_broken_broker(error: str, is_refusal: bool) -> None:  # noqa: FBT001
    found = refused(answer(500, stack_trace(error)))
    assert isinstance(found, RegistryRefusedError) is is_refusal
    assert "why" in found.what
    assert "Stacktrace" not in found.what


def test_a_500_of_a_read_is_never_a_refusal() -> None:
    found = refused(answer(500, stack_trace("java.lang.NullPointerException"), method="GET"))
    assert not isinstance(found, RegistryRefusedError)


@pytest.mark.parametrize("status", [202, 302, 429, 500, 502, 503])
def test_other_answers_are_failures_of_the_outside(status: int) -> None:
    found = refused(answer(status))
    assert not isinstance(found, RegistryRefusedError)
    assert str(status) in found.what
    assert isinstance(found, UnknownOutcomeError) is (status >= 500)


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_read_that_fails_changes_nothing(status: int) -> None:
    found = refused(answer(status, method="GET"))
    assert not isinstance(found, UnknownOutcomeError)
    assert found.hint == "see the broker's log, or try again later"


def test_an_unexpected_body_is_named() -> None:
    error = unexpected_body(answer(200), "a list of names")
    assert "a list of names" in error.what
    assert error.where == "POST http://b/admin/v2/x"


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("<title>Error 404 Not Found</title>", True),
        ('{"servlet":"x","message":"Not Found","url":"/","status":"404"}', True),
        (reason("Tenant does not exist"), False),
    ],
)
def test_a_path_that_is_not_served_asks_for_the_url(said: str, asked: bool) -> None:  # noqa: FBT001
    of = answer(404, said)
    error = refusal(of, of.message, permission="a role")
    assert ("`url`" in error.hint) is asked
