"""Topics that clients use and nobody declares."""

from __future__ import annotations

from gitops.model.findings import Finding, Location, Severity
from gitops.model.rules import make_finding
from gitops.planning.unknown_topics import group_unknown_topics

_ADD = "add namespaces/a/b/c.yaml; without `schema:` its schema is not managed here"


def _unknown(topic: str, line: int, client: str = "billing", hint: str = _ADD) -> Finding:
    return make_finding(
        "CLIENT-R010",
        f"no manifest declares {topic}, and no snapshot records it",
        location=Location(file=f"clients/{client}.yaml", line=line, column=3),
        subject=topic,
        hint=hint,
    )


def test_the_topics_of_one_client_are_one_finding() -> None:
    other = Finding(rule="REPO-R023", severity=Severity.WARNING, message="unused")
    single = _unknown("a/b/c", 1, "crm")

    found = group_unknown_topics([_unknown("a/b/c", 6), other, _unknown("a/b/d", 7), single])

    assert [str(one.location) for one in found] == [
        "clients/billing.yaml:6:3",
        "None",
        "clients/crm.yaml:1:3",
    ]
    assert found[0].message == (
        "no manifest declares 2 topics that this client uses, and no snapshot records them: a/b/c "
        "and a/b/d"
    )
    assert found[0].subjects == ("a/b/c", "a/b/d")
    assert found[0].hint.startswith("add a manifest for each; ")
    assert found[1:] == [other, single]


def test_each_misspelt_name_is_a_cause_of_its_own() -> None:
    typos = [
        _unknown("a/b/c", 6, hint="did you mean a/b/cc?"),
        _unknown("a/b/d", 7, hint="did you mean a/b/dd?"),
        _unknown("a/b/c", 8, hint="did you mean a/b/cc?"),
    ]

    found = group_unknown_topics([*typos, _unknown("a/b/e", 9)])

    assert [(one.hint, len(one.members)) for one in found] == [
        ("did you mean a/b/cc?", 2),
        ("did you mean a/b/dd?", 1),
        (_ADD, 1),
    ]


def test_a_topic_that_goes_away_is_reported_once() -> None:
    """Also where the client names it a second time, as its producer."""
    uses = [_unknown("a/b/c", 6), _unknown("a/b/d", 7), _unknown("a/b/c", 9)]
    going = make_finding("CLIENT-R005", "billing still uses a/b/c", location=uses[0].location)

    assert group_unknown_topics([going, *uses]) == [going, uses[1]]
    elsewhere = _unknown("a/b/c", 6, "crm")
    assert elsewhere in group_unknown_topics([going, *uses, elsewhere])
