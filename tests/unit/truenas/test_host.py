"""The host part: detection, version, mail; the latter against a stand-in."""

import json
from pathlib import Path
from typing import Any

import pytest

from nasadvisor.domain.change.runs import Goal
from nasadvisor.domain.fleet.platforms import Notice
from nasadvisor.domain.statements import Level
from nasadvisor.host.errors import HostError
from nasadvisor.host.fleet.platforms import HostPlatforms
from plugins.truenas.api.errors import AccessNotSet, JobFailed, MailNotSent
from plugins.truenas.host import TrueNASHost
from tests.unit.fakes import FakeRunner
from tests.unit.machines import home_server
from tests.unit.truenas.standin import StandIn

NOTICE = Notice(Level.WARNING, "Pool tank is DEGRADED", "Replace what is broken.")


def installed(root: Path, version: Any = "25.10.1") -> TrueNASHost:
    """A TrueNAS in a directory."""
    (root / "usr/bin").mkdir(parents=True)
    (root / "usr/bin/midclt").touch()
    (root / "data").mkdir()
    (root / "data/manifest.json").write_text(json.dumps({"version": version, "train": "TrueNAS-SCALE-Goldeye"}))
    return TrueNASHost(root)


def test_it_is_known_by_the_client_of_its_middleware(tmp_path: Path) -> None:
    assert not TrueNASHost(tmp_path).detect()
    assert installed(tmp_path).detect()


def test_the_version_is_read_where_the_middleware_reads_it(tmp_path: Path) -> None:
    assert TrueNASHost(tmp_path).version(FakeRunner()) == ""
    assert installed(tmp_path).version(FakeRunner()) == "25.10.1"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"version": 25}'])
def test_a_version_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    host = installed(tmp_path)
    (tmp_path / "data/manifest.json").write_text(text)
    assert host.version(FakeRunner()) == ""


@pytest.mark.parametrize("version", ["25.04.2", "27.0.0", "MASTER-20260822"])
def test_slices_are_refused_on_a_version_outside_the_range(tmp_path: Path, version: str) -> None:
    platforms = HostPlatforms(FakeRunner(), (installed(tmp_path, version),))
    veto = platforms.vetoes(home_server())[0]
    assert (veto.scope, veto.forbids) == ("", (Goal.APPLY, Goal.FINISH))


@pytest.mark.parametrize("version", ["25.10.6", "26.0.0-BETA.3"])
@pytest.mark.usefixtures("middleware")
def test_versions_in_the_range_forbid_nothing_on_the_whole_host(local_root: Path, version: str) -> None:
    platforms = HostPlatforms(FakeRunner(), (installed(local_root, version),))
    assert "" not in {veto.scope for veto in platforms.vetoes(home_server())}
    report = platforms.report(home_server())
    assert [caution.code for caution in report.cautions] == ["slices-not-supported"]
    assert "does not support slices" in str(report.cautions[0])


@pytest.fixture
def set_up(settings: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("set_up")
def test_alerts_go_out_as_truenas_own_mail(truenas: StandIn, tmp_path: Path) -> None:
    truenas.polls_of_a_job = 1
    host = installed(tmp_path / "root")
    assert host.notifies
    HostPlatforms(FakeRunner(), (host,)).notify(NOTICE)
    assert truenas.called("mail.send") == [
        [{"subject": "Pool tank is DEGRADED", "text": "Replace what is broken.", "queue": True}]
    ]


@pytest.mark.usefixtures("set_up")
def test_a_message_that_truenas_may_not_send_is_not_taken_for_sent(truenas: StandIn) -> None:
    """Its job ends as if all were well, with false (middleware, plugins/mail.py, NetworkActivityDisabled)."""
    truenas.polls_of_a_job, truenas.mail_goes_out = 1, False
    with pytest.raises(MailNotSent, match="without sending the message"):
        TrueNASHost().notify(FakeRunner(), NOTICE)


@pytest.mark.usefixtures("set_up")
def test_mail_that_did_not_go_out_is_an_error(truenas: StandIn) -> None:
    truenas.polls_of_a_job, truenas.job_error = 1, "[EFAULT] You must provide an outgoing mailserver"
    with pytest.raises(JobFailed, match="outgoing mailserver"):
        TrueNASHost().notify(FakeRunner(), NOTICE)
    truenas.login_answer = {"response_type": "EXPIRED"}
    with pytest.raises(HostError, match="expired or was revoked"):
        TrueNASHost().notify(FakeRunner(), NOTICE)


def test_without_an_address_it_sends_nothing() -> None:
    assert not TrueNASHost().notifies
    with pytest.raises(AccessNotSet):
        TrueNASHost().notify(FakeRunner(), NOTICE)
