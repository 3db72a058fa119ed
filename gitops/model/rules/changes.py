"""Rules about plans, changes, waivers, clients and replays."""

from __future__ import annotations

from typing import Final

from gitops.model.rules.rule import always_told, error, fixed_error, info, warning

PLAN_RULES: Final = (
    fixed_error("PLAN-R001", "Pulsar would refuse the schema", "planning.refusals.findings_of"),
    fixed_error(
        "PLAN-R002",
        "the registry contains a schema that cannot be read",
        "planning.topics._decide",
    ),
    warning("PLAN-R003", "a revert does not roll back", "planning.notice_findings.notice_findings"),
    error("PLAN-R004", "too many topics would change", "planning.plan._share"),
    error("PLAN-R005", "a schema would be deleted", "planning.plan._deletions"),
    fixed_error("PLAN-R006", "the tenant does not exist", "planning.creations._missing_tenants"),
    info("PLAN-R007", "Pulsar would ignore the change", "planning.notice_findings.notice_findings"),
    fixed_error(
        "PLAN-R008",
        "a topic that does not exist cannot have policies",
        "planning.creations._missing_topics",
    ),
    warning(
        "PLAN-R009",
        "a topic's strategy is looser than its namespace's, and no file contains it",
        "planning.notice_findings.looser_topic_finding",
    ),
    warning(
        "PLAN-R010",
        "the registry's latest version is not in git",
        "planning.drift._Judge._with_latest_note",
    ),
    warning(
        "PLAN-R011",
        "gitops.yaml contradicts the cluster's settings",
        "planning.broker_document.conflict_findings",
    ),
    warning(
        "PLAN-R012",
        "the cluster has settings that decisions do not follow",
        "planning.broker_document.doubt_findings",
    ),
    fixed_error(
        "PLAN-R013",
        "the registry cannot show a topic's schemas",
        "planning.notice_findings.unread_findings",
    ),
    warning(
        "PLAN-R014",
        "a tenant is not as the files declare it",
        "planning.creations._other_tenants",
    ),
    warning(
        "PLAN-R015",
        "a topic has another number of partitions",
        "planning.creations._other_partitions",
    ),
    warning(
        "PLAN-R018",
        "a topic that is created may be deleted again",
        "planning.creations._short_lived_topics",
    ),
    info(
        "PLAN-R019",
        "a schema is registered in one of several clusters",
        "planning.creations._replicated_schemas",
    ),
    always_told(
        error(
            "PLAN-R020",
            "clients with the latest schema can no longer connect",
            "planning.lockout_findings._causes",
        )
    ),
    always_told(
        warning(
            "PLAN-R021",
            "clients that can connect now can no longer connect",
            "planning.lockout_findings._causes",
        )
    ),
    always_told(
        warning(
            "PLAN-R022",
            "clients can no longer register schemas",
            "planning.lockout_findings._registration_findings",
        )
    ),
    always_told(
        error(
            "PLAN-R023",
            "the registry lost recorded versions",
            "planning.lost_versions.loss_findings",
        )
    ),
    always_told(
        warning(
            "PLAN-R024",
            "the registry has no version of a topic, and git has an earlier definition",
            "planning.lost_versions._redefined_finding",
        )
    ),
    always_told(
        error(
            "PLAN-R025",
            "a restore did not come to its end",
            "planning.held_policies.unfinished_restore_findings",
        )
    ),
    fixed_error(
        "PLAN-R016",
        "the registry before this one is not applied",
        "planning.registry_comparison.not_applied_finding",
    ),
    fixed_error(
        "PLAN-R030",
        "a plan of single topics leaves a change of their namespace out",
        "planning.scope_findings.pending_namespace_findings",
    ),
)
"""PLAN-*: what a comparison of the files with a registry can find."""

CHECK_RULES: Final = (
    error("CHECK-R001", "a topic's manifest is removed", "checks.changed_topics.topic_guards"),
    error(
        "CHECK-R002", "a renamed topic loses its history", "checks.changed_topics._renamed_findings"
    ),
    warning(
        "CHECK-R003",
        "a policy is loosened or no longer managed",
        "checks.loosened_policies.policy_guards",
    ),
    error(
        "CHECK-R004",
        "a schema change passes only because the same pull request loosens its policy",
        "checks.loosened_policies.policy_guards",
    ),
    error("CHECK-R005", "a change affects too many topics", "checks.changed_topics.share_exceeded"),
    warning(
        "CHECK-R006",
        "the limits that a change is checked by are loosened",
        "checks.weakened_limits.limits_weakened",
    ),
    warning(
        "CHECK-R007", "a change edits recorded history", "checks.edited_snapshots.snapshot_guards"
    ),
    warning(
        "CHECK-R008",
        "replays of a topic are weakened",
        "checks.weakened_samples.sample_settings_weakened",
    ),
    warning("CHECK-R009", "the base has errors", "changes.new_findings.earlier_errors"),
    warning(
        "CHECK-R010",
        "the base has changed the same topics since",
        "changes.new_findings.outdated_findings",
    ),
)
"""CHECK-*: what a change does to a repository beyond its single schemas."""

