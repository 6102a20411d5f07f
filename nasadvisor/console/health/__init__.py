"""Watching over disks and pools: readings, alerts, their delivery, schedules and reports."""
