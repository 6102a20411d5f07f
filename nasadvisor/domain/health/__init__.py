"""How disks and pools are: SMART, wear and its forecast, findings, alerts."""
