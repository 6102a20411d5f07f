"""Home, Storage and Settings: every page is in one of them."""

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from nasadvisor.console.health.alerts.models import StoredAlert
from nasadvisor.console.health.alerts.watch import watch
from tests.fixtures.machines.build import typical
from tests.unit.console.home.test_overview import on_host
from tests.unit.console.test_pages import load, page
from tests.unit.machines import ARCHIVE, TANK, home_server


def rail(text: str) -> list[tuple[str, str]]:
    """The addresses and names of the main menu."""
    menu = text.partition('<nav class="rail"')[2].partition("</nav>")[0]
    links = re.findall(r'<a[^>]*href="([^"]+)"[^>]*>.*?<span>([^<]+)</span>', menu, re.DOTALL)
    return [(address, name) for address, name in links]


def rail_count(text: str) -> int:
    """The number of new alerts that the main menu shows."""
    found = re.search(r'rail-count">(\d+)<', text)
    return int(found[1]) if found else 0


def current(text: str) -> list[str]:
    """Where the main menu says that one is."""
    menu = text.partition('<nav class="rail"')[2].partition("</nav>")[0]
    return re.findall(r"<a[^>]*aria-current=[^>]*>.*?<span>([^<]+)</span>", menu, re.DOTALL)


def test_there_are_three_places_and_the_wizard(operator: Client) -> None:
    load(home_server())
    places = [("/", "Home"), ("/storage/", "Storage"), ("/settings/", "Settings"), ("/wizard/", "Wizard")]
    assert rail(page(operator, "/")) == places


def test_who_may_change_nothing_is_not_led_to_the_wizard(viewer: Client) -> None:
    load(home_server())
    assert [name for _, name in rail(page(viewer, "/"))] == ["Home", "Storage", "Settings"]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/", "Home"),
        ("/alerts/", "Storage"),
        ("/storage/", "Storage"),
        (f"/pools/{TANK}/", "Storage"),
        (f"/pools/{TANK}/evidence/", "Storage"),
        (f"/pools/{TANK}/history/", "Storage"),
        ("/disks/", "Storage"),
        ("/runs/", "Storage"),
        ("/reports/", "Storage"),
        ("/settings/", "Settings"),
        ("/settings/alerts/", "Settings"),
        ("/settings/users/", "Settings"),
        ("/settings/tokens/", "Settings"),
        ("/settings/schedules/", "Settings"),
        ("/wizard/", "Wizard"),
    ],
)
def test_every_page_is_in_one_place(admin: Client, path: str, place: str) -> None:
    load(home_server())
    response = admin.get(path, follow=path == "/wizard/")
    assert current(response.content.decode()) == [place]


def test_everything_else_is_one_click_from_a_place(admin: Client) -> None:
    load(home_server())
    storage, settings = page(admin, "/storage/"), page(admin, "/settings/")
    for path in ("/disks/", "/runs/", "/reports/", "/alerts/", f"/pools/{TANK}/"):
        assert f'href="{path}"' in storage, path
    for path in ("/settings/alerts/", "/settings/users/", "/settings/tokens/", "/settings/schedules/"):
        assert f'href="{path}"' in settings, path


def test_the_alerts_of_every_host_are_on_one_page_with_the_way_to_each(operator: Client) -> None:
    on_host("nas1", typical())
    on_host("nas2", home_server())
    watch(timezone.now())
    operator.post("/node/", {"node": "nas1"})
    text = page(operator, "/alerts/")
    assert "Pool archive is DEGRADED" in text
    assert f'name="next" value="/pools/{ARCHIVE}/"' in text
    assert "nas2 ·" in text
    assert rail_count(page(operator, "/")) == StoredAlert.objects.filter(state="new").count() > 0
    assert re.search(r"nas1\s+<time[^>]*>[^<]*</time>\s*·\s*nas2\s+<time", text), "when each host was read"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/settings/alerts/", "Notifications"),
        ("/settings/schedules/", "Schedules"),
        ("/settings/users/", "Users"),
        ("/settings/tokens/", "Tokens"),
        ("/settings/audit/", "Audit log"),
        ("/settings/account/", "My account"),
    ],
)
def test_the_pages_of_settings_begin_alike(admin: Client, path: str, name: str) -> None:
    head = page(admin, path).partition('<main id="content"')[2].partition('<div class="page-head">')
    assert re.search(rf'aria-current="page">\s*{name}', head[0])
    assert re.match(rf'\s*<h2 class="h4">\s*{name}', head[2])


@pytest.mark.parametrize("path", ["/settings/alerts/", "/settings/users/", "/settings/tokens/"])
def test_what_adds_to_a_page_of_settings_is_in_its_head(admin: Client, path: str) -> None:
    text = page(admin, path)
    head = text.partition('<div class="page-head">')[2].partition("</div>")[0]
    assert f'<a class="btn btn-primary" href="{path}add/">' in head
    assert text.count("btn-primary") == 1


@pytest.mark.parametrize(
    ("path", "above"),
    [
        ("/settings/sessions/", "account"),
        ("/settings/account/authenticator/", "account"),
        ("/settings/account/passkeys/add/", "account"),
        ("/settings/account/address/", "account"),
        ("/password/", "account"),
        ("/settings/alerts/add/", "channels"),
        ("/settings/alerts/delivery/", "channels"),
        ("/settings/users/add/", "users"),
        ("/settings/tokens/add/", "tokens"),
    ],
)
def test_a_page_below_one_of_settings_leads_back_to_it(admin: Client, path: str, above: str) -> None:
    text = page(admin, path)
    crumbs = text.partition('<ol class="breadcrumb">')[2].partition("</ol>")[0]
    assert re.findall(r'href="([^"]+)"', crumbs) == ["/settings/", reverse(above)]
    assert text.partition("</ol></nav>")[2].lstrip().startswith('<h1 class="h3">')
    assert current(text) == ["Settings"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/settings/tokens/add/", "A token can read everything but never change a pool."),
        ("/settings/users/add/", "Operators can also apply plans and undo runs."),
    ],
)
def test_where_somebody_is_let_in_it_says_what_that_allows(admin: Client, path: str, said: str) -> None:
    assert said in page(admin, path)
