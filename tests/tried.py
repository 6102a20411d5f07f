"""Which test follows each command that a sentence of the product names, in the state in which the sentence is said.

Whoever names a command in a sentence writes it down here, as `python -m tests.unit.explain.named_commands` prints it,
under the test that follows it: in the lab on real OpenZFS, on loop devices on a real kernel, or in the program itself.
What no machine of ours can try stands below with what was looked at instead. `tests/unit/explain/test_tried.py` fails
where a command has no place, and where a place has a command that is named no more.
"""

from typing import Final

COMMANDS: Final = "tests/integration/test_commands.py"
OURS: Final = "tests/unit/cli/test_named_commands.py"
INSTALLED: Final = "tests/integration/test_install.py"
STEPS: Final = "tests/integration/test_procedures.py"
REPLACING: Final = "tests/integration/test_replacing.py"

TRIED: Final[dict[str, str]] = {
    # Real OpenZFS, in the lab
    f"{COMMANDS}::test_what_somebody_took_out_of_service_comes_back_by_the_commands_that_are_named": """
        cache-away: zpool online {pool} {guid}
        cache-back-broken: zpool remove {pool} {guid}
        cache-missing: zpool remove {pool} {guid}
        nasadvisor/domain/change/undo_checks.py: zpool remove {pool} {guid}
        cache-out-of-service: zpool online {pool} {guid}
        cache-out-of-service: zpool status -x
        log-out-of-service: zpool online {pool} {guids}
        nasadvisor/cli/doctor.py: zpool status {pool.name}
        nasadvisor/console/storage/diagrams.py: zpool status {shlex.quote(self.pool.name)}
        nasadvisor/domain/change/advice.py: zpool checkpoint -d {pool}
        pool-checkpoint: zpool checkpoint -d {pool}
        pool-member: zpool online {pool} {guid}
        pool-not-online: zpool status -x {pool}
        pool-not-online: zpool status {pool}
        pool-resilvers: zpool status {pool}
        scrub-unknown: zpool scrub {pool}
    """,
    f"{COMMANDS}::test_a_log_that_is_ill_goes_or_comes_back_by_the_commands_that_are_named": """
        log-missing: zpool remove {pool} {guid}
        log-one-side: zpool detach {pool} {guid}
        log-out-of-service: zpool remove {pool} {guid}
        pool-not-online: zpool detach {pool} {guids}
        pool-not-online: zpool online {pool} {guids}
        pool-not-online: zpool remove {pool} {guids}
    """,
    f"{COMMANDS}::test_damage_and_age_are_over_after_the_commands_that_are_named": """
        data-errors: zpool scrub {pool}
        data-errors: zpool status -v {pool}
        device-errors: zpool clear {pool}
        device-errors: zpool scrub {pool}
        feature-missing: zpool set feature@allocation_classes=enabled {pool}
        scrub-old: zpool scrub {pool}
    """,
    f"{COMMANDS}::test_ssds_are_trimmed_and_a_failing_log_is_taken_out_by_the_commands_that_are_named": """
        log-failing: zpool offline -f {pool} {guids}
        log-has-errors: zpool offline -f {pool} {guid}
        never-trimmed: zpool set autotrim=on {pool}
        never-trimmed: zpool trim {pool}
        pool-not-online: zpool offline -f {pool} {guids}
    """,
    f"{COMMANDS}::test_a_pool_without_its_log_is_imported_by_the_command_that_is_named": """
        log-lost: zpool remove {pool} {guid}
        log-missing: zpool import -m {pool}
        pool-away: zpool import {guid}
        single-log-dies-and-crash: zpool import -m {pool}
        slice-needed: zpool import {guid}
    """,
    f"{COMMANDS}::test_what_is_only_looked_at_or_set_works_as_it_is_named": """
        ashift-unknown: zpool get ashift {pool} all-vdevs
        device-busy: fuser -v {path}
        device-busy: lsblk {path}
        history-stays: zpool history {pool}
        nasadvisor/console/home/first_hour.py: systemctl enable --now zfs-scrub-monthly@{pool}.timer
        nasadvisor/domain/change/unreadable_runs.py: lsblk -o NAME,SIZE,PARTUUID
        nasadvisor/domain/change/unreadable_runs.py: zpool status -g {pool}
        nasadvisor/domain/storage/known_bugs_table.py: echo 0 > /sys/module/zfs/parameters/zfs_bclone_enabled
        nasadvisor/domain/storage/known_bugs_table.py: echo 0 > /sys/module/zfs/parameters/zfs_dio_enabled
        nasadvisor/domain/storage/known_bugs_table.py: echo 0 > /sys/module/zfs/parameters/zfs_dmu_offset_next_sync
        nasadvisor/domain/evidence/metadata_size.py: zfs rewrite -r
        nasadvisor/domain/storage/known_bugs_table.py: zfs list -t snapshot
        nasadvisor/domain/storage/known_bugs_table.py: zfs set dedup=off DATASET
        nasadvisor/domain/health/wear/savings.py: zfs set recordsize={size} {quoted}
        nasadvisor/domain/health/wear/savings.py: zfs set relatime=on {quoted}
        nasadvisor/host/adapters/holds.py: udevadm trigger --subsystem-match=block && udevadm settle
        nasadvisor/host/adapters/udev.py: udevadm settle
        disk-not-empty: udevadm trigger {path} && udevadm settle
        pool-full: zfs list -o space -r {pool}
        pool-not-understood: zpool status {pool}
        pool-unreadable: zpool status {pool}
        vdev-size-unknown: zpool list -vHPpg {pool}
    """,
    "tests/integration/test_wear_bill.py::test_swap_on_a_volume_is_seen_and_ends_by_the_command_that_is_named": """
        nasadvisor/domain/health/wear/savings.py: swapoff {path}
    """,
    f"{COMMANDS}::test_special_vdevs_are_made_by_the_command_that_is_named": """
        nasadvisor/domain/evidence/metadata_options.py: {command}
        nasadvisor/domain/evidence/metadata_size.py: zpool add -o ashift={size.ashift} {pool.name} special
    """,
    f"{COMMANDS}::test_a_cache_that_was_overwritten_goes_or_comes_back_by_the_commands_that_are_named": """
        cache-overwritten: wipefs --all --types {kind} {path}
        cache-overwritten: zpool remove {pool} {guid}
    """,
    "tests/integration/test_advice.py::test_a_label_left_behind_goes_by_the_command_that_is_named": """
        nasadvisor/domain/change/refusals/disks.py: zpool labelclear -f {path}
        nasadvisor/domain/change/refusals/disks.py: zpool labelclear {path}
        nasadvisor/domain/health/replacement/advice.py: zpool labelclear {path}
        slice-needed: zpool labelclear {slice}
    """,
    "tests/integration/test_advice.py::"
    "test_the_label_of_a_pool_that_is_away_goes_by_the_commands_that_are_named_and_its_namesake_lives": """
        nasadvisor/domain/change/refusals/disks.py: zpool destroy old-{guid}
        nasadvisor/domain/change/refusals/disks.py: zpool import
        nasadvisor/domain/change/refusals/disks.py: zpool import -N {guid} old-{guid}
        slice-needed: zpool import
    """,
    "tests/integration/test_advice.py::"
    "test_the_label_of_a_pool_that_is_nowhere_goes_by_the_last_command_that_is_named": """
        slice-needed: zpool labelclear -f {slice}
    """,
    "tests/integration/test_advice.py::"
    "test_a_feature_that_a_pool_is_limited_from_is_enabled_by_the_commands_that_are_named": """
        feature-missing: zpool set compatibility=off {pool}
    """,
    "tests/integration/test_offline_cache.py::"
    "test_with_autoexpand_nothing_is_taken_out_for_openzfs_would_not_put_it_back": """
        cache-stays-out: zpool set autoexpand=off {pool}
    """,
    "tests/integration/test_endings.py::test_a_suspended_pool_is_named_and_nothing_hangs": """
        pool-suspended: zpool clear {pool}
        replace-suspended: zpool clear {pool}
    """,
    "tests/integration/test_dead_log.py::"
    "test_a_log_stays_while_writes_wait_in_it_until_what_is_named_has_written_them_out": """
        nasadvisor/domain/change/refusals/pools.py: {command}
        nasadvisor/domain/change/advice.py: mount -t zfs -o {options} {name} /run/replay && umount /run/replay
    """,
    "tests/integration/test_endings.py::test_a_log_with_blocks_of_a_locked_dataset_waits_for_the_key_and_no_other": """
        nasadvisor/domain/change/advice.py: zfs load-key {shlex.quote(self.key_root)}
        nasadvisor/domain/change/advice.py: zfs mount {name}
    """,
    f"{INSTALLED}::test_each_command_about_services_that_is_named_works": """
        console-unreachable: systemctl status nasadvisor-remote-redis
        host-quota: journalctl -u nasadvisor-host
        host-silent: systemctl status nasadvisor-host
        inventory-outdated: journalctl -u nasadvisor-host
        inventory-outdated: timedatectl
        nasadvisor/cli/doctor.py: journalctl -u {unit}
        nasadvisor/cli/doctor.py: modprobe zfs
        nasadvisor/cli/doctor.py: systemctl restart {unit}
        nasadvisor/cli/fleet/backup.py: systemctl start nasadvisor-prepare nasadvisor-web nasadvisor-console \
            nasadvisor-remote.path
        nasadvisor/cli/fleet/backup.py: systemctl stop {' '.join(running)}
        nasadvisor/cli/fleet/joining.py: systemctl disable --now nasadvisor-web nasadvisor-console
        nasadvisor/cli/fleet/joining.py: systemctl restart nasadvisor-host
        nasadvisor/cli/fleet/units.py: journalctl -u nasadvisor-web
        nasadvisor/console/change/runs/views.py: systemctl status nasadvisor-host
        nasadvisor/console/web/errors.py: journalctl -u nasadvisor-web
        nasadvisor/console/fleet/hosts.py: systemctl status %(service)s
        nasadvisor/console/fleet/hosts.py: systemctl status nasadvisor-host
        nasadvisor/console/fleet/nodes.py: systemctl status nasadvisor-remote-redis
        nasadvisor/console/health/alerts/host_findings.py: timedatectl
        nasadvisor/console/management/commands/receive.py: manage listen --help
        nasadvisor/console/change/runs/orders.py: systemctl status nasadvisor-host
        nasadvisor/console/secrets.py: manage.py prepare
        nasadvisor/host/fleet/certificate.py: systemctl restart nasadvisor-web
        no-answer: systemctl status nasadvisor-remote
        node-unwatchable: journalctl -u nasadvisor-console
        node-unwatchable: journalctl -u nasadvisor-host
        plugins/proxmox/api.py: systemctl restart nasadvisor-web
        sweep-missed: systemctl status nasadvisor-host
        templates/evidence/_commits.html: systemctl status nasadvisor-host
        templates/evidence/_curve.html: systemctl status nasadvisor-host
        templates/evidence/_metadata.html: systemctl status nasadvisor-host
        templates/evidence/_switching.html: systemctl status nasadvisor-host
        templates/evidence/_waiting.html: systemctl status nasadvisor-host
        templates/accounts/audit.html: journalctl -u nasadvisor-web
        templates/fleet/no_node.html: systemctl status nasadvisor-host
        templates/registration/locked_out.html: {{ manage }} reset_lock_out
    """,
    "tests/integration/test_many_hosts.py::"
    "test_the_port_for_hosts_speaks_tls_and_nobody_is_let_in_without_a_password": """
        nasadvisor/cli/doctor.py: /usr/lib/nasadvisor/manage listen --address NAME
    """,
    f"{STEPS}::test_a_failed_log_is_out_after_the_steps_for_it": """
        nasadvisor/explain/procedures/failed_log.py: nasadvisor plan --pool {pool} --log DISK1 DISK2 --log-size 4G
        nasadvisor/explain/procedures/failed_log.py: zfs load-key -a
        nasadvisor/explain/procedures/failed_log.py: zfs mount -a
        nasadvisor/explain/procedures/failed_log.py: zpool detach {pool} {guid}
        nasadvisor/explain/procedures/failed_log.py: zpool offline -f {pool} {guids}
        nasadvisor/explain/procedures/failed_log.py: zpool remove {pool} {guid}
        nasadvisor/explain/procedures/failed_log.py: zpool status -g {pool}
        nasadvisor/explain/procedures/failed_log.py: zpool sync {pool}
        nasadvisor/explain/procedures/worn_ssd.py: nasadvisor plan --pool POOL --log DISK1 DISK2 --log-size 4G
    """,
    f"{STEPS}::test_a_pool_that_is_away_comes_back_by_the_steps": """
        nasadvisor/explain/procedures/no_import.py: lsblk -d -o NAME,MODEL,SERIAL,SIZE
        nasadvisor/explain/procedures/no_import.py: zpool export {pool}
        nasadvisor/explain/procedures/no_import.py: zpool import
        nasadvisor/explain/procedures/no_import.py: zpool import -d /dev/disk/by-id
        nasadvisor/explain/procedures/no_import.py: zpool import -m {guid}
        nasadvisor/explain/procedures/no_import.py: zpool import -o readonly=on -R /mnt {guid}
        nasadvisor/explain/procedures/no_import.py: zpool import {guid}
        nasadvisor/explain/procedures/no_import.py: zpool list
        nasadvisor/explain/procedures/no_import.py: zpool scrub {pool}
        nasadvisor/explain/procedures/no_import.py: zpool status -v {pool}
    """,
    f"{STEPS}::test_a_pool_of_another_host_is_refused_until_it_is_imported_with_force": """
        nasadvisor/explain/procedures/no_import.py: zpool import -f {guid}
    """,
    f"{STEPS}::test_a_pool_whose_last_writes_are_damaged_goes_back_by_the_steps": """
        nasadvisor/explain/procedures/no_import.py: zpool import -F -n {guid}
        nasadvisor/explain/procedures/no_import.py: zpool import -F {guid}
    """,
    f"{STEPS}::test_a_disk_is_found_taken_offline_and_brought_back_by_the_steps": """
        nasadvisor/explain/procedures/which_disk.py: dd if={path} of=/dev/null bs=1M count=4000 iflag=direct
        nasadvisor/domain/health/replacement/member.py: lsblk -d -o NAME,MODEL,SERIAL,WWN,SIZE
        nasadvisor/explain/procedures/which_disk.py: lsblk -d -o NAME,MODEL,SERIAL,WWN,SIZE
        nasadvisor/explain/procedures/which_disk.py: smartctl -i {path}
        nasadvisor/explain/procedures/which_disk.py: zpool offline {pool} {guid}
        nasadvisor/explain/procedures/which_disk.py: zpool online {pool} GUID
        nasadvisor/explain/procedures/which_disk.py: zpool online {pool} {guid}
        nasadvisor/explain/procedures/which_disk.py: zpool status -P {pool}
        nasadvisor/explain/procedures/which_disk.py: zpool status -g -s {pool}
        nasadvisor/explain/procedures/which_disk.py: zpool status {pool}
    """,
    f"{STEPS}::test_a_worn_ssd_goes_from_its_pool_by_the_steps": """
        nasadvisor/explain/procedures/worn_ssd.py: smartctl -x {path}
        nasadvisor/explain/procedures/worn_ssd.py: zpool checkpoint -d POOL
        nasadvisor/explain/procedures/worn_ssd.py: zpool remove POOL GUID
        nasadvisor/explain/procedures/worn_ssd.py: zpool replace POOL GUID /dev/disk/by-id/NEW
        nasadvisor/explain/procedures/worn_ssd.py: zpool status -P
        nasadvisor/explain/procedures/worn_ssd.py: zpool status -g
        nasadvisor/explain/procedures/worn_ssd.py: zpool status POOL
    """,
    f"{STEPS}::test_what_is_left_of_a_run_whose_journal_is_gone_is_removed_by_the_last_step": """
        nasadvisor/explain/procedures/stopped_undo.py: lsblk -o NAME,SIZE,PARTUUID
        nasadvisor/explain/procedures/stopped_undo.py: zpool remove {pool} GUID
        nasadvisor/explain/procedures/stopped_undo.py: zpool status -g {pool}
        nasadvisor/explain/procedures/stopped_undo.py: zpool status {pool}
    """,
    f"{REPLACING}::test_each_printed_command_is_right_in_the_state_in_which_it_is_printed": """
        nasadvisor/domain/health/replacement/advice.py: zpool status {pool}
        replace-busy: zpool status {pool}
        replace-checkpoint: zpool checkpoint -d {pool}
        replace-sibling: zpool scrub {pool}
    """,
    f"{REPLACING}::test_a_new_disk_that_fails_is_taken_out_by_the_command_that_is_named_and_the_old_one_stays": """
        nasadvisor/domain/health/replacement/advice.py: zpool detach {pool} GUID
        replace-running: zpool detach {pool} {guid}
    """,
    f"{REPLACING}::test_errors_of_a_device_are_cleared_by_the_command_that_is_named": """
        replace-cable: zpool clear {pool} {guid}
    """,
    # A real kernel, on loop devices
    "tests/devices/test_cleared_as_told.py::test_what_was_taken_apart_is_cleared_where_it_stands": """
        disk-ceph: wipefs --all {path}
        disk-lvm: wipefs --all {path}
        disk-raid: wipefs --all {path}
    """,
    "tests/devices/test_cleared_as_told.py::test_what_was_mounted_is_cleared_where_it_stands": """
        disk-mount: wipefs --all {path}
        disk-swap: wipefs --all {path}
    """,
    "tests/devices/test_cleared_as_told.py::test_a_deleted_partition_that_is_not_needed_is_overwritten_as_told": """
        hidden-content: loop=$(losetup --find --show --offset {offset} --sizelimit {length} {path}) && \
            blkdiscard --zeroout $loop; losetup --detach $loop
    """,
    "tests/devices/test_cleared_as_told.py::test_what_another_machine_wrote_is_cleared_as_told": """
        disk-not-empty: wipefs --all {path}
    """,
    "tests/devices/test_unrecognised.py::"
    "test_a_hard_disk_is_left_asleep_and_looked_at_right_before_it_is_written_to": """
        erasure-not-agreed: blkdiscard --zeroout {path}
    """,
    "tests/devices/test_cleared_as_told.py::test_a_table_of_a_smaller_disk_is_made_to_fit_as_told": """
        table-area-odd: sgdisk --move-second-header {path}
    """,
    "tests/devices/test_cleared_as_told.py::test_a_table_is_shown_checked_and_cleared_as_told": """
        disk-resized: sgdisk --zap-all {path}
        nasadvisor/host/adapters/disks.py: sgdisk --verify {name}
        table-image-damaged: sgdisk --print {path}
        table-image-missing: sgdisk --print {path}
        table-not-ours: sgdisk --print {path}
        table-unsound: sgdisk --verify {path}
    """,
    "tests/devices/test_kernel_and_table.py::test_a_disk_with_a_filesystem_that_is_cleared_as_told_is_free": """
        disk-filesystem: wipefs --all
        disk-signature: wipefs --all
        foreign-table: wipefs --all
        table-area-odd: wipefs --all
    """,
    "tests/devices/test_kernel_and_table.py::test_what_a_busy_disk_hides_from_the_kernel_is_held_until_it_is_told": """
        nasadvisor/host/adapters/disks.py: partx --delete --nr {number} {name}
        nasadvisor/host/adapters/disks.py: partx --update --nr {number} {name}
    """,
    "tests/devices/test_kernel_and_table.py::test_a_table_that_udev_has_not_heard_of_is_no_blank_disk": """
        nasadvisor/host/adapters/disks.py: partx --update --nr 1:128 {name}
    """,
    "tests/devices/test_lost_tables.py::"
    "test_a_table_that_can_be_brought_back_is_not_written_over_and_is_brought_back_as_told": """
        nasadvisor/host/adapters/disks.py: gdisk
        nasadvisor/host/adapters/disks.py: gdisk {name}
        nasadvisor/host/adapters/disks.py: losetup --find --show --sector-size {min(places)} {name}
    """,
    "tests/devices/test_lost_tables.py::test_it_is_also_seen_at_the_gate": """
        table-copy: gdisk {path}
        table-unprotected: gdisk {path}
    """,
    "tests/devices/test_lost_tables.py::test_cleared_as_told_the_disk_is_used": """
        nasadvisor/host/adapters/disks.py: sgdisk --zap-all {name}
        table-copy: sgdisk --zap-all {path}
        table-unprotected: sgdisk --zap-all {path}
    """,
    "tests/devices/test_lost_tables.py::test_a_copy_that_stands_elsewhere_is_found_at_the_gate": """
        table-copy-elsewhere: blkdiscard --zeroout {path}
        table-copy-elsewhere: gdisk
        table-copy-elsewhere: losetup --find --show --sector-size {sector} --sizelimit {end} {path}
    """,
    # The program itself
    f"{OURS}::test_from_a_plan_to_its_undo_each_answer_names_the_next_command": """
        journal-damaged: nasadvisor runs
        nasadvisor/cli/change/planning.py: nasadvisor apply {output}
        nasadvisor/cli/change/runs.py: nasadvisor show {id}
        nasadvisor/cli/change/runs.py: nasadvisor undo {id}
        nasadvisor/cli/change/runs.py: nasadvisor undo {run.id}
        nasadvisor/explain/procedures/stopped_undo.py: nasadvisor runs
        nasadvisor/explain/procedures/worn_ssd.py: nasadvisor runs
        nasadvisor/explain/procedures/worn_ssd.py: nasadvisor undo RUN
        nasadvisor/console/web/errors.py: nasadvisor show
        nasadvisor/host/change/trials.py: nasadvisor show {run}
        run-unknown: nasadvisor runs
        templates/change/runs/unreadable.html: nasadvisor show {{ stored.id }}
        templates/fleet/forget.html: nasadvisor undo
    """,
    f"{OURS}::test_the_examples_of_the_help_run_as_they_stand": """
        nasadvisor/cli/main.py: nasadvisor advise tank
        nasadvisor/cli/main.py: nasadvisor wear SERIAL
        nasadvisor/cli/main.py: nasadvisor wear SERIAL --seconds 3600 --price 120:600
        nasadvisor/domain/health/wear/savings.py: nasadvisor advise {pool}
        nasadvisor/cli/main.py: nasadvisor advise tank --seconds 600 --programs
        nasadvisor/cli/main.py: nasadvisor apply plan.json
        nasadvisor/cli/main.py: nasadvisor apply plan.json --trial 24h
        nasadvisor/cli/main.py: nasadvisor explain too-small
        nasadvisor/cli/main.py: nasadvisor health
        nasadvisor/cli/main.py: nasadvisor health --quiet
        nasadvisor/cli/main.py: nasadvisor inventory
        nasadvisor/cli/main.py: nasadvisor inventory --columns model,serial,use
        nasadvisor/cli/main.py: nasadvisor plan --pool tank --log SERIAL SERIAL --log-size 16G --output plan.json
        nasadvisor/cli/main.py: nasadvisor plan --recommended tank --output plan.json
        nasadvisor/cli/main.py: nasadvisor pools
        nasadvisor/cli/main.py: nasadvisor pools --guids
        nasadvisor/cli/main.py: nasadvisor status --watch 10
        nasadvisor/cli/main.py: nasadvisor undo RUN
    """,
    "tests/unit/cli/test_support.py::test_the_example_of_the_help_runs_as_it_stands": """
        nasadvisor/cli/main.py: nasadvisor support report.tar.gz
    """,
    "tests/unit/cli/fleet/test_joining.py::test_the_token_is_read_from_standard_input_and_stays_out_of_ps": """
        nasadvisor/cli/main.py: nasadvisor join console.example
    """,
    "tests/unit/cli/health/test_status.py::test_changes_that_are_in_place_name_what_can_be_done_with_them": """
        nasadvisor/cli/health/status.py: nasadvisor keep {run.id}
        nasadvisor/cli/health/status.py: nasadvisor undo {run.id}
    """,
    "tests/unit/cli/health/test_status.py::test_alone_it_says_how_the_host_is": """
        nasadvisor/cli/health/status.py: nasadvisor health
    """,
    f"{OURS}::test_a_trial_names_how_to_keep_it_and_that_how_to_take_it_back": """
        nasadvisor/cli/change/runs.py: nasadvisor keep {run.id}
    """,
    f"{OURS}::test_a_run_that_stopped_names_both_ways_to_its_end": """
        nasadvisor/cli/change/runs.py: nasadvisor finish {run.id}
        nasadvisor/explain/procedures/stopped_undo.py: nasadvisor finish {run}
        nasadvisor/explain/procedures/stopped_undo.py: nasadvisor show {run}
        nasadvisor/explain/procedures/stopped_undo.py: nasadvisor undo {run}
        nasadvisor/cli/health/status.py: nasadvisor show {run.id}
        run-stopped: nasadvisor undo {run}
    """,
    f"{OURS}::test_what_was_followed_and_what_was_not_measured_names_how_to_measure": """
        nasadvisor/cli/evidence/measuring.py: nasadvisor probe {found.pool_name} --disk DISK
        nasadvisor/cli/health/report.py: nasadvisor probe {chosen.name}
        nasadvisor/domain/evidence/read_options.py: nasadvisor curve POOL
        nasadvisor/domain/evidence/options_table.py: nasadvisor probe {pool} --disk DISK
        nasadvisor/domain/evidence/options_table.py: nasadvisor probe {pool}
    """,
    f"{OURS}::test_what_is_not_known_names_where_it_is_listed": """
        nasadvisor/cli/explain.py: nasadvisor explain
        nasadvisor/cli/storage/disks.py: nasadvisor inventory
        nasadvisor/explain/procedures/stopped_undo.py: nasadvisor explain
        nasadvisor/explain/procedures/worn_ssd.py: nasadvisor inventory
        templates/explain/list.html: nasadvisor explain
    """,
    f"{OURS}::test_switching_names_how_it_begins_and_ends": """
        nasadvisor/cli/doctor.py: nasadvisor switching {record.pool_name} --stop
        nasadvisor/cli/evidence/switching.py: nasadvisor switching {pool.name} --start
        nasadvisor/domain/evidence/read_options.py: nasadvisor switching {pool} --start
        switched-cache-out: nasadvisor switching {pool} --stop
        switching-under-way: nasadvisor switching {pool} --stop
    """,
    "tests/unit/cli/test_explain.py::test_the_steps_are_printed_with_blanks_for_what_is_not_known": """
        nasadvisor/cli/explain.py: nasadvisor explain {found.code} --steps
    """,
    "tests/unit/cli/health/test_replace.py::test_without_a_disk_those_in_trouble_are_listed_with_the_next_command": """
        nasadvisor/cli/health/replace.py: nasadvisor replace GUID
        nasadvisor/cli/main.py: nasadvisor replace
        nasadvisor/explain/procedures/which_disk.py: nasadvisor replace DISK
    """,
    "tests/unit/cli/evidence/test_metadata.py::test_it_prints_what_there_is_and_what_cut_offs_would_add": """
        nasadvisor/domain/evidence/metadata_choice.py: nasadvisor advise {pool} --metadata
        nasadvisor/domain/evidence/metadata_options.py: nasadvisor advise {pool} --metadata
    """,
    "tests/unit/cli/health/test_health.py::test_it_says_what_needs_a_look_and_ends_with_code_5": """
        power-loss-protection-unknown: nasadvisor health
    """,
    "tests/remote/test_joining.py::test_a_host_joins_under_the_name_that_was_chosen_on_the_console": """
        nasadvisor/console/fleet/nodes.py: sudo nasadvisor join {bracketed(where.addresses[0])}:{where.port}
    """,
}
"""By test, what it follows."""

