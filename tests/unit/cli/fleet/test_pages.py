"""How the pages of this host answer, as the doctor asks them."""

import hashlib
import os
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nasadvisor.cli.fleet.units import PageCheck, ask_pages
from nasadvisor.runtime.certificates import SELF_SIGNED_VALID
from tests.lab.instance import free_port

NOWHERE = Path("/nonexistent")


def ask(settings: Mapping[str, str], now: datetime) -> PageCheck:
    """The pages of these tests are served by the tests themselves, which would be taken for another program."""
    return ask_pages(settings, now, NOWHERE)


def test_the_address_of_the_pages_is_told_with_the_fingerprint_that_the_browser_shows(
    tmp_path: Path, pages: Mapping[str, str]
) -> None:
    certificate = ssl.PEM_cert_to_DER_cert((tmp_path / "tls/certificate.pem").read_text())
    told = ask(pages, datetime.now(UTC))
    assert told.ok
    assert f":{pages['UVICORN_PORT']}, certificate made here, good until 20" in told.sentence
    assert hashlib.sha256(certificate).digest().hex(":").upper() in told.sentence


def test_a_certificate_that_was_not_renewed_is_a_problem(pages: Mapping[str, str]) -> None:
    told = ask(pages, datetime.now(UTC) + SELF_SIGNED_VALID - timedelta(days=13))
    assert not told.ok
    assert "ends soon or has ended" in told.sentence


def test_pages_without_tls_are_a_problem_unless_a_setting_asks_for_that(plain_pages: Mapping[str, str]) -> None:
    told = ask(plain_pages, datetime.now(UTC))
    assert not told.ok
    assert "without TLS, and no setting asks for that" in told.sentence
    for setting in ({"NASADVISOR_TLS": "no"}, {"NASADVISOR_HTTPS": "yes"}):
        (name,) = setting
        told = ask({**plain_pages, **setting}, datetime.now(UTC))
        assert told.ok
        assert f"for {name}={setting[name]} is set" in told.sentence


def test_pages_that_do_not_answer_are_a_problem() -> None:
    told = ask({"UVICORN_PORT": str(free_port())}, datetime.now(UTC))
    assert not told.ok
    assert "do not answer at 127.0.0.1" in told.sentence


def test_another_program_at_the_port_of_the_pages_is_named(pages: Mapping[str, str]) -> None:
    told = ask_pages(pages, datetime.now(UTC))
    assert not told.ok
    assert f"port {pages['UVICORN_PORT']} is taken by" in told.sentence
    assert f"(process {os.getpid()}" in told.sentence
    assert "UVICORN_PORT" in told.sentence
