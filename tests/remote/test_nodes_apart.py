"""A node cannot read what another is told, nor act for it: whoever has its password has that node and nothing else."""

import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import redis
from redis.exceptions import AuthenticationError, NoPermissionError, ResponseError

from nasadvisor.console.celery_app import app as celery_app_of_console
from nasadvisor.console.change.models import StoredPlan
from nasadvisor.console.change.runs import orders
from nasadvisor.console.fleet import hosts
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.fleet.remote.access import bring_up_to_date, let_in
from nasadvisor.console.fleet.remote.listening import client
from nasadvisor.console.health.models import StoredDisk
from nasadvisor.console.worker import enrolment
from nasadvisor.console.worker import inbox as inboxes
from nasadvisor.console.worker.answers import BY_NAME, BY_VERB, take_answer
from nasadvisor.console.worker.inbox import message_of
from nasadvisor.domain.fleet.joining import ConsoleAccess, console_queue, host_queue, unacknowledged
from nasadvisor.domain.fleet.messages import NotAccepted
from nasadvisor.domain.fleet.questions import ANSWER_TASK, ERROR_TASK, READ_INVENTORY
from nasadvisor.domain.health.sweep import Answers
from nasadvisor.domain.statements import Statement
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.host.config import HostConfig
from nasadvisor.host.console_link import celery_app, queue_to_console
from nasadvisor.host.fleet.joining import sign_in
from nasadvisor.host.simulated.smart import simulated_answer
from nasadvisor.stored.documents import to_document
from tests.remote.conftest import Console, as_node
from tests.unit.console.people import person
from tests.unit.machines import MIRROR_AND_CACHES, home_server, plan_for

RUN = ANSWER_TASK
SILENT = to_document(Statement("silent", "zpool did not answer."))


@pytest.fixture
def nas1(console: Console) -> ConsoleAccess:
    return console.join("nas1")


@pytest.fixture
def nas2(console: Console) -> ConsoleAccess:
    """A neighbour whose name begins like that of the other."""
    return console.join("nas1.b")


def inventory_of(node: str) -> Inventory:
    return replace(home_server(), host=replace(home_server().host, node=node))


def app_of(access: ConsoleAccess, console: Console) -> Any:
    return celery_app(HostConfig(access.node, console.root, console.root, "", "auto", access))


def tell(access: ConsoleAccess, console: Console, task: str, *arguments: object) -> None:
    """What the host part does to tell the console something."""
    config = HostConfig(access.node, console.root, console.root, "", "auto", access)
    app_of(access, console).send_task(task, args=list(arguments), queue=queue_to_console(config), retry=False)


def envelope(task: str, arguments: list[object], **changes: Any) -> dict[str, Any]:
    """A message as Celery writes it."""
    body = base64.b64encode(json.dumps([arguments, {}, {}]).encode()).decode()
    made: dict[str, Any] = {
        "body": body,
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {"task": task, "id": "1", "lang": "py"},
        "properties": {"body_encoding": "base64", "delivery_tag": "1", "delivery_info": {"routing_key": "x"}},
    }
    return {**made, **changes}


def test_what_a_host_tells_is_stored_as_of_that_host(console: Console, nas1: ConsoleAccess) -> None:
    tell(nas1, console, ANSWER_TASK, "nas1", "inventory", to_document(inventory_of("nas1")))
    console.take_all()
    assert Node.objects.get(name="nas1").inventory == inventory_of("nas1")


def test_a_real_worker_needs_no_other_rights_and_comes_back_after_a_restart(
    console: Console, nas1: ConsoleAccess
) -> None:
    (console.root / "nas1.json").rename(console.root / "console.json")
    environment = {
        **os.environ,
        "NASADVISOR_HOST_STATE": str(console.root),
        "NASADVISOR_RUN_DIR": str(console.root),
        "NASADVISOR_HOST_RUN_DIR": str(console.root / "locks"),
        "NASADVISOR_SIMULATED_MACHINE": str(MACHINE),
    }
    del environment["DJANGO_SETTINGS_MODULE"]
    node = Node.objects.get(name="nas1")
    with subprocess.Popen([sys.executable, "-m", "celery", *WORKER], env=environment) as worker:
        try:
            assert read_at_after(lambda: hosts.ask(node, READ_INVENTORY, by=None), console)
            refused = [entry["object"] for entry in console.inbox.service.acl_log()]
            while console.inbox.service.keys("unacked*"):
                time.sleep(0.1)  # what cannot be acknowledged any more stays there
            console.stop()
            console.start()
            assert read_at_after(lambda: hosts.ask(node, READ_INVENTORY, by=None), console)
        finally:
            worker.terminate()
            worker.wait(60)
    assert set(refused) <= {"client|setinfo"}  # redis-py tries to say its version, and does without
    assert console.inbox.service.keys("unacked*") == []


