"""A host that only exists in memory, for looking at pages and for tests."""
