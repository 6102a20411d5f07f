"""A host that hangs while it is read: no second reading is begun beside it, and who asked meanwhile is answered."""

from threading import Event, Thread

import pytest

from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.config import config_from
from nasadvisor.host.console_link import celery_app
from nasadvisor.host.tasks import HostTasks
from tests.unit.host.change.conftest import Bench
from tests.unit.host.change.test_tasks import Sent, health, refuse, untraced

PATIENCE_S = 30
ASKED = 20


def test_however_often_it_is_asked_for_one_reading_goes_on_and_one_more_follows(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []
    entered, may_end = Event(), Event()

    def look() -> Inventory:
        begun.append(len(begun))
        entered.set()
        assert may_end.wait(PATIENCE_S)
        return bench.executor.inventory()

    sent = Sent()
    app = celery_app(config_from({"NASADVISOR_NODE": "nas"}))
    monkeypatch.setattr(app, "send_task", sent.send_task)
    tasks = HostTasks(app, "nas", look, bench.host, Reading, refuse, health(bench), untraced)
    first = Thread(target=tasks.read_inventory)
    first.start()
    assert entered.wait(PATIENCE_S)
    for _ in range(ASKED):
        tasks.read_inventory()  # comes back at once
    assert len(begun) == 1
    may_end.set()
    first.join(PATIENCE_S)
    assert len(begun) == 2
    assert [task for task, _ in sent].count("inventory") == 2
    tasks.read_inventory()
    assert len(begun) == 3
