"""One console for two guests: joining, reading, a run and its undo on the right one, and what the other cannot do."""

import json
import time
from collections.abc import Callable, Iterator

import pytest

from tests.integration.product import MANAGE, Product, product
from tests.lab.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.long]
__all__ = ["product"]

PORT = 8844
GATEWAY = "10.0.2.2"
"""Where a guest finds the machine that runs it (QEMU's user network)."""

SECOND = "second"
REMOTE = ("nasadvisor-remote-redis", "nasadvisor-remote")
ACCESS = "/var/lib/nasadvisor/host/console.json"
WAIT_S = 600
TOKEN = f"""
from django.contrib.auth.models import User
from django.utils import timezone
from nasadvisor.console.fleet.remote.access import new_token
user, _ = User.objects.get_or_create(username="anna", defaults={{"is_superuser": True}})
print(new_token("{SECOND}", user, timezone.now()))
"""
APPLY = f"""
from django.contrib.auth.models import User
from nasadvisor.console.change import plans
from nasadvisor.console.change.runs import orders
from nasadvisor.console.fleet.models import Node
from nasadvisor.domain.change.plan import PlanRequest
node = Node.objects.get(name="{SECOND}")
pool = next(pool for pool in node.inventory.pools if pool.name == "tank")
ssds = tuple(disk.key for disk in node.inventory.disks if disk.kernel_name.startswith("nvme"))
plan = plans.plan_for(PlanRequest(pool.guid, ssds[:2], 2**30, (), None), node.inventory)
stored = plans.store_plan(plan, node, User.objects.get(username="anna"))
print(orders.apply_plan(stored, User.objects.get(username="anna")).pk)
"""
AS_THE_NODE = f"""
import json, redis
access = json.load(open("{ACCESS}"))
service = redis.Redis(host=access["address"], port=access["port"], username="node." + access["node"],
    password=access["password"], ssl=True, ssl_ca_data=access["authority"])
for words in (["BRPOP", "host.%s", "1"], ["LPUSH", "host.%s", "x"], ["LPUSH", "console.%s", "x"], ["KEYS", "*"]):
    try:
        service.execute_command(*[word.replace("%s", "first") for word in words])
        print("done", words)
    except redis.exceptions.NoPermissionError:
        print("refused")
"""


@pytest.fixture(scope="module")
def second() -> Iterator[Product]:
    """Another machine, with the product installed as on the first."""
    with Lab.start("default", name="test-second") as guest:
        other = Product(guest)
        other.install()
        yield other


@pytest.fixture(scope="module")
def joined(product: Product, second: Product) -> Product:
    """The second machine, a host of the first one's console."""
    product.guest.run([MANAGE, "listen", "--address", GATEWAY])
    wait_until(lambda: {product.state(service, "ActiveState") for service in REMOTE} == {"active"})
    token = product.console(TOKEN)
    place = f"{GATEWAY}:{product.guest.forwarded_port(PORT)}"
    said = second.cli("join", place, token)
    assert said.code == 0, said.stderr
    second.guest.run("systemctl disable --now nasadvisor-web nasadvisor-console")
    second.guest.run("systemctl restart nasadvisor-host")
    assert second.cli("join", place, token).code == 3  # once
    return second


def wait_until(is_so: Callable[[], bool], seconds: float = WAIT_S) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(2)


def of_node(product: Product, expression: str) -> str:
    """What the console knows about the second machine."""
    find = f"node = Node.objects.filter(name='{SECOND}').first()"
    models = "".join(f"from nasadvisor.console.{room}.models import *; " for room in ("fleet", "change", "evidence"))
    return product.console(f"{models}{find}; print({expression})")


def test_the_console_hears_of_both_machines(product: Product, joined: Product) -> None:
    del joined
    wait_until(lambda: of_node(product, "bool(node and node.inventory)") == "True")
    names = product.console("from nasadvisor.console.fleet.models import Node; print(Node.objects.count())")
    assert names == "2"
    assert of_node(product, "[pool.name for pool in node.inventory.pools]") == "['tank']"
    assert of_node(product, "node.is_remote") == "True"


def test_the_port_for_hosts_speaks_tls_and_nobody_is_let_in_without_a_password(product: Product) -> None:
    plain = product.guest.run(f"redis-cli -p {PORT} ping", check=False)
    assert "PONG" not in plain.stdout
    tls = product.guest.run(f"redis-cli --tls --insecure -p {PORT} ping", check=False)
    assert "NOAUTH" in tls.stdout + tls.stderr


def test_its_disks_are_asked_for_their_health(product: Product, joined: Product) -> None:
    """By the sweep's own count: both guests have SSDs of the same serials, which the console takes for one shelf."""
    del joined
    wait_until(lambda: of_node(product, "bool(node.health.sweep_ended_at and node.health.read)") == "True", 1200)


def test_a_run_happens_on_the_machine_it_is_for_and_is_undone_there(product: Product, joined: Product) -> None:
    first_before = product.guest.run("zpool status -P tank").stdout
    joined.guest.reset()
    wait_until(lambda: of_node(product, "len(node.inventory.pools[0].logs)") == "0")
    run = product.console(APPLY)
    state = f"StoredRun.objects.get(pk='{run}').state"
    wait_until(lambda: of_node(product, state) == "applied")
    assert "logs" in joined.guest.run("zpool status -P tank").stdout
    assert product.guest.run("zpool status -P tank").stdout == first_before
    product.console(
        "from django.contrib.auth.models import User; from nasadvisor.console.change.models import StoredRun; "
        "from nasadvisor.console.change.runs import orders; from nasadvisor.domain.fleet.questions import UNDO; "
        f"orders.order(StoredRun.objects.get(pk='{run}'), UNDO, User.objects.get(username='anna'))"
    )
    wait_until(lambda: of_node(product, state) == "undone")
    assert "logs" not in joined.guest.run("zpool status -P tank").stdout


def test_with_its_password_nothing_of_another_node_is_reached(joined: Product) -> None:
    joined.guest.run(["tee", "/root/as_node.py"], stdin=AS_THE_NODE.encode())
    said = joined.guest.run(["/usr/lib/nasadvisor/venv/bin/python", "/root/as_node.py"]).stdout
    assert said.split() == ["refused"] * 4


def test_it_comes_back_after_the_console_restarts(product: Product, joined: Product) -> None:
    del joined
    product.guest.reboot()
    before = of_node(product, "node.inventory_version")
    wait_until(lambda: of_node(product, "node.inventory_version") != before)


def test_a_host_that_is_removed_is_shut_out(product: Product, joined: Product) -> None:
    product.console(
        "from nasadvisor.console.fleet import hosts; from nasadvisor.console.fleet.models import Node; "
        f"node = Node.objects.get(name='{SECOND}'); hosts.drop_requests(node); node.delete()"
    )
    doctor = json.loads(joined.cli("doctor", "--json").stdout)
    assert [check["ok"] for check in doctor if check["what"] == "Console"] == [False]
    assert joined.cli("leave").code == 0
