"""Declared clients of a change: who upgrades first, who cannot, and what is said of it."""

from __future__ import annotations

import pytest

from gitops.model.names import TopicName
from gitops.model.rollout import Register, Role, Side, Upgrade
from tests.support.check_repository import FOLDER, report
from tests.support.git_repos import GitRepository
from tests.support.rollout_repository import (
    FILES,
    TOPIC,
    avro,
    client,
    findings,
    of_rule,
    said,
    steps,
    with_an_optional_field,
)

pytestmark = pytest.mark.slow


def test_an_old_consumer_that_cannot_reconnect_goes_before_the_registration(
    repo: GitRepository,
) -> None:
    """BACKWARD asks a consumer whether it reads the latest version (Pulsar 4.0.7)."""
    repo.write({f"{FOLDER}/created.avsc": avro(a="long", b="string")})

    assert said(steps(repo)) == ["billing", "Register v1", "checkout"]
    (one,) = report(repo).registries
    assert one.rollout.may_stay == {"checkout"}


def test_who_reads_both_may_stay_behind(repo: GitRepository) -> None:
    repo.write({f"{FOLDER}/created.avsc": with_an_optional_field()})

    (one,) = report(repo).registries
    assert one.rollout.may_stay == {"billing", "checkout"}


def test_a_repository_without_clients_has_no_order_of_them(repo: GitRepository) -> None:
    repo.write(dict.fromkeys(("clients/billing.yaml", "clients/checkout.yaml")))
    repo.commit({})
    repo.write({f"{FOLDER}/created.avsc": avro(a="long", b="string")})

    assert all(isinstance(one.step, Register) for one in steps(repo))


@pytest.mark.rule("CLIENT-R001")
def test_a_pin_to_nothing(repo: GitRepository) -> None:
    """CLIENT-R001."""
    repo.write({"clients/billing.yaml": client("billing", "consumes", "{version: 7}")})
    assert findings(repo) == [("CLIENT-R001", "billing")]

    repo.write({"clients/billing.yaml": client("billing", "consumes", "{version: 0}")})
    assert findings(repo) == []


def test_a_client_may_be_pinned_to_what_the_change_registers(repo: GitRepository) -> None:
    repo.write(
        {
            f"{FOLDER}/created.avsc": with_an_optional_field(),
            "clients/billing.yaml": client("billing", "consumes", "{version: 1}"),
        }
    )

    assert findings(repo) == []


@pytest.mark.rule("CLIENT-R002")
def test_a_client_that_the_broker_would_not_let_in(repo: GitRepository) -> None:
    """CLIENT-R002."""
    own = {"clients/own.avsc": avro(a="int", z="string")}
    repo.write(
        {
            **own,
            "clients/billing.yaml": client(
                "billing", "consumes", "{definition: ../clients/own.avsc}"
            ),
        }
    )

    assert ("CLIENT-R002", "billing") in findings(repo)

    repo.write({"clients/own.avsc": avro(a="int")})
    assert findings(repo) == []


def test_who_never_reads_what_is_written_is_told_so_once(repo: GitRepository) -> None:
    """There is nothing to wait for where the producer goes on."""
    repo.write({"clients/late.yaml": client("late", "consumes", "{type: INT64}")})

    assert findings(repo) == [("CLIENT-R002", "late")]
    ((refused, _),) = of_rule(repo, "CLIENT-R002")
    assert refused.endswith("after its upgrade: v0 is AVRO and its schema INT64")


def test_a_reason_names_its_topic(repo: GitRepository) -> None:
    repo.write({f"{FOLDER}/created.avsc": avro(a="long", b="string")})

    _, register, checkout = steps(repo)
    (old,) = register.waits_for
    assert old.reason.sentence() == (
        f"Once v1 of {TOPIC} is registered, the current billing cannot reconnect: it reads int, v1 "
        "writes long (a)"
    )
    mismatch = "it reads int, checkout writes long (a)"
    assert {one.reason.sentence() for one in checkout.waits_for} == {
        f"checkout connects only after v1 of {TOPIC} is registered",
        f"The current billing cannot read what the new checkout writes to {TOPIC}: {mismatch}",
    }