MACHINE = Path(__file__).parents[1] / "fixtures" / "machines" / "typical.json"
WORKER = [
    "--quiet",
    "--app",
    "nasadvisor.host.simulated.worker",
    "worker",
    "--pool",
    "threads",
    "--concurrency",
    "1",
    "--loglevel",
    "INFO",
]
WORKER += ["--without-gossip", "--without-mingle", "--without-heartbeat"]


def read_at_after(ask: Callable[[], None], console: Console) -> bool:
    """Whether the host has read itself after it was asked; it is asked again where the question got lost."""
    before = Node.objects.get(name="nas1").inventory_version
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        console.look()
        ask()
        for _ in range(50):
            console.take_all()
            if Node.objects.get(name="nas1").inventory_version != before:
                return True
            time.sleep(0.1)
    return False


def test_plans_go_to_the_node_they_are_for(console: Console, nas1: ConsoleAccess, nas2: ConsoleAccess) -> None:
    take_answer("nas1", "inventory", to_document(inventory_of("nas1")))
    node = Node.objects.get(name="nas1")
    plan = plan_for(MIRROR_AND_CACHES, inventory_of("nas1"))
    orders.apply_plan(StoredPlan.objects.create(id=plan.id, node=node, document=to_document(plan)), person("anna"))
    assert console.inbox.service.llen("host.nas1") == 1
    assert console.inbox.service.llen("host.nas1.b") == 0
    found = as_node(nas1).brpop(["host.nas1"], timeout=1)
    assert found
    assert b"host.apply" in found[1]


OTHERS = [host_queue("nas1"), console_queue("nas1"), *unacknowledged("nas1").values(), "console", "celery", "x"]
READING = [("BRPOP", 1), ("LLEN",), ("GET",), ("HGET", "a"), ("ZRANGE", 0, -1), ("DEL",), ("SADD", "a"), ("LPUSH", "a")]


@pytest.mark.usefixtures("nas1")
def test_no_command_of_a_node_works_on_a_key_of_another(console: Console, nas2: ConsoleAccess) -> None:
    hosts.ask(Node.objects.get(name="nas1"), READ_INVENTORY, by=None)
    with as_node(nas2) as attacker:
        for key in OTHERS:
            for command, *rest in READING:
                with pytest.raises(NoPermissionError):
                    attacker.execute_command(command, key, *rest)
        with pytest.raises(NoPermissionError):
            attacker.execute_command("BRPOP", "host.nas1.b", "host.nas1", 1)
    assert console.inbox.service.llen("host.nas1") == 1


