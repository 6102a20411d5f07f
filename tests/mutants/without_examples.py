"""A plugin of pytest that leaves out the tests on hundreds of made-up machines: making those up takes too long.

So a rule needs an example of its own that shows it.
"""

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect whatever asks for the fixture `examples`."""
    slow = [item for item in items if "examples" in getattr(item, "fixturenames", ())]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in slow]
