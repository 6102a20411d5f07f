"""Watching over disks and pools: what is stored of disks, and the rooms of alerts, disks, reports and the API."""
