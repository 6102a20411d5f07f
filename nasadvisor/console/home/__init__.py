"""The first page and those that show what all rooms know: hosts, pools, settings."""
