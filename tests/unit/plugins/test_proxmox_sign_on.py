"""Who is signed in to Proxmox VE, against a stand-in for pveproxy with real sockets and TLS."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from plugins.contract.console import Access, PlatformSilent, Visitor
from plugins.proxmox.api import COOKIE, ProxmoxApi
from plugins.proxmox.console import ProxmoxConsole
from tests.pve_standin import (
    AUDITOR_TICKET,
    NOBODY_TICKET,
    ROOT_TICKET,
    SIGNATURE,
    TFA_TICKET,
    StandIn,
    make_certificate,
    pve_standin,
)

ROOT = Visitor("root@pam", Access.OPERATOR)


@pytest.fixture
def pve(tmp_path: Path) -> Iterator[StandIn]:
    with pve_standin(tmp_path) as standin:
        yield standin


def api(pve: StandIn, timeout_s: float = 5.0) -> ProxmoxApi:
    return ProxmoxApi(pve.certificate, port=pve.port, timeout_s=timeout_s)


def platform(pve: StandIn) -> ProxmoxConsole:
    return ProxmoxConsole(api(pve))


def test_sys_modify_makes_an_operator(pve: StandIn) -> None:
    assert api(pve).visitor(quote(ROOT_TICKET, safe="@")) == ROOT
    assert pve.asked == ["GET /api2/json/access/permissions?path=/"]


def test_sys_audit_makes_a_viewer_even_if_it_is_not_handed_down(pve: StandIn) -> None:
    assert api(pve).visitor(AUDITOR_TICKET) == Visitor("anna@pve", Access.VIEWER)


def test_somebody_without_either_is_not_let_in(pve: StandIn) -> None:
    assert api(pve).visitor(NOBODY_TICKET) is None


def test_an_expired_ticket_lets_nobody_in(pve: StandIn) -> None:
    pve.permissions.clear()
    assert api(pve).visitor(ROOT_TICKET) is None


def test_a_half_authenticated_ticket_is_refused_without_asking(pve: StandIn) -> None:
    pve.permissions[TFA_TICKET] = {"Sys.Modify": 1}
    for ticket in (TFA_TICKET, quote(TFA_TICKET), f"PVE:!tfa!root@pam:6740A1B2::{SIGNATURE}"):
        assert api(pve).visitor(ticket) is None
    assert pve.asked == []


@pytest.mark.parametrize(
    "cookie",
    [
        "",
        "root@pam",
        f"PVE:root@pam:6740A1B2:{SIGNATURE}",
        f"PMG:root@pam:6740A1B2::{SIGNATURE}",
        f"PVE:root@pam!token:6740A1B2::{SIGNATURE}",
        f"PVE%3Aroot%40pam%3A6740A1B2%3A%3A{SIGNATURE}%0D%0AX-Evil%3A%201",
        f"{ROOT_TICKET}\r\nX-Evil: 1",
        f"{ROOT_TICKET}; PVEAuthCookie=other",
        "PVE:" + "a" * 5000 + f"@pam:6740A1B2::{SIGNATURE}",
    ],
)
def test_what_is_no_ticket_is_refused_without_asking(pve: StandIn, cookie: str) -> None:
    assert api(pve).visitor(cookie) is None
    assert pve.asked == []


def test_a_time_out_lets_nobody_in(pve: StandIn) -> None:
    pve.delay_s = 1.0
    with pytest.raises(PlatformSilent, match="pveproxy"):
        api(pve, timeout_s=0.2).visitor(ROOT_TICKET)


def test_a_connection_that_is_lost_lets_nobody_in(pve: StandIn) -> None:
    pve.hangs_up = True
    with pytest.raises(PlatformSilent, match="pveproxy"):
        api(pve).visitor(ROOT_TICKET)


def test_a_proxy_that_is_down_lets_nobody_in(pve: StandIn) -> None:
    with pytest.raises(PlatformSilent, match="pveproxy"):
        replace(api(pve), port=1).visitor(ROOT_TICKET)


@pytest.mark.parametrize("status", [302, 500, 501, 595, 596])
def test_an_answer_of_another_kind_lets_nobody_in(pve: StandIn, status: int) -> None:
    pve.status = status
    with pytest.raises(PlatformSilent, match=f"HTTP {status}"):
        api(pve).visitor(ROOT_TICKET)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"data": null}',
        b'{"data": []}',
        b'{"data": {"/": ["Sys.Modify"]}}',
        b"[" * 70000,
    ],
)
def test_an_answer_of_another_form_lets_nobody_in(pve: StandIn, body: bytes) -> None:
    pve.body = body
    with pytest.raises(PlatformSilent):
        api(pve).visitor(ROOT_TICKET)


def test_privileges_on_another_path_do_not_count(pve: StandIn) -> None:
    pve.body = b'{"data": {"/vms": {"Sys.Modify": 1}}}'
    assert api(pve).visitor(ROOT_TICKET) is None


def test_a_ticket_is_shown_to_nobody_but_the_holder_of_the_nodes_certificate(pve: StandIn, tmp_path: Path) -> None:
    other = tmp_path / "other.pem"
    make_certificate(other)
    with pytest.raises(PlatformSilent, match="certificate"):
        replace(api(pve), certificate=other).visitor(ROOT_TICKET)
    assert pve.asked == []


def test_without_the_nodes_certificate_nobody_is_asked(pve: StandIn, tmp_path: Path) -> None:
    for name, text in (("missing.pem", None), ("broken.pem", "no certificate")):
        path = tmp_path / name
        if text:
            path.write_text(text)
        with pytest.raises(PlatformSilent):
            replace(api(pve), certificate=path).visitor(ROOT_TICKET)


def test_the_password_is_asked_of_pve_before_a_change(pve: StandIn) -> None:
    cookies = {COOKIE: ROOT_TICKET}
    assert platform(pve).check_password("root@pam", "hunter22", cookies) == ROOT
    assert platform(pve).check_password("root@pam", "wrong", cookies) is None
    assert platform(pve).check_password("anna@pve", "s3cret", cookies) is None


def test_permissions_are_asked_for_again_before_a_change(pve: StandIn) -> None:
    pve.permissions[ROOT_TICKET] = {"Sys.Audit": 1}
    visitor = platform(pve).check_password("root@pam", "hunter22", {COOKIE: ROOT_TICKET})
    assert visitor == Visitor("root@pam", Access.VIEWER)


def test_without_a_ticket_a_password_alone_lets_nobody_in(pve: StandIn) -> None:
    assert platform(pve).check_password("root@pam", "hunter22", {}) is None


def test_a_ticket_does_not_pass_as_a_password(pve: StandIn) -> None:
    for password in (ROOT_TICKET, quote(ROOT_TICKET), f" {ROOT_TICKET}"):
        assert platform(pve).check_password("root@pam", password, {COOKIE: ROOT_TICKET}) is None
    assert not [asked for asked in pve.asked if asked.startswith("POST")]


def test_a_password_that_begins_like_a_ticket_is_one(pve: StandIn) -> None:
    pve.passwords["root@pam"] = "PVE is great"
    assert platform(pve).check_password("root@pam", "PVE is great", {COOKIE: ROOT_TICKET}) == ROOT


def test_with_a_second_factor_the_ticket_vouches_for_it(pve: StandIn) -> None:
    pve.with_second_factor.add("root@pam")
    assert platform(pve).check_password("root@pam", "hunter22", {COOKIE: ROOT_TICKET}) == ROOT
    assert platform(pve).check_password("root@pam", "hunter22", {COOKIE: TFA_TICKET}) is None


def test_neither_ticket_nor_password_is_logged_or_said(pve: StandIn, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    api(pve).visitor(ROOT_TICKET)
    platform(pve).check_password("root@pam", "hunter22", {COOKIE: ROOT_TICKET})
    pve.hangs_up = True
    with pytest.raises(PlatformSilent) as error:
        platform(pve).check_password("root@pam", "hunter22", {COOKIE: ROOT_TICKET})
    said = caplog.text + str(error.value) + repr(error.value.statement) + repr(error.value.__context__)
    assert SIGNATURE[:12] not in said
    assert "hunter22" not in said


def test_who_comes_by_openid_is_told_that_there_is_no_password_and_what_to_do(pve: StandIn) -> None:
    said = platform(pve).no_password("anna@sso")
    assert said is not None
    assert [word for word in ("realm sso", "OpenID", "sign in as a NAS Advisor user") if word not in str(said)] == []
    assert pve.asked == ["GET /api2/json/access/domains"]
    assert platform(pve).check_password("anna@sso", "anything", {COOKIE: ROOT_TICKET}) is None


@pytest.mark.parametrize("name", ["root@pam", "anna@pve", "anna@gone", "anna"])
def test_who_has_a_password_is_told_nothing(pve: StandIn, name: str) -> None:
    assert platform(pve).no_password(name) is None


@pytest.mark.parametrize("body", [b'{"data": {}}', b'{"data": ["sso"]}', b'{"data": "sso"}'])
def test_realms_of_another_form_are_not_understood(pve: StandIn, body: bytes) -> None:
    pve.body = body
    with pytest.raises(PlatformSilent):
        platform(pve).no_password("anna@sso")