@pytest.mark.parametrize(
    "command",
    [
        "KEYS *",
        "SCAN 0",
        "CONFIG GET *",
        "ACL LIST",
        "ACL SETUSER node.nas1 on nopass",
        "ACL WHOAMI",
        "MONITOR",
        "SUBSCRIBE x",
        "PSUBSCRIBE *",
        "PUBLISH x y",
        "EVAL return(1) 0",
        "SCRIPT LOAD return(1)",
        "SCRIPT FLUSH",
        "FUNCTION LIST",
        "CLIENT LIST",
        "CLIENT KILL TYPE normal",
        "CLIENT PAUSE 1000",
        "FLUSHALL",
        "SHUTDOWN NOSAVE",
        "OBJECT ENCODING host.nas1",
        "INFO",
        "RENAME host.nas1.b host.nas1",
        "COPY host.nas1.b host.nas1",
        "LMOVE host.nas1.b host.nas1 LEFT LEFT",
        "RPOPLPUSH host.nas1.b host.nas1",
        "SORT host.nas1.b STORE host.nas1",
        "MIGRATE 192.0.2.1 6379 host.nas1.b 0 1",
        "REPLICAOF 192.0.2.1 6379",
        "SAVE",
        "XADD host.nas1 * a b",
        "LRANGE console.nas1.b 0 -1",
        "SET console.nas1.b x",
        "DEL console.nas1.b",
        "HSET console.nas1.b a b",
        "ZADD console.nas1.b 1 a",
        "RPUSH console.nas1.b x",
    ],
)
def test_a_node_may_do_nothing_that_reaches_beyond_its_keys(console: Console, command: str) -> None:
    let_in(console.inbox.service, "nas1.b", NOBODY_DIGEST)
    with redis_as("node.nas1.b", NOBODY, console) as attacker, pytest.raises(NoPermissionError):
        attacker.execute_command(*command.split(" "))


NOBODY = "password"
NOBODY_DIGEST = "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8"


def redis_as(user: str, password: str, console: Console) -> redis.Redis:
    authority = (console.root / "remote/authority.pem").read_text()
    return redis.Redis(
        port=console.port, host="127.0.0.1", username=user, password=password, ssl=True, ssl_ca_data=authority
    )


@pytest.mark.parametrize(("user", "password"), [("default", ""), ("console", ""), ("console", "x"), ("node.nas1", "x")])
def test_who_has_no_password_gets_nothing(console: Console, user: str, password: str) -> None:
    let_in(console.inbox.service, "nas1", NOBODY_DIGEST)
    with redis_as(user, password, console) as stranger, pytest.raises((AuthenticationError, ResponseError)):
        stranger.execute_command("LLEN", "host.nas1")


def test_without_tls_nobody_is_answered(console: Console) -> None:
    with redis.Redis(port=console.port, socket_timeout=5) as plain, pytest.raises((redis.RedisError, OSError)):
        plain.ping()


def test_a_node_does_not_read_back_what_lies_for_the_console(console: Console, nas1: ConsoleAccess) -> None:
    tell(nas1, console, ERROR_TASK, "nas1", "read_inventory", "", SILENT)
    with as_node(nas1) as attacker, pytest.raises(NoPermissionError):
        attacker.execute_command("BRPOP", "console.nas1", 1)


@pytest.mark.usefixtures("nas1")
def test_a_node_that_claims_to_be_another_is_not_believed(console: Console, nas2: ConsoleAccess) -> None:
    take_answer("nas1", "inventory", to_document(inventory_of("nas1")))
    tell(nas2, console, ERROR_TASK, "nas1", "read_inventory", "", SILENT)
    tell(nas2, console, ANSWER_TASK, "nas1", "inventory", to_document(inventory_of("nas1")))
    tell(nas2, console, ANSWER_TASK, "nas1.b", "inventory", to_document(inventory_of("nas1")))
    console.take_all()
    assert Node.objects.get(name="nas1").inventory_error is None
    assert Node.objects.get(name="nas1.b").inventory is None


@pytest.mark.parametrize("task", ["console.sweep", "console.prune", "console.long_self_tests", "console.make_report"])
def test_a_node_cannot_have_the_consoles_own_work_done(console: Console, nas1: ConsoleAccess, task: str) -> None:
    with pytest.raises(NotAccepted, match="do not send"):
        message_of("nas1", json.dumps(envelope(task, ["nas1"])).encode())
    tell(nas1, console, task, "nas1")
    console.take_all()
    assert console.inbox.service.llen("host.nas1") == 0