NOT_TRIED: Final[dict[str, str]] = {
    """
        nasadvisor/domain/change/advice.py: zfs set volmode=default {name}
    """: "A volume whose writes wait in the log and that has no device could not be brought about in the lab: zdb ends"
    " with an abort there. zfsprops(7) says that the property brings the device back, with which OpenZFS replays them.",
    """
        clock-ahead: timedatectl set-ntp true
        clock-behind: timedatectl set-ntp true
        clock-wrong: timedatectl set-ntp true
        nasadvisor/cli/doctor.py: timedatectl set-ntp true
    """: "The lab has no program that sets clocks. Without one it ends with 1 and says so, tried; the sentence says"
    " what has to be installed.",
    """
        proxmox-arc-capped: update-initramfs -u -k all
        plugins/proxmox/api.py: systemctl status pveproxy
    """: "Proxmox VE is not in the lab. Its manual (Local ZFS, Limit ZFS Memory Usage) names the first one so; pveproxy"
    " is the service in its package pve-manager.",
    """
        plugins/truenas/replacing.py: midclt call --job pool.replace "$({query} | jq '.[0].id')" {options}
        start-not-seen: systemctl status middlewared
        plugins/truenas/api/whole_disks.py: midclt call --job pool.update {number} '{json.dumps(changes)}'
        plugins/truenas/cli.py: nasadvisor-truenas status
        plugins/truenas/cli.py: nasadvisor-truenas undo {record.id}
        plugins/truenas/cli.py: nasadvisor-truenas undo {record_id}
    """: "TrueNAS is not in the lab. tests/unit/plugins/truenas asks a stand-in that checks methods and arguments, and"
    " runs both commands of ours.",
    """
        disk-no-size: smartctl -i {what}
        label-unreadable: zdb -l {path}
    """: "Disks without a size and labels that zdb reads in another form are not made in the lab; the commands are run"
    " there on other disks and labels.",
    """
        cannot-go-back: nasadvisor runs --in-place
    """: "An installation of an older release that is about to be replaced back; its preinst runs the same command in"
    " tests/integration/test_upgrade.py.",
    """
        nasadvisor/console/health/disks/disk_page.py: ledctl locate={found.path}
        nasadvisor/domain/health/replacement/advice.py: ledctl locate={disk.path}
        nasadvisor/explain/procedures/which_disk.py: ledctl locate={path}
        nasadvisor/explain/procedures/which_disk.py: ledctl locate_off={path}
    """: "The lab has no enclosure with lights; ledctl(8) names the patterns and takes any name of a device.",
    """
        command-forbidden: {command}
    """: "Says which command was not run.",
    """
        nasadvisor/console/fleet/remote/listening.py: manage listen
        nasadvisor/console/management/commands/setup_link.py: changepassword USER
        nasadvisor/settings.py: python3 manage.py
        nasadvisor/settings.py: sudo {INSTALLED_MANAGE}
    """: "Parts of commands of Django; test_tried.py holds that manage has them.",
}
"""What is not followed as it stands, and what was looked at instead."""

