"""What is mutated, and which tests concern it. A mutant that only other tests would notice counts as a survivor."""

from typing import Final

DOMAIN: Final = (
    "tests/unit/domain/change/never",
    "tests/unit/domain/change/test_plan.py",
    "tests/unit/domain/change/test_refusals.py",
    "tests/unit/domain/change/test_replace_log_side.py",
    "tests/unit/domain/change/test_undo.py",
    "tests/unit/domain/change/test_undo_rules.py",
    "tests/unit/domain/change/test_undo_steps.py",
    "tests/unit/domain/change/test_cleaning.py",
    "tests/unit/domain/change/test_dead_log.py",
    "tests/unit/domain/change/test_offline_cache.py",
)
JOURNAL: Final = ("tests/unit/host/change/test_journal.py", "tests/unit/host/change/test_journal_files.py")
EXECUTOR: Final = ("tests/unit/host/change/test_executor.py", "tests/unit/host/change/test_table_writing.py")

TESTS: Final[dict[str, tuple[str, ...]]] = {
    "domain/change/checks": (*DOMAIN, "tests/unit/domain/change/test_refusal_order.py"),
    "domain/change/undo_checks": (*DOMAIN, "tests/unit/domain/change/test_undo_skips.py"),
    "domain/change/undo": (*DOMAIN, "tests/unit/domain/change/test_runs.py"),
    "domain/change/plan": DOMAIN,
    "domain/change/targets": ("tests/unit/domain/change/test_targets.py",),
    "domain/change/proposal": ("tests/unit/domain/change/test_proposal.py",),
    "domain/storage/gaps": ("tests/unit/domain/storage/test_gaps.py",),
    "domain/storage/gpt": ("tests/unit/domain/storage/test_gpt.py",),
    "domain/storage/unrecognised": ("tests/unit/domain/storage/test_unrecognised.py",),
    "domain/storage/logs": ("tests/unit/domain/storage/test_logs.py",),
    "domain/change/actions": (
        *DOMAIN,
        "tests/unit/domain/change/test_consequences.py",
        "tests/unit/domain/change/test_describing.py",
        "tests/unit/domain/change/test_effects.py",
        "tests/unit/domain/change/test_forwards.py",
        "tests/unit/domain/change/test_undo_skips.py",
    ),
    "domain/change/runs": ("tests/unit/domain/change/test_runs.py", "tests/unit/domain/change/test_trial.py"),
    "domain/change/refusals": ("tests/unit/domain/change/test_refusals.py",),
    "domain/change/device_scan": (
        "tests/unit/domain/change/test_device_scan.py",
        "tests/unit/domain/change/test_offline_cache.py",
        "tests/unit/domain/change/never/test_10_undo_only_ours.py",
    ),
    "domain/change/tables": (
        "tests/unit/domain/change/test_tables.py",
        "tests/unit/domain/change/test_table_steps.py",
    ),
    "domain/change/table_area": ("tests/unit/domain/change/test_table_area.py",),
    "domain/change/unreadable_runs": (
        "tests/unit/domain/change/test_leftovers.py",
        "tests/unit/domain/change/test_unreadable_runs.py",
    ),
    "domain/health/disk_findings": (
        "tests/unit/domain/health/test_disk_figures.py",
        "tests/unit/domain/health/test_findings.py",
        "tests/unit/domain/health/test_levels.py",
    ),
    "domain/health/urgency": ("tests/unit/domain/health/test_urgency.py",),
    "domain/fleet/permissions": ("tests/unit/domain/fleet/test_permissions.py",),
    "host/change/apply": (
        "tests/unit/host/change/test_applying.py",
        "tests/unit/host/change/test_gate_asks.py",
        "tests/unit/host/change/test_offline_cache.py",
    ),
    "host/change/undo": (
        "tests/unit/host/change/test_undoing.py",
        "tests/unit/host/change/test_gate_asks.py",
        "tests/unit/host/change/test_offline_cache.py",
    ),
    "host/change/executor": EXECUTOR,
    "host/change/gate": ("tests/unit/host/change/test_gate.py", "tests/unit/host/change/test_gate_asks.py"),
    "host/change/device_scan": ("tests/unit/host/change/test_device_scan.py",),
    "host/change/steps": ("tests/unit/host/change/test_steps.py",),
    "host/change/journal": JOURNAL,
    "host/change/chain": ("tests/unit/host/change/test_chain.py",),
    "host/change/runs": ("tests/unit/host/change/test_run_host.py",),
    "host/change/lock": ("tests/unit/host/change/test_lock.py",),
    "host/evidence/measuring/records": ("tests/unit/host/evidence/test_leftovers.py",),
    "host/tasks": (
        "tests/unit/host/change/test_one_reading.py",
        "tests/unit/host/change/test_orders.py",
        "tests/unit/host/change/test_questions.py",
        "tests/unit/host/change/test_reach.py",
        "tests/unit/host/change/test_tasks.py",
        "tests/unit/host/test_arguments.py",
    ),
    "host/console_link": (
        "tests/unit/host/change/test_orders.py",
        "tests/unit/host/change/test_reach.py",
        "tests/unit/host/change/test_tasks.py",
    ),
    "host/evidence/evidence_tasks": ("tests/unit/host/change/test_orders.py", "tests/unit/host/change/test_tasks.py"),
    "host/adapters/process": ("tests/unit/host/adapters/test_process.py", "tests/unit/host/adapters/test_allowed.py"),
    "host/adapters/allowed": ("tests/unit/host/adapters/test_allowed.py", "tests/unit/host/adapters/test_process.py"),
    "host/adapters/blockdev": ("tests/unit/host/adapters/test_blockdev.py",),
    "host/adapters/zpool_questions": (
        "tests/unit/host/adapters/test_zpool_add.py",
        "tests/unit/host/adapters/test_zdb.py",
        "tests/unit/host/adapters/test_zpool_trim.py",
    ),
    "host/adapters/holds": ("tests/unit/host/adapters/test_holds.py",),
    "host/adapters/libblkid": ("tests/unit/host/adapters/test_libblkid.py",),
    "host/adapters/zdb": ("tests/unit/host/adapters/test_zdb.py",),
    "console/change/wizard/acceptance": ("tests/unit/console/change/test_acceptance.py",),
}
"""By module or package under nasadvisor/: the tests that are run for its mutants."""