def test_a_message_cannot_bring_further_tasks_along(
    console: Console, nas1: ConsoleAccess, nas2: ConsoleAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Celery's messages may name tasks to send when theirs is done; the console would send them with its own rights."""
    ran: list[object] = []
    monkeypatch.setattr("celery.canvas.Signature.apply_async", lambda *_, **__: ran.append("sent"))
    monkeypatch.setattr(celery_app_of_console, "send_task", lambda *_, **__: ran.append("sent"))
    evil = {"task": "host.apply", "args": [{}, "eve"], "kwargs": {}, "options": {"queue": "host.nas1"}}
    further = {"callbacks": [evil], "errbacks": [evil], "chain": [evil], "chord": evil}
    body = base64.b64encode(json.dumps([["nas1.b", "read_inventory", "", SILENT], {}, further]).encode()).decode()
    made = envelope(ERROR_TASK, [], body=body)
    with as_node(nas2) as attacker:
        attacker.lpush("console.nas1.b", json.dumps(made))
    console.take_all()
    assert Node.objects.get(name="nas1.b").inventory_error is not None  # it was done
    assert ran == []
    assert console.inbox.service.llen("host.nas1") == 0


def test_a_message_cannot_have_itself_put_into_the_queue_of_another(
    console: Console, nas1: ConsoleAccess, nas2: ConsoleAccess
) -> None:
    """Kombu believes what a message says about where it came from, and puts it back there when it is not taken."""
    made = envelope("host.apply", [{}, "eve"])
    made["properties"]["delivery_info"] = {"exchange": "", "routing_key": "host.nas1"}
    with as_node(nas2) as attacker:
        attacker.lpush("console.nas1.b", json.dumps(made))
    console.take_all()
    assert console.inbox.service.llen("host.nas1") == 0
    assert console.inbox.service.keys("unacked*") == []


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"[]",
        b'{"body": 1}',
        b"[" * 100_000,
        json.dumps(envelope(RUN, ["nas1", "run"], **{"content-type": "application/x-python-serialize"})),
        json.dumps(envelope(RUN, ["nas1", "run"], headers={"task": RUN, "compression": "zlib"})),
        json.dumps(envelope(RUN, ["nas1", "run"], headers=["task"])),
        json.dumps(envelope(RUN, ["nas1", "run"], body="!")),
        json.dumps(envelope(RUN, [])),
        json.dumps(envelope(RUN, ["nas1"])),
        json.dumps(envelope(RUN, ["nas1", ["run"]])),
        json.dumps(envelope(RUN, ["nas1", "plan"])),
        json.dumps(envelope(ERROR_TASK, ["nas1", "sample", "", {}])),
        json.dumps(envelope(RUN, [["nas1"], "run"])),
        json.dumps(envelope([RUN], ["nas1", "run"])),  # type: ignore[arg-type]
    ],
)
def test_a_message_that_is_none_is_dropped_and_the_next_one_is_taken(raw: str | bytes) -> None:
    with pytest.raises(NotAccepted):
        message_of("nas1", raw.encode() if isinstance(raw, str) else raw)


@pytest.mark.parametrize("wait", [False, True])
def test_a_queue_that_is_no_list_stops_nobody_else(
    console: Console, nas1: ConsoleAccess, nas2: ConsoleAccess, *, wait: bool
) -> None:
    console.look()
    console.inbox.service.set(console_queue("nas1.b"), "x")
    if wait:
        console.inbox.wait()
    tell(nas1, console, ERROR_TASK, "nas1", "read_inventory", "", SILENT)
    console.take_all()
    assert Node.objects.get(name="nas1").inventory_error is not None
    tell(nas2, console, ERROR_TASK, "nas1.b", "read_inventory", "", SILENT)  # it is heard again as well
    console.take_all()
    assert Node.objects.get(name="nas1.b").inventory_error is not None


def test_documents_that_are_none_do_not_stop_the_console(console: Console, nas1: ConsoleAccess) -> None:
    told = [(ANSWER_TASK, name) for name in BY_NAME] + [(ERROR_TASK, verb) for verb in BY_VERB]
    for task, name in told:
        several: tuple[list[object], ...] = ([], [None], [{}], [[]], ["x", "y", "z"], ["nas1", {"version": 1}])
        for arguments in several:
            tell(nas1, console, task, "nas1", name, *arguments)
    tell(nas1, console, ERROR_TASK, "nas1", "read_inventory", "", SILENT)
    console.take_all()
    assert Node.objects.get(name="nas1").inventory_error is not None


