"""The pages that say what codes mean."""

import pytest
from django.test import Client
from django.utils import translation

from nasadvisor.console.templatetags.nasadvisor import why, with_blanks
from nasadvisor.domain.statements import Statement
from nasadvisor.explain.codes import codes


def page(client: Client, path: str, status: int = 200) -> str:
    response = client.get(path)
    assert response.status_code == status, path
    return response.content.decode()


def test_a_viewer_reads_what_a_code_means(viewer: Client) -> None:
    shown = page(viewer, "/explain/too-small/")
    assert "Choose a smaller size, less reserve or another SSD." in shown
    assert "A safety rule blocks this and cannot be overridden" in shown
    assert "docs/explanation/safety.md" in shown


@pytest.mark.parametrize(("code", "status"), [("too-small", 200), ("too-smal", 404)])
def test_it_leads_back_to_all_codes(viewer: Client, code: str, status: int) -> None:
    crumbs = page(viewer, f"/explain/{code}/", status).partition('<ol class="breadcrumb">')[2].partition("</ol>")[0]
    assert 'href="/explain/"' in crumbs
    assert crumbs.count("<li") == 2


def test_nobody_unauthenticated_reads_it(client: Client) -> None:
    assert client.get("/explain/too-small/").status_code == 302
    assert client.get("/explain/").status_code == 302


def test_a_code_that_is_met_in_two_ways_is_explained_in_both(viewer: Client) -> None:
    shown = page(viewer, "/explain/pool-checkpoint/")
    assert "Refusal" in shown
    assert "Finding" in shown


@pytest.mark.slow
def test_there_is_a_page_for_every_code(viewer: Client) -> None:
    for code in codes():
        page(viewer, f"/explain/{code}/")


def test_all_codes_are_listed_and_found_by_their_words(viewer: Client) -> None:
    everything = page(viewer, "/explain/")
    assert all(f"/explain/{code}/" in everything for code in codes())
    found = page(viewer, "/explain/?q=CHECKPOINT")
    assert "/explain/pool-checkpoint/" in found
    assert "/explain/too-small/" not in found
    assert "No code or sentence contains this text." in page(viewer, "/explain/?q=xyzzy")


def test_an_unknown_code_is_not_found_but_answered_with_the_nearest(viewer: Client) -> None:
    assert "/explain/too-small/" in page(viewer, "/explain/too-smal/", 404)


def test_it_is_said_in_the_readers_language(viewer: Client) -> None:
    shown = viewer.get("/explain/too-small/", headers={"accept-language": "de"}).content.decode()
    assert "Ablehnung" in shown
    assert "lässt sich nicht umgehen" in shown
    assert "<var>Platte</var>" in shown
    assert "<var>disk</var>" not in shown


def test_values_are_blanks_with_a_name_and_commands_are_code() -> None:
    with translation.override("en"):
        shown = with_blanks("Run `zpool clear {pool}` <now>.")
    assert shown == "Run <code>zpool clear <var>pool</var></code> &lt;now&gt;."


@pytest.mark.parametrize("statement", [None, Statement("no-such-code", "Hello.")])
def test_what_has_no_page_has_no_link(statement: Statement | None) -> None:
    assert why(statement) == ""


def test_what_has_a_page_is_linked_to_it() -> None:
    assert 'href="/explain/too-small/"' in why(Statement("too-small", "No room."))