def test_no_new_topic_takes_the_place_of_one_with_several_kinds(repo: GitRepository) -> None:
    loose = FILES[f"{FOLDER}/namespace.yaml"].replace("BACKWARD", "ALWAYS_COMPATIBLE")
    repo.commit({f"{FOLDER}/namespace.yaml": loose})
    changed = {
        f"{FOLDER}/created.avsc": avro(a="string", c="string"),
        "clients/billing.yaml": client("billing", "consumes", "{version: 1}"),
    }
    repo.write(changed)
    (one,) = report(repo).registries
    assert [way.topic.local_name for way in one.rollout.migrations] == ["created"]

    other = avro(c="int").replace("Created", "Other")
    repo.commit(
        {f"{FOLDER}/created.avsc": other, "clients/billing.yaml": FILES["clients/billing.yaml"]}
    )
    repo.write({**changed, "clients/billing.yaml": client("billing", "consumes", "{version: 2}")})
    (one,) = report(repo).registries
    assert one.rollout.blocks
    assert one.rollout.migrations == ()


@pytest.mark.rule("CLIENT-R003")
def test_the_second_side_before_the_first(repo: GitRepository) -> None:
    """CLIENT-R003."""
    change = {
        f"{FOLDER}/created.avsc": avro(a="long", b="string"),
        "clients/checkout.yaml": client("checkout", "produces", "{version: 1}"),
    }
    repo.write(change)

    of_rule = [one for one in report(repo).findings if one.rule == "CLIENT-R003"]
    (found,) = [one for one in of_rule if one.subject == "checkout"]
    assert found.message == (
        f"The current billing cannot read what the new checkout writes to {TOPIC}: it reads int, "
        "checkout writes long (a)"
    )
    assert found.hint.startswith("First deploy a billing that reads both versions (`schema: ")
    assert found.location
    assert (found.location.file, found.location.line) == ("clients/checkout.yaml", 6)

    repo.write({"clients/checkout.yaml": FILES["clients/checkout.yaml"]})
    assert ("CLIENT-R003", "checkout") not in findings(repo)


@pytest.mark.rule("CLIENT-R004")
def test_two_that_wait_for_each_other(repo: GitRepository) -> None:
    """CLIENT-R004."""
    repo.write(
        {
            f"{FOLDER}/namespace.yaml": FILES[f"{FOLDER}/namespace.yaml"].replace(
                "BACKWARD", "ALWAYS_COMPATIBLE"
            ),
            f"{FOLDER}/created.avsc": avro(a="string", c="string"),
            "clients/billing.yaml": client("billing", "consumes", "{version: 1}"),
            "clients/checkout.yaml": client("checkout", "produces", "{version: 1}"),
        }
    )

    rules = [one.rule for one in report(repo).findings if one.rule.startswith("CLIENT-")]
    assert rules == ["CLIENT-R004"]
    (found,) = [one for one in report(repo).findings if one.rule == "CLIENT-R004"]
    assert "the current billing cannot read what the new checkout writes" in found.message
    assert "the new billing cannot read retained messages of v0" in found.message
    assert "checkout writes v0" in found.message


@pytest.mark.rule("CLIENT-R005")
def test_a_topic_that_goes_while_it_is_used(repo: GitRepository) -> None:
    """CLIENT-R005."""
    repo.write(dict.fromkeys((f"{FOLDER}/created.yaml", f"{FOLDER}/created.avsc")))

    assert ("CLIENT-R005", "billing") in findings(repo)

    repo.write(dict.fromkeys(("clients/billing.yaml", "clients/checkout.yaml")))
    assert findings(repo) == []
    assert said(steps(repo)) == ["billing", "checkout", "Delete"]


