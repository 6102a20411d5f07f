"""Reaching TrueNAS, against a stand-in: what goes wrong, and that the key never gets where it must not."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

from nasadvisor.host.errors import HostError, OutputUnreadable
from plugins.truenas.api.access import CERTIFICATE, KEY_FILE, URL, USER, TrueNasAccess, access_from
from plugins.truenas.api.connection import METHODS, connection_to, session_with
from plugins.truenas.api.errors import (
    AccessNotSet,
    CallRefused,
    CertificateUnknown,
    ConnectionLost,
    LoginRefused,
    NoAnswer,
    NoCommonVersion,
    NotReached,
    PlainTransport,
)
from tests.unit.truenas.conftest import make_certificate
from tests.unit.truenas.standin import KEY, StandIn


def version_by(access: TrueNasAccess, timeout_s: float = 60) -> str:
    with session_with(access, timeout_s) as session:
        return session.version


def test_it_logs_in_with_the_key_and_learns_the_version(truenas: StandIn, access: TrueNasAccess) -> None:
    assert version_by(access) == "25.10.1"
    login = {
        "mechanism": "API_KEY_PLAIN",
        "username": "nasadvisor",
        "api_key": KEY,
        "login_options": {"user_info": False},
    }
    assert truenas.calls == [("auth.login_ex", [login]), ("system.version_short", [])]


@pytest.mark.parametrize("known", [("v26.0.0",), ("v25.10.0", "v26.0.0"), ("v25.10.0",)])
def test_the_version_of_the_api_is_pinned_and_the_newest_that_both_know(
    truenas: StandIn, access: TrueNasAccess, known: tuple[str, ...]
) -> None:
    truenas.api_versions = known
    with session_with(access) as session:
        assert session.connection.version == max(known)


def test_a_truenas_with_none_of_our_api_versions_is_refused(truenas: StandIn, access: TrueNasAccess) -> None:
    truenas.api_versions = ("v25.04.2",)
    with pytest.raises(NoCommonVersion, match=r"v26\.0\.0, v25\.10\.0.*Nothing was read or changed"):
        version_by(access)
    assert truenas.calls == []


@pytest.mark.parametrize("scheme", ["ws", "http", "https"])
def test_the_key_is_never_sent_over_anything_but_wss(truenas: StandIn, settings: dict[str, str], scheme: str) -> None:
    with pytest.raises(PlainTransport, match="the API key was not sent"):
        access_from({**settings, URL: truenas.url.replace("wss", scheme)})
    assert truenas.calls == []


def test_another_certificate_than_the_stored_one_gets_no_key(
    truenas: StandIn, settings: dict[str, str], tmp_path: Path
) -> None:
    other, _ = make_certificate(tmp_path, "other")
    with pytest.raises(CertificateUnknown, match=r"does not match the stored one.*The API key was not sent"):
        version_by(access_from({**settings, CERTIFICATE: str(other)}))
    assert truenas.calls == []


def test_a_self_signed_certificate_that_was_not_stored_gets_no_key(truenas: StandIn, settings: dict[str, str]) -> None:
    with pytest.raises(CertificateUnknown, match="self-signed certificate"):
        version_by(access_from({**settings, CERTIFICATE: ""}))
    assert truenas.calls == []


def answering_late(times: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """So many openings are not answered in time; the list of all that are tried."""
    opened: list[str] = []

    def connect_late(uri: str, **options: Any) -> ClientConnection:
        opened.append(uri)
        if len(opened) <= times:
            raise TimeoutError("timed out while waiting for handshake response")
        opening: ClientConnection = connect(uri, **options)
        return opening

    monkeypatch.setattr("plugins.truenas.api.connection.connect", connect_late)
    return opened


def test_an_opening_that_is_not_answered_in_time_is_tried_again(
    truenas: StandIn, access: TrueNasAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = answering_late(2, monkeypatch)
    assert version_by(access) == "25.10.1"
    assert opened == [f"{truenas.url}/api/{version}" for version in ("v26.0.0",) * 3 + ("v25.10.0",)]


def test_after_three_openings_that_nobody_answers_it_is_said_so(
    truenas: StandIn, access: TrueNasAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = answering_late(99, monkeypatch)
    with pytest.raises(NotReached, match="timed out"):
        version_by(access)
    assert len(opened) == 3
    assert truenas.calls == []


def test_nobody_at_the_address_is_said_so(truenas: StandIn, settings: dict[str, str]) -> None:
    with pytest.raises(NotReached, match=r"Connection refused.*Check the address"):
        version_by(access_from({**settings, URL: "wss://127.0.0.1:1"}))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"response_type": "AUTH_ERR"}, "The key or the user is wrong"),
        ({"response_type": "EXPIRED"}, "expired or was revoked"),
        ({"response_type": "DENIED"}, "may not use the API"),
        ({"response_type": "OTP_REQUIRED", "username": "nasadvisor"}, "one-time password"),
        ({"response_type": "REDIRECT", "urls": ["192.0.2.8"]}, "standby controller of a pair"),
    ],
)
def test_every_answer_but_success_is_a_sentence(
    truenas: StandIn, access: TrueNasAccess, answer: dict[str, object], said: str
) -> None:
    truenas.login_answer = answer
    with pytest.raises(LoginRefused, match=said):
        version_by(access)
    assert len(truenas.called("auth.login_ex")) == 1, "a refused login is not tried again: twenty lock the address out"


def test_a_wrong_key_is_refused(truenas: StandIn, settings: dict[str, str]) -> None:
    Path(settings[KEY_FILE]).write_text("7-wrong", encoding="ascii")
    with pytest.raises(LoginRefused, match="The key or the user is wrong"):
        version_by(access_from(settings))


def test_a_login_that_is_not_allowed_now_is_said_so(truenas: StandIn, access: TrueNasAccess) -> None:
    truenas.refused["auth.login_ex"] = {"code": -32001, "message": "Method call error", "data": {"reason": "EBUSY"}}
    with pytest.raises(LoginRefused, match="too many attempts"):
        version_by(access)


@pytest.mark.parametrize("answer", [{"response_type": "LATER"}, {}, [], "SUCCESS", True])
def test_a_login_answer_of_another_shape_lets_nobody_in(
    truenas: StandIn, access: TrueNasAccess, answer: object
) -> None:
    truenas.results["auth.login_ex"] = answer or {"no": "response_type"}
    with pytest.raises(OutputUnreadable, match=r"auth\.login_ex"):
        version_by(access)
    assert truenas.called("system.version_short") == []


def test_the_key_is_in_no_error_and_in_no_picture_of_the_access(truenas: StandIn, access: TrueNasAccess) -> None:
    assert KEY not in repr(access)
    truenas.refused["auth.login_ex"] = {"code": -32602, "message": "Invalid params", "data": {"reason": KEY}}
    with pytest.raises(HostError) as error:
        version_by(access)
    assert KEY not in str(error.value)


def test_the_key_is_in_no_log_even_at_debug(
    truenas: StandIn, access: TrueNasAccess, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    version_by(access)
    ours = [record.getMessage() for record in caplog.records if not record.name.startswith("websockets.server")]
    assert not any(KEY in message for message in ours)


def test_a_call_that_is_not_answered_ends_in_its_time(truenas: StandIn, access: TrueNasAccess) -> None:
    truenas.silent.add("system.version_short")
    with pytest.raises(NoAnswer, match=r"did not answer system.version_short within 0.2 s.*nothing was changed"):
        version_by(access, 0.2)


def test_a_connection_that_is_lost_is_said_so(truenas: StandIn, access: TrueNasAccess) -> None:
    truenas.cut_at.append("system.version_short")
    with pytest.raises(ConnectionLost, match=r"the middleware restarts.*nothing was changed"):
        version_by(access)


@pytest.mark.parametrize("answer", ["{", "[]", '"x"', '{"jsonrpc": "2.0", "id": 2}'])
def test_an_answer_that_is_not_json_rpc_is_refused(truenas: StandIn, access: TrueNasAccess, answer: str) -> None:
    truenas.garbled["system.version_short"] = answer
    with pytest.raises(OutputUnreadable, match="could not be interpreted"):
        version_by(access)


@pytest.mark.parametrize("version", [None, 25, "", "SCALE", ["25.10"], "25.10 $(reboot)"])
def test_a_version_of_another_shape_is_refused(truenas: StandIn, access: TrueNasAccess, version: object) -> None:
    truenas.garbled["system.version_short"] = json.dumps({"jsonrpc": "2.0", "id": 2, "result": version})
    with pytest.raises(OutputUnreadable, match=r"system\.version_short"):
        version_by(access)


def test_a_refused_call_says_each_fault_and_no_trace(truenas: StandIn, access: TrueNasAccess) -> None:
    extra = [["pool_update.topology.log.0.disks", "sdb is in use", 22], ["pool_update.name", "is not allowed", 22]]
    data = {"error": 22, "errname": "EINVAL", "reason": "…", "extra": extra, "trace": {"formatted": "Traceback …"}}
    truenas.refused["pool.update"] = {"code": -32602, "message": "Invalid params", "data": data}
    with session_with(access) as session, pytest.raises(CallRefused, match=r"sdb is in use; pool_update.name") as error:
        session.call("pool.update", 3, {})
    assert "Traceback" not in str(error.value)
    assert error.value.number == -32602


@pytest.mark.parametrize("error", [{}, {"code": "x"}, {"code": 1, "data": []}, {"data": {"extra": [[], 1]}}])
def test_a_refusal_without_reasons_is_a_refusal_too(
    truenas: StandIn, access: TrueNasAccess, error: dict[str, object]
) -> None:
    truenas.refused["pool.query"] = error
    with session_with(access) as session, pytest.raises(CallRefused, match="it gave no reason"):
        session.call("pool.query")


def test_nothing_private_and_nothing_that_wipes_or_expands_is_ever_called(
    truenas: StandIn, access: TrueNasAccess
) -> None:
    assert {
        "auth.login_ex",
        "core.get_jobs",
        "disk.details",
        "mail.send",
        "pool.query",
        "pool.remove",
        "pool.update",
        "system.version_short",
    } == METHODS
    for method in ("pool.expand", "disk.wipe", "cronjob.run", "zfs.pool.extend", "core.bulk"):
        with connection_to(access) as connection, pytest.raises(ValueError, match="not in the table"):
            connection.call(method)
    assert truenas.calls == []


def test_a_key_that_others_can_read_is_not_used(settings: dict[str, str]) -> None:
    Path(settings[KEY_FILE]).chmod(0o640)
    with pytest.raises(AccessNotSet, match=r"other users can read .*chmod 600"):
        access_from(settings)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        (URL, ""),
        (URL, "nas.example"),
        (URL, "wss://nas.example/api/current"),
        (URL, "wss://root:secret@nas.example"),
        (URL, "wss://nas.example:x"),
        (USER, ""),
        (KEY_FILE, ""),
        (KEY_FILE, "/nonexistent"),
        (CERTIFICATE, "/nonexistent"),
        (CERTIFICATE, "/dev/null"),
    ],
)
def test_a_setting_that_is_missing_or_of_no_use_is_named(settings: dict[str, str], setting: str, value: str) -> None:
    with pytest.raises(AccessNotSet, match=f"{setting} is missing or unusable"):
        access_from({**settings, setting: value})


def test_an_address_may_have_a_port_and_may_be_of_ipv6(settings: dict[str, str]) -> None:
    assert access_from({**settings, URL: "wss://nas.example"}).origin == "wss://nas.example:443"
    assert access_from({**settings, URL: "wss://[2001:db8::7]:8443/"}).origin == "wss://[2001:db8::7]:8443"
