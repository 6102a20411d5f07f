"""Making the installed product's services fail while it works, and asking somebody else how it is."""

import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.integration.product import MANAGE, Product

CHECKER: Final = (Path(__file__).parent / "in_guest" / "checker.py").read_bytes()
PATIENCE_S: Final = 900
"""Three minutes of a watchdog, a start and a doctor under emulation, beside other work."""

DRIVER: Final = """
import sys, json
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from nasadvisor.console.change import plans
from nasadvisor.console.change.models import StoredRun
from nasadvisor.console.change.runs import orders
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.health import sweeps
from nasadvisor.console.health.alerts.models import Delivery
from nasadvisor.domain.change.plan import PlanRequest
from nasadvisor.domain.fleet.questions import BY_VERB

def user():
    return User.objects.get_or_create(username="asker", defaults={"is_superuser": True})[0]

def cookie():
    client = Client(SERVER_NAME="localhost")
    client.force_login(user())
    name = settings.SESSION_COOKIE_NAME
    return f"{name}={client.cookies[name].value}"

def plan(serial):
    node = Node.objects.get()
    pool = next(each for each in node.inventory.pools if each.name == "tank")
    keys = tuple(each.key for each in node.inventory.disks if each.identity.serial == serial)
    made = plans.plan_for(PlanRequest(pool.guid, keys, 512 * 2**20, keys, 2**30), node.inventory)
    return str(plans.store_plan(made, node, user()).id)

def knows(guid):
    inventory = Node.objects.get().inventory
    return bool(inventory) and guid in [pool.guid for pool in inventory.pools]

def apply(plan_id):
    return str(orders.apply_plan(plans.own_plan(plan_id, user()), user()).pk)

def ask(verb, run_id):
    orders.order(StoredRun.objects.get(pk=run_id), BY_VERB[verb], user())

def state(run_id):
    return StoredRun.objects.get(pk=run_id).state

def is_any_undelivered():
    return Delivery.objects.exclude(state__in=("sent", "gave-up")).exists()

def sweep():
    sweeps.request_sweeps(timezone.now())

print("ready", flush=True)
for line in sys.stdin:
    try:
        print(json.dumps([eval(line), ""]), flush=True)
    except Exception as error:
        print(json.dumps([None, f"{type(error).__name__}: {error}"]), flush=True)
"""


class ConsoleSaid(Exception):  # noqa: N818 - what the console answered instead of a result
    """The console could not do what was asked for."""


class Driver:
    """Somebody who asks the console for something, by its own functions; one process, for a start takes long."""

    def __init__(self, product: Product) -> None:
        command = product.guest.argv(f"{MANAGE} shell --no-imports --command {json.dumps('exec(input())')}")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._say(f"exec({DRIVER!r})")
        assert self._hear() == "ready"

    def __call__(self, expression: str) -> Any:
        """What an expression of the driver's language gives.

        Raises:
            ConsoleSaid: it failed.
        """
        self._say(expression)
        found, error = json.loads(self._hear())
        if error:
            raise ConsoleSaid(error)
        return found

    def close(self) -> None:
        """End it."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(timeout=60)

    def _say(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def _hear(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()


@dataclass(frozen=True)
class Chaos:
    """One installed product with a driver, and the cookie of somebody who is signed in."""

    product: Product
    driver: Driver
    cookie: str

    def check(self, *words: str, seconds: float = 120) -> Any:
        """What the independent checker says."""
        done = self.product.guest.run(["python3", "-", *words], stdin=CHECKER, timeout=seconds)
        return json.loads(done.stdout)

    def well(self, began: float) -> dict[str, float | None]:
        """When page, samples and doctor were well again, in seconds after `began`."""
        found: dict[str, float | None] = self.check(
            "well", self.cookie, str(began), str(PATIENCE_S), seconds=PATIENCE_S + 120
        )
        return found

    def now(self) -> float:
        """The guest's clock, in seconds since 1970."""
        return float(self.product.guest.run("date +%s.%N").stdout)

    def until(self, expression: str, seconds: float = PATIENCE_S) -> None:
        """Wait until an expression of the driver's is true."""
        ends = time.monotonic() + seconds
        while not self.driver(expression):
            assert time.monotonic() < ends, f"not in time: {expression}"
            time.sleep(2)


def kill(unit: str) -> str:
    """The whole service ends at once."""
    return f"systemctl kill --signal=KILL {unit}"


def hang(unit: str) -> str:
    """Its process stands still."""
    return f"systemctl kill --kill-whom=main --signal=STOP {unit}"


def stop(unit: str, seconds: int = 60) -> str:
    """An administrator stops it, and starts it a minute later."""
    return f"systemctl stop --no-block {unit}; sleep {seconds}; systemctl start --no-block {unit}"


FULL: Final = "/var/lib/nasadvisor/console/filler"


def fill(seconds: int = 60) -> str:
    """Not a byte is free where the database and the journals are, for a minute."""
    free = "df --output=avail --block-size=1 /var/lib/nasadvisor | tail -1"
    take = f"fallocate --length $({free}) {FULL} || cat /dev/zero > {FULL}.rest"
    return f"{take}; cat /dev/zero > {FULL}.rest 2>/dev/null; sleep {seconds}; rm -f {FULL} {FULL}.rest"


def lock_database(seconds: int = 60) -> str:
    """Somebody else writes to the database for a minute, and comes to no end."""
    path = "/var/lib/nasadvisor/console/console.sqlite3"
    hold = f"import sqlite3, time; c = sqlite3.connect('{path}', timeout=60); c.execute('begin immediate')"
    return f'python3 -c "{hold}; time.sleep({seconds})"'
