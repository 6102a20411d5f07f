"""The first page and those that show what all rooms know: pools, and what stands around every page."""
