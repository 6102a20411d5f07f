"""How a host's tasks are reached, and how they reach the console: on this machine, and on another one."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from celery import Celery, current_app
from kombu.exceptions import OperationalError
from redis.exceptions import ConnectionError as RedisAway

from nasadvisor.domain.evidence.reading import Reading
from nasadvisor.domain.fleet.joining import ConsoleAccess
from nasadvisor.domain.fleet.questions import ANSWER_TASK, ERROR_TASK, REPORT_RUN
from nasadvisor.domain.fleet.schema_versions import SchemaVersions
from nasadvisor.host.broker import CarefulAmqp
from nasadvisor.host.config import HostConfig
from nasadvisor.host.console_link import celery_app, queue_to_console
from nasadvisor.host.errors import MachineUnreadable
from nasadvisor.host.simulated.smart import simulated_health
from nasadvisor.host.tasks import HostTasks
from nasadvisor.stored.documents import from_document, to_document
from nasadvisor.stored.kinds import own_schema_versions
from tests.unit.host.change.conftest import Bench
from tests.unit.host.change.test_tasks import NOW, refuse, untraced

HERE = HostConfig("nas", Path("/state"), Path("/run"), "redis+socket:///run/x.sock", "auto")
ACCESS = ConsoleAccess("nas", "console.lan", 8844, "secret", "PEM")
THERE = replace(HERE, access=ACCESS)


def settings_of(app: Celery, *names: str) -> dict[str, Any]:
    return {name: app.conf[name] for name in names}


def test_a_host_listens_to_its_own_queue_only_and_with_care() -> None:
    app = celery_app(HERE)
    assert (app.main, app.conf.broker_url) == ("host", "redis+socket:///run/x.sock")
    assert app.conf.task_default_queue == "host.nas"
    assert isinstance(app.amqp, CarefulAmqp)


@pytest.fixture
def first() -> Iterator[Celery]:
    """An app that is the current one of this process, for as long as the test takes."""
    before = current_app._get_current_object()  # type: ignore[attr-defined]
    app = celery_app(HERE)
    app.set_current()
    yield app
    before.set_current()


def test_a_further_host_in_the_process_does_not_take_the_place_of_the_first(first: Celery) -> None:
    celery_app(replace(HERE, node="other"))
    assert current_app.conf.task_default_queue == first.conf.task_default_queue == "host.nas"


def test_a_task_is_acknowledged_before_it_starts_and_is_neither_retried_nor_taken_in_advance() -> None:
    assert settings_of(
        celery_app(HERE),
        "task_acks_late",
        "task_ignore_result",
        "task_publish_retry",
        "worker_prefetch_multiplier",
        "worker_enable_remote_control",
        "worker_hijack_root_logger",
    ) == {
        "task_acks_late": False,
        "task_ignore_result": True,
        "task_publish_retry": False,
        "worker_prefetch_multiplier": 1,
        "worker_enable_remote_control": False,
        "worker_hijack_root_logger": False,
    }
    assert settings_of(celery_app(HERE), "task_serializer", "accept_content") == {
        "task_serializer": "json",
        "accept_content": ["json"],
    }


def test_a_host_waits_for_its_message_service_for_ever_and_for_a_publication_hardly() -> None:
    app = celery_app(HERE)
    assert app.conf.broker_connection_max_retries is None
    assert app.conf.broker_connection_retry_on_startup is True
    assert app.conf.broker_transport_options == {
        "socket_connect_timeout": 3,
        "socket_timeout": 10,
        "max_retries": 1,
        "interval_start": 0,
    }


def test_a_console_on_another_machine_is_reached_with_tls_as_the_user_of_this_node() -> None:
    app = celery_app(THERE)
    assert app.conf.broker_url == "rediss://node.nas:secret@console.lan:8844/0"
    assert app.conf.broker_use_ssl == {
        "ssl_ca_data": "PEM",
        "ssl_cert_reqs": "required",
        "ssl_check_hostname": True,
    }


def test_what_a_node_has_not_acknowledged_lies_under_keys_of_its_own() -> None:
    options = celery_app(THERE).conf.broker_transport_options
    assert options == {
        **celery_app(HERE).conf.broker_transport_options,
        "unacked_key": "unacked.nas",
        "unacked_index_key": "unacked_index.nas",
        "unacked_mutex_key": "unacked_mutex.nas",
        "priority_steps": [0],
    }


def test_an_address_with_colons_stands_in_brackets() -> None:
    app = celery_app(replace(THERE, access=replace(ACCESS, address="fe80::1")))
    assert app.conf.broker_url == "rediss://node.nas:secret@[fe80::1]:8844/0"


def test_nodes_of_the_consoles_machine_share_a_queue_and_others_have_their_own() -> None:
    assert queue_to_console(HERE) == "console"
    assert queue_to_console(THERE) == "console.nas"


@pytest.fixture
def tasks(bench: Bench) -> HostTasks:
    """Tasks of a host whose console is elsewhere."""
    health = simulated_health(bench.executor.inventory(), NOW)
    services = (bench.executor.inventory, bench.host, Reading, refuse, health, untraced)
    return HostTasks(celery_app(THERE), "nas", *services, queue=queue_to_console(THERE))


def test_what_is_told_goes_into_the_nodes_queue_with_its_name_and_is_not_tried_again(
    tasks: HostTasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(tasks.app, "send_task", lambda task, **how: told.append((task, how)))
    tasks.tell_forms()
    [(task, how)] = told
    assert (task, how["args"][:2], how["queue"], how["retry"]) == (
        ANSWER_TASK,
        ["nas", "schema-versions"],
        "console.nas",
        False,
    )
    assert from_document(SchemaVersions, how["args"][2]) == own_schema_versions(
        "nas"
    )  # whose forms they are stands in the document as well


def test_an_error_is_told_as_one_with_the_verb_and_what_it_is_about(
    tasks: HostTasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(tasks.app, "send_task", lambda task, **how: told.append((task, how)))
    error = MachineUnreadable("udev", "gone")
    tasks.link.tell_error(REPORT_RUN, "run-1", error)
    arguments = ["nas", "report_run", "run-1", to_document(error.statement)]
    assert told == [(ERROR_TASK, {"args": arguments, "queue": "console.nas", "retry": False})]


@pytest.mark.parametrize("away", [OperationalError("x"), RedisAway("x"), OSError("x")], ids=type)
def test_a_console_that_cannot_be_reached_ends_nothing(
    tasks: HostTasks, monkeypatch: pytest.MonkeyPatch, away: Exception
) -> None:
    monkeypatch.setattr(tasks.app, "send_task", failing(away))
    tasks.read_inventory()


def test_a_mistake_of_our_own_while_publishing_is_not_taken_for_an_unreachable_console(
    tasks: HostTasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks.app, "send_task", failing(KeyError("ours")))
    with pytest.raises(KeyError, match="ours"):
        tasks.tell_forms()


def failing(error: Exception) -> Callable[..., None]:
    def send(*_: object, **__: object) -> None:
        raise error

    return send