def test_the_disks_of_another_node_are_not_written_to(nas1: ConsoleAccess, nas2: ConsoleAccess) -> None:
    now = datetime(2026, 8, 25, 20, 15, tzinfo=UTC)
    take_answer("nas1", "inventory", to_document(inventory_of("nas1")))
    disk = home_server().disks[0]
    answer = simulated_answer(disk, now)
    take_answer("nas1.b", "answers", to_document(Answers("nas1.b", (answer,))))
    assert StoredDisk.objects.get(key=disk.key).asked_at is None
    take_answer("nas1", "answers", to_document(Answers("nas1", (answer,))))
    assert StoredDisk.objects.get(key=disk.key).asked_at is not None


def test_a_host_that_was_removed_is_thrown_out_at_once(console: Console, nas1: ConsoleAccess) -> None:
    with as_node(nas1) as connected:
        connected.ping()
        hosts.ask(Node.objects.get(name="nas1"), READ_INVENTORY, by=None)
        hosts.drop_requests(Node.objects.get(name="nas1"))
        Node.objects.all().delete()
        with pytest.raises((redis.ConnectionError, AuthenticationError)):
            connected.execute_command("BRPOP", "host.nas1", 1)
    with pytest.raises(AuthenticationError):
        sign_in(nas1)
    console.stop()
    console.start()
    console.look()
    with pytest.raises(AuthenticationError):
        sign_in(nas1)


def test_a_host_that_joins_anew_throws_out_who_had_its_name(console: Console, nas1: ConsoleAccess) -> None:
    hosts.ask(Node.objects.get(name="nas1"), READ_INVENTORY, by=None)
    again = console.join("nas1")
    sign_in(again)
    with pytest.raises(AuthenticationError):
        sign_in(nas1)
    assert console.inbox.service.llen("host.nas1") == 0


def test_a_user_that_the_database_does_not_know_is_removed(console: Console, nas1: ConsoleAccess) -> None:
    let_in(console.inbox.service, "ghost", NOBODY_DIGEST)
    bring_up_to_date(client())
    with redis_as("node.ghost", NOBODY, console) as ghost, pytest.raises(AuthenticationError):
        ghost.ping()
    sign_in(nas1)


def test_a_node_that_fills_the_memory_loses_what_it_filled(
    console: Console, nas1: ConsoleAccess, nas2: ConsoleAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Proves that each of the keys it may write to is looked at, that it is told, and that no other loses anything."""
    monkeypatch.setattr(enrolment, "LARGEST_QUEUE", 100_000)
    hosts_queue, unacked = host_queue("nas1.b"), unacknowledged("nas1.b")["unacked_key"]
    with as_node(nas2) as attacker:
        attacker.lpush("console.nas1.b", "x" * 200_000)
        attacker.lpush("console.nas1.b", *["x"] * 10)  # the newest are not what makes it large
        attacker.lpush(hosts_queue, "x" * 200_000)
        attacker.hset(unacked, "x", "x" * 200_000)
    tell(nas1, console, ERROR_TASK, "nas1", "read_inventory", "", SILENT)
    console.look()
    assert console.inbox.service.exists("console.nas1.b", hosts_queue, unacked) == 0
    assert console.inbox.service.llen("console.nas1") == 1
    assert set(Node.objects.get(name="nas1.b").quotas_reached) == {"queue"}


def test_a_message_larger_than_any_of_ours_is_dropped_and_told(console: Console, nas1: ConsoleAccess) -> None:
    tell(nas1, console, ERROR_TASK, "nas1", "read_inventory", "", {**SILENT, "template": "x" * 3_000_000})
    console.take_all()
    assert set(Node.objects.get(name="nas1").quotas_reached) == {"message-size"}


def test_a_node_that_floods_loses_its_own_messages_only(
    console: Console, nas1: ConsoleAccess, nas2: ConsoleAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inboxes, "WAITING_AT_MOST", 20)
    with as_node(nas2) as attacker:
        attacker.lpush("console.nas1.b", *["flood"] * 1000)
    tell(nas1, console, ERROR_TASK, "nas1", "read_inventory", "", SILENT)
    console.look()
    console.inbox.one_round()
    assert Node.objects.get(name="nas1").inventory_error is not None
    assert console.inbox.service.llen("console.nas1.b") == 20 - inboxes.AT_ONCE
