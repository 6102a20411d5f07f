"""The web console hears of runs on the command line, where there is one."""

from pathlib import Path

from nasadvisor.cli.services import report_run
from nasadvisor.host.config import HostConfig


def test_without_a_console_nothing_happens(tmp_path: Path) -> None:
    report_run(HostConfig("nas", tmp_path, tmp_path, f"redis+socket://{tmp_path}/redis.sock", "auto"), "run")


def test_a_message_service_that_is_gone_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "redis.sock").touch()
    report_run(HostConfig("nas", tmp_path, tmp_path, f"redis+socket://{tmp_path}/redis.sock", "auto"), "run")
