"""The procedures as pages, with the values of the finding from which somebody comes."""

from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse

from nasadvisor.console.templatetags.nasadvisor import why
from nasadvisor.domain.statements import Finding, Statement
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.explain.procedures import BY_CODE, PROCEDURES
from tests.fixtures.machines.build import typical
from tests.unit.console.test_pages import load, page
from tests.unit.machines import home_server, with_single_log


def with_dead_log() -> Inventory:
    machine = with_single_log()
    pool = machine.pools[0]
    log = replace(pool.logs[0], state="FAULTED", write_errors=9)
    return replace(machine, pools=(replace(pool, state="DEGRADED", logs=(log,)), *machine.pools[1:]))


@pytest.mark.parametrize("name", PROCEDURES)
def test_there_is_a_page_of_each_for_a_viewer_and_no_one_else(viewer: Client, client: Client, name: str) -> None:
    load(home_server())
    shown = page(viewer, f"/steps/{name}/")
    commands = [command for step in PROCEDURES[name].steps for command in step.commands]
    assert [command for command in commands if command.partition("{")[0].strip() not in shown] == []
    client.logout()
    assert client.get(f"/steps/{name}/").status_code == 302


def test_a_name_that_there_is_none_of_is_not_found(viewer: Client) -> None:
    load(home_server())
    assert viewer.get("/steps/nonsense/").status_code == 404


def test_from_a_finding_the_commands_have_its_values(viewer: Client) -> None:
    machine = with_dead_log()
    load(machine)
    pool = machine.pools[0]
    about = f"/steps/failed-log/?code=log-missing&amp;about={pool.logs[0].guid}"
    assert f'href="{about}"' in page(viewer, reverse("pool", args=[pool.guid]))
    shown = page(viewer, about.replace("&amp;", "&"))
    assert f"zpool remove {pool.name} {pool.logs[0].guid}" in shown
    assert "zpool detach" not in shown
    assert "Show the steps for every case" in shown


def test_what_the_address_says_never_gets_into_a_command(viewer: Client) -> None:
    load(with_dead_log())
    shown = page(viewer, "/steps/failed-log/?code=log-missing&about=666&pool=evil&guid=666")
    assert "zpool remove POOL GUID" in shown
    assert "evil" not in shown.partition("<main")[2].partition('<ol class="procedure">')[2].partition("</ol>")[0]


def test_a_failed_disk_is_named_by_its_guid_and_persistent_name(viewer: Client) -> None:
    machine = typical()
    pool = machine.pools[0]
    leaf = replace(pool.data[0].children[0], state="FAULTED")
    mirror = replace(pool.data[0], state="DEGRADED", children=(leaf, *pool.data[0].children[1:]))
    machine = replace(machine, pools=(replace(pool, state="DEGRADED", data=(mirror, *pool.data[1:])),))
    load(machine)
    shown = page(viewer, f"/steps/which-disk/?code=pool-member&about={leaf.guid}")
    place = machine.place_of(leaf)
    assert f"zpool offline {pool.name} {leaf.guid}" in shown
    assert place
    assert f"smartctl -i {place[0].path}" in shown


def test_it_is_in_the_readers_language(viewer: Client) -> None:
    load(home_server())
    german = viewer.get("/steps/failed-log/", headers={"accept-language": "de"}).content.decode()
    assert "Meine Log-SSD ist ausgefallen" in german
    assert "It worked if" not in german


def test_the_explanation_of_a_code_leads_to_its_steps(viewer: Client) -> None:
    load(home_server())
    for code, found in BY_CODE.items():
        assert f"/steps/{found.name}/?code={code}" in page(viewer, f"/explain/{code}/")


def test_a_link_names_what_a_finding_is_about_and_nothing_else_has_one() -> None:
    assert "/steps/failed-log/?code=log-missing&amp;about=7" in why(Finding("log-missing", "x", subject="7"))
    assert "/steps/failed-log/?code=log-has-errors" in why(Statement("log-has-errors", "x"))
    assert "/steps/" not in why(Statement("too-small", "x"))
