"""What the worker, which is root, sees of a message: one of its tasks, made anew, or nothing."""

import base64
import json
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, Never

import kombu.transport.virtual
import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st
from redis import ConnectionPool

from nasadvisor.domain.fleet.messages import NotAccepted
from nasadvisor.host import broker
from nasadvisor.host.broker import (
    LONGEST_BYTES,
    LONGEST_WAIT,
    CarefulAmqp,
    CarefulClient,
    Channel,
    Connection,
    ConsoleClock,
    QoS,
    Transport,
    cleaned,
)
from nasadvisor.host.config import config_from
from nasadvisor.host.console_link import celery_app

NOW = datetime(2026, 11, 22, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


def message(arguments: Any = (), further: Any = None, **headers: Any) -> dict[str, Any]:
    body = json.dumps([arguments, {}, further or {}]).encode()
    return {
        "body": base64.b64encode(body).decode(),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {"lang": "py", "task": "host.keep", "id": "1", **headers},
        "properties": {"body_encoding": "base64", "reply_to": "x", "delivery_info": {"routing_key": "x"}},
    }


def clean(envelope: Any) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(cleaned(json.dumps(envelope).encode(), "host.nas", NOW))
    return made


def test_only_the_task_its_arguments_its_id_and_its_end_are_left() -> None:
    evil = {
        "eta": "2030-01-01T00:00:00",
        "retries": 9,
        "on_error": [1],
        "timelimit": [1, 1],
        "shadow": "x",
        "root_id": "x",
    }
    made = clean(message(["run", "anna"], {"callbacks": [1], "chain": [1], "chord": 1}, **evil))
    assert json.loads(base64.b64decode(made["body"])) == [["run", "anna"], {}, {}]
    assert made["headers"] == {
        "lang": "py",
        "task": "host.keep",
        "id": "1",
        "expires": (NOW + LONGEST_WAIT).isoformat(),
    }
    assert made["properties"]["delivery_info"] == {"exchange": "", "routing_key": "host.nas"}
    assert set(made["properties"]) == {"body_encoding", "delivery_tag", "delivery_info"}
    assert set(made) == {"body", "content-type", "content-encoding", "headers", "properties"}


def test_the_end_is_kept_but_not_for_longer_than_any_request_is_wanted() -> None:
    soon = NOW + timedelta(seconds=30)
    assert clean(message(expires=soon.isoformat()))["headers"]["expires"] == soon.isoformat()
    assert clean(message(expires=soon.replace(tzinfo=None).isoformat()))["headers"]["expires"] == soon.isoformat()
    late = clean(message(expires="9999-12-31T23:59:59+00:00"))["headers"]["expires"]
    assert late == (NOW + LONGEST_WAIT).isoformat()


@pytest.mark.parametrize("headers", [{"task": "celery.map"}, {"task": "host.x y"}, {"id": None}, {"id": "a b"}])
@pytest.mark.parametrize("further", [{}, {"compression": "application/x-gzip"}, {"expires": "soon"}])
def test_what_is_none_of_ours_is_refused(headers: dict[str, Any], further: dict[str, Any]) -> None:
    with pytest.raises(NotAccepted):
        clean(message(**headers, **further))


@pytest.mark.parametrize("headers", [{"compression": "zlib"}, {"compression": None}, {"expires": 5}, {"expires": "x"}])
def test_what_is_packed_or_has_no_end_that_can_be_read_is_refused(headers: dict[str, Any]) -> None:
    with pytest.raises(NotAccepted):
        clean(message(**headers))


def test_what_is_too_long_is_refused_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(_: bytes) -> None:
        raise AssertionError

    monkeypatch.setattr(broker, "read_message", parse)
    with pytest.raises(NotAccepted, match="bytes"):
        cleaned(b" " * (LONGEST_BYTES + 1), "host.nas", NOW)


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_nothing_but_that_error_comes_of_any_bytes(raw: bytes) -> None:
    with pytest.raises(NotAccepted):
        cleaned(raw, "host.nas", NOW)


@given(st.sampled_from(sorted(message())), st.sampled_from(sorted(message()["headers"])), JSON)
def test_nothing_but_that_error_comes_of_any_message(part: str, header: str, value: Any) -> None:
    for envelope in ({**message(), part: value}, message(**{header: value}), message(expires=value), message(value)):
        try:
            made = clean(envelope)
        except NotAccepted:
            continue
        assert made["headers"]["task"].startswith("host.")
        assert set(made["headers"]) == {"lang", "task", "id", "expires"}


def test_every_connection_of_the_worker_is_a_careful_one() -> None:
    for address in ("redis+socket:///run/x.sock", "redis://h", "rediss://h", "memory://", "amqp://h"):
        app = celery_app(config_from({"NASADVISOR_NODE": "nas", "NASADVISOR_REDIS": address}))
        assert isinstance(app.amqp, CarefulAmqp)
        for connection in (app.connection_for_read(), app.connection_for_write(), app.connection_for_read().clone()):
            assert isinstance(connection, Connection)
            assert connection.get_transport_cls() is Transport
    assert Transport.Channel is Channel


class Answering:
    """A connection to a message service: what it answers, in turn, and what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[Any, ...]] = []

    def send_command(self, *words: Any, **_options: Any) -> None:
        self.asked.append(words)

    def read_response(self, **_options: Any) -> Any:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def taken(message: dict[str, Any], *told: Any) -> dict[str, Any]:
    """What is left of a message that was taken from the queue of a console that says this time."""
    connection = Answering([b"host.nas", json.dumps(message).encode()], *told)
    _key, raw = CarefulClient(connection_pool=ConnectionPool()).parse_response(connection, "BRPOP")
    assert connection.asked == [("TIME",)]
    made: dict[str, Any] = json.loads(raw)
    return made


@pytest.mark.parametrize("hours", [-2, 0, 2])
def test_a_request_ends_when_it_does_at_the_console_whatever_our_clock_says(
    monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    monkeypatch.setattr(broker, "CONSOLE_CLOCK", ConsoleClock())
    here = datetime.now(UTC)
    console = here - timedelta(hours=hours)
    made = taken(message(expires=(console + timedelta(seconds=8)).isoformat()), [int(console.timestamp()), 0])
    left = datetime.fromisoformat(made["headers"]["expires"]) - here
    assert timedelta(seconds=6) < left < timedelta(seconds=20)
    assert abs(broker.CONSOLE_CLOCK.ahead - timedelta(hours=hours)) < timedelta(seconds=10)


def test_a_message_is_not_lost_where_the_console_does_not_tell_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "CONSOLE_CLOCK", ConsoleClock(timedelta(hours=1)))
    end = datetime.now(UTC) + timedelta(seconds=8)
    made = taken(message(expires=end.isoformat()), redis.exceptions.TimeoutError("no answer"))
    assert datetime.fromisoformat(made["headers"]["expires"]) == end + timedelta(hours=1)


class LostChannel:
    """A channel whose broker is gone."""

    do_restore = False

    def conn_or_acquire(self, client: None = None) -> Never:
        del client
        raise redis.ConnectionError("Connection refused.")


def test_a_message_that_cannot_be_acknowledged_does_not_keep_the_worker_from_taking_more() -> None:
    qos = QoS(LostChannel(), 1)
    kombu.transport.virtual.QoS.append(qos, SimpleNamespace(), "tag")
    assert not qos.can_consume()
    with pytest.raises(redis.ConnectionError):
        qos.ack("tag")
    assert qos.can_consume()