def test_who_moves_to_another_topic_is_no_longer_on_the_old_one(repo: GitRepository) -> None:
    moved = {
        f"clients/{name}.yaml": client(name, side, "{version: 0}", "shop/orders/placed")
        for name, side in (("billing", "consumes"), ("checkout", "produces"))
    }
    files = {"created.yaml": None, "placed.yaml": FILES[f"{FOLDER}/created.yaml"]}
    repo.write({**moved, **{f"{FOLDER}/{name}": text for name, text in files.items()}})

    (one,) = report(repo).registries
    assert one.rollout.sides == {
        name: (
            Side(role=role, topic=TopicName.parse(TOPIC), leaves=True),
            Side(role=role, topic=TopicName.parse("shop/orders/placed")),
        )
        for name, role in (("billing", Role.CONSUMER), ("checkout", Role.PRODUCER))
    }
    assert one.rollout.left == {"billing": (TopicName.parse(TOPIC),)}


@pytest.mark.rule("CLIENT-R006")
def test_a_client_that_is_behind(repo: GitRepository) -> None:
    """CLIENT-R006."""
    repo.write({f"{FOLDER}/created.avsc": avro(a="long", b="string")})
    assert [one for one in report(repo).findings if one.rule == "CLIENT-R006"] == []

    repo.commit()
    repo.write({f"{FOLDER}/created.avsc": avro(a="double", b="string")})
    behind = [one.message for one in report(repo).findings if one.rule == "CLIENT-R006"]
    assert behind == [
        f"{name} works with v0 of {TOPIC}; the latest is v1" for name in ("billing", "checkout")
    ]


def test_what_is_retained_has_to_go_before_a_reader_that_fails_on_it(repo: GitRepository) -> None:
    repo.write(
        {
            f"{FOLDER}/namespace.yaml": FILES[f"{FOLDER}/namespace.yaml"].replace(
                "BACKWARD", "FORWARD"
            ),
            f"{FOLDER}/created.avsc": avro(a="int", b="string", c="string"),
            "clients/checkout.yaml": client("checkout", "produces", "{version: 1}"),
        }
    )

    assert said(steps(repo)) == ["Register v1", "checkout", "Drain v0", "billing"]


def test_a_subscription_that_takes_all_hides_no_other_one(repo: GitRepository) -> None:
    both = client("billing", "consumes", "{version: 0}") + (
        f"  - {{topic: {TOPIC}, subscription: all, schema: AUTO_CONSUME}}\n"
    )
    loose = FILES[f"{FOLDER}/namespace.yaml"].replace("BACKWARD", "ALWAYS_COMPATIBLE")
    repo.commit({"clients/billing.yaml": both, f"{FOLDER}/namespace.yaml": loose})
    repo.write({f"{FOLDER}/created.avsc": avro(a="long", b="string")})

    (last,) = [one for one in steps(repo) if one.step == Upgrade("checkout")]
    assert any(
        "The current billing cannot read" in wait.reason.sentence() for wait in last.waits_for
    )


@pytest.mark.rule("CLIENT-R008")
def test_who_would_stop_at_retained_messages(repo: GitRepository) -> None:
    """CLIENT-R008: the producer has moved, its old messages have not."""
    forward = FILES[f"{FOLDER}/namespace.yaml"].replace("BACKWARD", "FORWARD")
    wider = avro(a="int", b="string", c="string")
    repo.commit({f"{FOLDER}/namespace.yaml": forward, f"{FOLDER}/created.avsc": wider})
    repo.commit({"clients/checkout.yaml": client("checkout", "produces", "{version: 1}")})
    repo.write({"clients/billing.yaml": client("billing", "consumes", "{version: 1}")})

    ((message, hint),) = of_rule(repo, "CLIENT-R008")
    assert message.startswith(f"wait until no message of v0 is left in {TOPIC} before billing ")
    assert "get-retention shop/orders" in hint
    assert said(steps(repo)) == ["Drain v0", "billing"]
    assert of_rule(repo, "CLIENT-R003") == []

    repo.write({"clients/billing.yaml": FILES["clients/billing.yaml"]})
    assert of_rule(repo, "CLIENT-R008") == []


