"""The host's settings: what they are called, and what holds where nothing is set."""

from pathlib import Path

from nasadvisor.host.config import config_from


def test_without_settings_everything_is_where_the_installer_puts_it() -> None:
    config = config_from({})
    assert config.journals == Path("/var/lib/nasadvisor/host/runs")
    assert config.lock_path == Path("/run/nasadvisor-host/host.lock")
    assert config.redis_url == "redis+socket:///run/nasadvisor/redis.sock"


def test_the_journals_go_where_the_host_state_is_and_not_where_the_console_has_its_own() -> None:
    config = config_from({"NASADVISOR_HOST_STATE": "/srv/host", "NASADVISOR_CONSOLE_STATE": "/srv/console"})
    assert config.journals == Path("/srv/host/runs")
