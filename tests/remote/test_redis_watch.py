"""What systemd starts every minute for the console's own Redis, against a real one: a queue that nobody takes from."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import redis

from nasadvisor.console.worker.enrolment import LARGEST_QUEUE
from nasadvisor.domain.units import KIB, MIB

PACKAGING = Path(__file__).parents[2] / "packaging"
SCRIPT = PACKAGING / "redis-watch"
SERVER = shutil.which("redis-server")
START_S = 10.0
pytestmark = pytest.mark.skipif(SERVER is None, reason="redis-server is not installed (Debian package redis-server)")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[redis.Redis]:
    """The console's Redis, as it is installed but for its place."""
    path = tmp_path / "redis.sock"
    settings = (PACKAGING / "redis.conf").read_text(encoding="utf-8")
    settings = settings.replace("/run/nasadvisor/redis.sock", str(path)).replace("supervised systemd", "supervised no")
    (tmp_path / "redis.conf").write_text(settings, encoding="utf-8")
    assert SERVER
    with subprocess.Popen([SERVER, tmp_path / "redis.conf"], stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + START_S
        while not path.exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        with redis.Redis(unix_socket_path=str(path)) as client:
            yield client
        process.kill()


def fill(service: redis.Redis) -> None:
    """Have so much wait for the console that nothing more can be taken in."""
    for size in (MIB, KIB, 1):
        with suppress(redis.exceptions.OutOfMemoryError):
            while True:
                service.lpush("console", bytes(size))


def look(place: Path) -> str:
    """What the script says."""
    environment = {"NASADVISOR_RUN_DIR": str(place), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([SCRIPT], env=environment, capture_output=True, text=True, check=True)
    return done.stderr


def test_from_a_redis_that_is_full_nobody_takes_anything_until_what_nobody_takes_is_dropped(
    service: redis.Redis, tmp_path: Path
) -> None:
    """The newest messages are small, as those of the clock are: not they make it large."""
    fill(service)
    service.config_set("maxmemory", 70 * MIB)
    service.lpush("console", *["little"] * 50)
    # Redis gives the buffers of a client back that has said nothing for two seconds (clientsCron): less than this.
    service.config_set("maxmemory", service.info("memory")["used_memory"] - 8 * MIB)
    with pytest.raises(redis.exceptions.OutOfMemoryError):
        service.hset("unacked", "one", "taken")
    assert "was dropped" in look(tmp_path)
    assert service.llen("console") == 0
    deadline = time.monotonic() + START_S
    while service.info("memory")["used_memory"] > LARGEST_QUEUE:  # what UNLINK drops is freed behind it
        assert time.monotonic() < deadline
        time.sleep(0.02)
    service.hset("unacked", "one", "taken")


def test_what_waits_for_a_worker_that_is_just_slow_stays(service: redis.Redis, tmp_path: Path) -> None:
    for _ in range(30):
        service.lpush("console", bytes(MIB))
    assert look(tmp_path) == ""
    assert service.llen("console") == 30


def test_without_a_redis_of_ours_there_is_nothing_to_look_after(tmp_path: Path) -> None:
    assert look(tmp_path) == ""


def test_both_queues_are_too_large_at_the_same_size() -> None:
    assert f"LARGEST_BYTES={LARGEST_QUEUE}\n" in SCRIPT.read_text(encoding="utf-8")