WAIVER_RULES: Final = (
    warning("WAIVER-R001", "the waiver has expired", "planning.waiver_findings.expiry_findings"),
    info("WAIVER-R002", "the waiver expires soon", "planning.waiver_findings.expiry_findings"),
    warning(
        "WAIVER-R003", "the waiver is not needed", "planning.waiver_findings.unneeded_findings"
    ),
    warning(
        "WAIVER-R004",
        "the waiver is for another change",
        "planning.waiver_findings._refusal_findings",
    ),
    warning(
        "WAIVER-R005",
        "the waiver is for an unknown topic",
        "repository.loading.waivers.load_waivers",
    ),
    warning("WAIVER-R006", "two waivers for one change", "repository.loading.waivers._check_twice"),
    warning(
        "WAIVER-R007",
        "the waiver cannot make Pulsar accept the schema",
        "planning.waiver_findings._refusal_findings",
    ),
)
"""WAIVER-*: approved exceptions that have no effect, or will soon have none."""

CLIENT_RULES: Final = (
    error(
        "CLIENT-R001",
        "a client is pinned to a version that does not exist",
        "rollout.declared_clients.Services._add_finding",
    ),
    always_told(
        error(
            "CLIENT-R002",
            "Pulsar would refuse a client",
            "rollout.client_findings.ClientFindings._block",
        )
    ),
    always_told(
        error(
            "CLIENT-R003",
            "clients have to upgrade first",
            "rollout.client_findings.ClientFindings.too_early",
        )
    ),
    always_told(
        error(
            "CLIENT-R004",
            "there is no safe order of upgrades",
            "rollout.client_findings.ClientFindings._block",
        )
    ),
    always_told(
        error(
            "CLIENT-R005",
            "a client still uses what goes away",
            "rollout.client_findings.ClientFindings._block",
        )
    ),
    info(
        "CLIENT-R006",
        "a client is behind the latest version",
        "rollout.declared_clients.Services._add_finding",
    ),
    warning(
        "CLIENT-R007",
        "consumers of one kind of event could not read it",
        "schemas.event_kinds.broken_readers",
    ),
    always_told(
        warning(
            "CLIENT-R008",
            "retained messages would stop a client that upgrades",
            "rollout.client_findings.ClientFindings.too_early",
        )
    ),
    always_told(
        warning(
            "CLIENT-R009",
            "a client does not work as it is declared",
            "rollout.client_findings.ClientFindings.broken",
        )
    ),
    warning(
        "CLIENT-R010",
        "a client uses a topic that is not known",
        "repository.loading.clients.unknown_topics",
    ),
    warning(
        "CLIENT-R011",
        "live clients of a changed topic are not declared",
        "rollout.undeclared_clients.undeclared_clients",
    ),
    always_told(
        error(
            "CLIENT-R012",
            "a client that is not Java misreads what Java reads",
            "planning.client_readers.misreading_remarks",
        )
    ),
    always_told(
        warning(
            "CLIENT-R013",
            "consumers with the new schema cannot read stored messages",
            "schemas.stored_messages.unread_messages",
        )
    ),
    always_told(
        warning(
            "CLIENT-R014",
            "captured messages that consumers with the new schema cannot read",
            "planning.captured_messages.captured_message_findings",
        )
    ),
    always_told(
        warning(
            "CLIENT-R015",
            "an AUTO_PRODUCE client would send the former layout as the new version",
            "planning.auto_producers.auto_producer_findings",
        )
    ),
)
"""CLIENT-*: what a change means for the declared clients of its topics."""

REPLAY_RULES: Final = (
    error("REPLAY-R001", "messages cannot be read", "replay.replay_findings._failed"),
    warning(
        "REPLAY-R002",
        "messages cannot be read by a reader that the strategy does not protect",
        "replay.replay_findings._failed",
    ),
    warning(
        "REPLAY-R003", "messages that were not replayed", "replay.replay_findings._not_replayed"
    ),
    error(
        "REPLAY-R004",
        "samples are missing, or cannot be read",
        "replay.replay_findings._unread_samples",
    ),
    info("REPLAY-R005", "a topic has no samples", "replay.replay_findings.missing_sample_findings"),
    info(
        "REPLAY-R006", "messages fail, no more than are allowed", "replay.replay_findings._failed"
    ),
    warning(
        "REPLAY-R007",
        "values change while they are read",
        "replay.replay_findings._reader_findings",
    ),
    warning("REPLAY-R008", "a replay was interrupted", "replay.replay_findings.findings_of"),
    warning(
        "REPLAY-R009",
        "a change adds samples outside of the repository",
        "replay.withheld_samples.withheld_samples",
    ),
    warning(
        "REPLAY-R010",
        "a sensitive field that no definition has",
        "replay.sensitive_fields.unknown_name_findings",
    ),
    warning(
        "REPLAY-R011", "two samples name the same messages", "replay.replay_findings.findings_of"
    ),
    error(
        "REPLAY-R012",
        "no message of a sample was replayed",
        "replay.replay_findings._empty_samples",
    ),
)
"""REPLAY-*: what became of real messages."""