def test_the_versions_that_a_client_cannot_read_for_one_reason_are_one_wait(
    repo: GitRepository,
) -> None:
    forward = FILES[f"{FOLDER}/namespace.yaml"].replace("BACKWARD", "FORWARD")
    repo.commit({f"{FOLDER}/namespace.yaml": forward})
    for more in ({}, {"d": "string"}):
        wider = avro(a="int", **more, b="string", c="string")
        repo.commit({f"{FOLDER}/created.avsc": wider})
    repo.commit({"clients/checkout.yaml": client("checkout", "produces", "{version: 2}")})
    repo.write({"clients/billing.yaml": client("billing", "consumes", "{version: 2}")})

    (found,) = [one for one in report(repo).findings if one.rule == "CLIENT-R008"]

    assert found.message.startswith(
        f"wait until no message of v1, v0 is left in {TOPIC} before billing upgrades: the new "
        "billing cannot read them: at 'd'"
    )
    assert [one.message.split()[5] for one in found.members] == ["v1", "v0"]
    assert [step for step in said(steps(repo)) if "Drain" in step] == ["Drain v0", "Drain v1"]


def test_every_strategy_of_which_one_side_is_too_early(repo: GitRepository) -> None:
    """CLIENT-R003 under FORWARD: the consumer is the second side."""
    repo.commit(
        {f"{FOLDER}/namespace.yaml": FILES[f"{FOLDER}/namespace.yaml"].replace("BACK", "FOR")}
    )
    repo.write(
        {
            f"{FOLDER}/created.avsc": avro(a="int", b="string", c="string"),
            "clients/billing.yaml": client("billing", "consumes", "{version: 1}"),
        }
    )
    ((message, hint),) = of_rule(repo, "CLIENT-R003")
    assert message.startswith("The new billing cannot read what the current checkout writes to ")
    assert hint == "First merge and deploy the upgrade of checkout, then merge this"


def test_what_is_written_in_the_end_cannot_be_read(repo: GitRepository) -> None:
    """A reader of its own that fails on what the change lets producers write."""
    loose = FILES[f"{FOLDER}/namespace.yaml"].replace("BACKWARD", "ALWAYS_COMPATIBLE")
    own = client("billing", "consumes", "{definition: own.avsc}")
    files = {"clients/own.avsc": avro(a="int"), "clients/billing.yaml": own}
    repo.commit({**files, f"{FOLDER}/namespace.yaml": loose})
    repo.write(
        {
            f"{FOLDER}/created.avsc": avro(a="long", b="string"),
            "clients/checkout.yaml": client("checkout", "produces", "{version: 1}"),
        }
    )
    assert findings(repo) == [("CLIENT-R003", "checkout")]

    repo.write({"clients/own.avsc": avro(a="int", b="string")})
    assert findings(repo) == [("CLIENT-R004", "billing")]
    ((message, hint),) = of_rule(repo, "CLIENT-R004")
    assert message.startswith("after all upgrades billing cannot read what checkout writes to")
    assert hint.endswith("or move to a new topic: `pulsar-gitops rollout --base main` shows how")


def test_the_version_of_a_client_may_not_go(repo: GitRepository) -> None:
    """CLIENT-R005 names who is left, and what to do first."""
    repo.write(dict.fromkeys((f"{FOLDER}/created.yaml", f"{FOLDER}/created.avsc")))
    assert of_rule(repo, "CLIENT-R005") == [
        (
            f"{name} still uses {TOPIC}",
            "change the client first, and remove the topic after that",
        )
        for name in ("billing", "checkout")
    ]
