"""The frame around every page."""

from django.test import Client


def test_it_shows_anonymous_visitors_nothing_but_the_login(client: Client) -> None:
    response = client.get("/")
    assert response.status_code == 302
    assert response["Location"].startswith("/login/")


def test_it_shows_viewers_the_overview(viewer: Client) -> None:
    assert viewer.get("/").status_code == 200
