"""Commands that ask for the health of disks and pools."""