SPOKEN_OF: Final = """
    attach-resilvers: zpool status
    bug-log-replay-flag: zpool import -m
    bug-log-replay-flag: zpool remove
    cache-back-broken: zpool offline
    cache-back-broken: zpool online
    cache-comes-back-colder: l2arc_rebuild_enabled
    cache-serves-little: secondarycache=metadata
    cache-stays-out: zpool online
    console-may-not-change: nasadvisor apply
    console-may-not-change: nasadvisor plan
    console-may-not-measure: nasadvisor probe
    console-may-not-undo: nasadvisor undo
    dead-log-may-stay: zpool import -m
    disk-not-empty: wipefs
    dry-run-differs: zpool add
    hole-stays: zdb -C
    host-newer: nasadvisor
    journal-damaged: zpool remove
    log-failing: zpool remove
    log-has-errors: zpool remove
    log-leaves-hole: zdb -C
    log-lost: zpool clear
    log-lost: zpool import -m
    log-lost: zpool offline -f
    nasadvisor/cli/main.py: nasadvisor %(version)s
    nasadvisor/cli/main.py: probe
    nasadvisor/cli/main.py: probe --disk
    nasadvisor/cli/main.py: undo
    nasadvisor/domain/change/unreadable_runs.py: zpool status
    nasadvisor/domain/evidence/cache_verdict.py: zpool iostat -w
    nasadvisor/domain/evidence/log_verdict.py: zfs get
    nasadvisor/domain/evidence/log_verdict.py: zpool iostat -w
    nasadvisor/domain/evidence/log_verdict.py: zpool list -v
    nasadvisor/domain/evidence/metadata_size.py: zfs receive
    nasadvisor/domain/evidence/metadata_size.py: zfs rewrite
    nasadvisor/domain/evidence/metadata_size.py: zfs send
    nasadvisor/domain/storage/known_bugs_table.py: zfs receive
    nasadvisor/domain/storage/known_bugs_table.py: zfs send
    nasadvisor/domain/storage/known_bugs_table.py: zfs send -w
    nasadvisor/domain/storage/known_bugs_table.py: zpool clear
    nasadvisor/domain/storage/known_bugs_table.py: zpool ddtprune
    nasadvisor/domain/storage/known_bugs_table.py: zpool import -m
    nasadvisor/domain/storage/known_bugs_table.py: zpool import -m also removing spare and cache when log device is \
        missing
    nasadvisor/domain/storage/known_bugs_table.py: zpool scrub
    nasadvisor/domain/storage/known_bugs_table.py: zpool trim
    nasadvisor/domain/storage/releases.py: special_small_blocks
    nasadvisor/domain/storage/releases.py: zfs rewrite
    nasadvisor/domain/storage/releases.py: zpool import -m
    plugins/truenas/replacing.py: zpool replace
    nasadvisor/domain/health/replacement/advice.py: zpool add
    nasadvisor/explain/procedures/failed_log.py: zpool remove
    nasadvisor/explain/procedures/failed_log.py: zpool status
    nasadvisor/explain/procedures/no_import.py: -X
    nasadvisor/explain/procedures/no_import.py: -n
    nasadvisor/explain/procedures/no_import.py: zpool status
    nasadvisor/explain/procedures/stopped_undo.py: dmesg
    nasadvisor/explain/procedures/which_disk.py: ledctl
    nasadvisor/explain/procedures/which_disk.py: zpool status
    nasadvisor/explain/procedures/worn_ssd.py: zpool add
    nasadvisor/explain/procedures/worn_ssd.py: zpool status
    nasadvisor/host/change/undo.py: zpool status
    nasadvisor/host/config.py: nasadvisor join
    nasadvisor/host/errors.py: zpool status
    nasadvisor/host/evidence/sample.py: zfs list
    pool-read-only: -o readonly=on
    protection-information: sg_format
    record-damaged: zfs list
    removable-disk: zpool import -m
    sector-too-large: nvme format
    single-log: zpool import -m
    slice-needed: -f
    slice-needed: zpool import -m
    slice-needed: zpool reguid
    table-unprotected: lsblk
"""
"""Names of commands, options and properties that sentences speak of, with nothing that they would act on."""
