"""A second factor: nobody who has one signs in, or changes anything, by the password alone."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client, override_settings
from hypothesis import given
from hypothesis import strategies as st

from nasadvisor.console.accounts.audit_models import AuditEntry
from nasadvisor.console.accounts.lock_out import FREE
from nasadvisor.console.accounts.models import (
    ApiToken,
    Authenticator,
    Guessed,
    PlatformAccount,
    RecoveryCode,
    WrongAnswers,
    new_token,
)
from nasadvisor.console.accounts.roles import UserRole, set_role
from nasadvisor.console.accounts.second_factor import factors
from nasadvisor.console.accounts.second_factor.second_step import HALF_FOR
from nasadvisor.console.secrets import new_key
from tests.unit.console.conftest import PASSWORD, Clock

RFC_SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
LOGIN = {"username": "olga", "password": PASSWORD}
OTHER = "a longer thing of mine 7"


@pytest.fixture(autouse=True)
def standing_clock(clock: Clock) -> None:
    """Codes last as long as a test needs them."""


class App:
    """Somebody's phone."""

    def __init__(self, clock: Clock, secret: str = RFC_SECRET) -> None:
        self.clock, self.secret = clock, secret

    def code(self) -> str:
        """A code that has not been shown before: time passes until there is one."""
        self.clock.pass_by(timedelta(seconds=factors.STEP_S))
        return self.shown()

    def shown(self, ahead: int = 0) -> str:
        """The code that is shown now, or so many steps ahead."""
        return factors.code_at(self.secret, int(self.clock.now.timestamp()) // factors.STEP_S + ahead)


@pytest.fixture
def olga() -> User:
    """An administrator with an app. Her recovery codes are `RecoveryCode`s nobody has seen."""
    user = User.objects.create_user("olga", password=PASSWORD)
    set_role(user, UserRole.ADMIN)
    factors.add_authenticator(user, RFC_SECRET, 0, START)
    return user


@pytest.fixture
def app(clock: Clock) -> App:
    """Her phone."""
    return App(clock)


@pytest.fixture
def signed_in(client: Client, olga: User, app: App) -> Client:
    """Her browser."""
    client.post("/login/", LOGIN)
    assert client.post("/login/code/", {"code": app.code()}).headers["Location"] == "/"
    return client


def is_signed_in(client: Client) -> bool:
    return client.get("/settings/account/").status_code == 200


def secret_on(page: str) -> str:
    (secret,) = re.findall(r"<code>([A-Z2-7]{32})</code>", page)
    return str(secret)


@pytest.mark.parametrize(
    ("seconds", "code"),
    [(59, "287082"), (1111111109, "081804"), (1111111111, "050471"), (1234567890, "005924"), (20000000000, "353130")],
)
def test_codes_are_those_of_rfc_6238(seconds: int, code: str) -> None:
    """Its appendix B, of which six digits are the last six."""
    assert factors.step_of(RFC_SECRET, code, datetime.fromtimestamp(seconds, UTC)) == seconds // 30


@given(st.integers(-5, 5))
def test_a_clock_may_be_one_step_off_and_no_more(steps: int) -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    here = int(now.timestamp()) // factors.STEP_S
    found = factors.step_of(RFC_SECRET, factors.code_at(RFC_SECRET, here + steps), now)
    assert found == (here + steps if abs(steps) <= 1 else None)


@given(st.text(max_size=64))
def test_whatever_is_typed_is_right_only_if_it_is_the_code(typed: str) -> None:
    here = int(START.timestamp()) // factors.STEP_S
    codes = {factors.code_at(RFC_SECRET, here + off) for off in (-1, 0, 1)}
    step = factors.step_of(RFC_SECRET, typed, START)
    assert (step is not None) == (re.sub(r"\s", "", typed) in codes)


def test_the_password_alone_signs_nobody_in_who_has_a_second_factor(client: Client, olga: User) -> None:
    assert client.post("/login/", LOGIN).headers["Location"] == "/login/code/"
    for path in ("/", "/settings/", "/settings/account/", "/settings/users/", "/settings/account/factor/remove/"):
        assert client.get(path).headers["Location"].startswith("/login/?next="), path
    assert (
        client.post("/settings/account/factor/remove/", {"password": PASSWORD})
        .headers["Location"]
        .startswith("/login/")
    )
    assert factors.has_factor(olga)
    assert not AuditEntry.objects.filter(act="sign-in").exists()


def test_the_code_after_the_password_signs_in_and_leads_where_one_wanted(client: Client, olga: User, app: App) -> None:
    client.post("/login/", {**LOGIN, "next": "/disks/"})
    asked = client.get("/login/code/").content.decode()
    assert "reset_second_factor olga" in asked, "a command that works as it stands"
    assert 'autocomplete="one-time-code"' in asked
    assert client.post("/login/code/", {"code": app.code()}).headers["Location"] == "/disks/"
    assert is_signed_in(client)


def test_the_code_without_the_password_signs_nobody_in(client: Client, olga: User, app: App) -> None:
    for fields in ({"code": app.code()}, {"code": app.code(), "username": "olga"}):
        assert client.post("/login/code/", fields).headers["Location"] == "/login/"
        assert client.post("/login/", {**fields, "password": "wrong"}).status_code == 200
    assert not is_signed_in(client)


def test_a_code_that_was_used_is_refused_and_so_is_an_older_one(signed_in: Client, olga: User, app: App) -> None:
    other = Client()
    other.post("/login/", LOGIN)
    for ahead in (0, -1):
        answer = other.post("/login/code/", {"code": app.shown(ahead)}).content.decode()
        assert "was already used" in answer
    assert not is_signed_in(other)
    other.post("/login/code/", {"code": app.code()})
    assert is_signed_in(other)


def test_the_code_has_to_come_soon_after_the_password(client: Client, olga: User, app: App, clock: Clock) -> None:
    client.post("/login/", LOGIN)
    clock.pass_by(HALF_FOR)
    assert client.post("/login/code/", {"code": app.code()}).headers["Location"] == "/login/"
    assert not is_signed_in(client)


def changed(user: User) -> None:
    user.set_password("another password")
    user.save()


def locked_out(user: User) -> None:
    user.is_active = False
    user.save()


@pytest.mark.parametrize("change", [changed, locked_out, factors.remove_factors])
def test_what_changed_since_the_password_was_typed_makes_it_worth_nothing(
    client: Client, olga: User, app: App, change: Callable[[User], object]
) -> None:
    client.post("/login/", LOGIN)
    change(olga)
    assert client.post("/login/code/", {"code": app.code()}).headers["Location"] == "/login/"
    assert not is_signed_in(client)


def test_guessed_codes_count_like_guessed_passwords(client: Client, olga: User, app: App) -> None:
    """Proves too that the right password between them forgives nothing, and that no code is kept where guesses are."""
    statuses = []
    for _attempt in range(FREE[Guessed.NAME]):
        client.post("/login/", LOGIN)
        statuses.append(client.post("/login/code/", {"code": "12345x"}).status_code)
    assert statuses == [200] * (FREE[Guessed.NAME] - 1) + [429]
    assert client.post("/login/code/", {"code": app.code()}).status_code == 429
    assert not is_signed_in(client)
    assert set(AuditEntry.objects.values_list("act", "user_name", "about")) == {
        ("sign-in-failed", "olga", "second factor")
    }
    assert "12345x" not in str(list(WrongAnswers.objects.values()))


def test_a_recovery_code_signs_in_once(client: Client, olga: User) -> None:
    codes = factors.new_recovery_codes(olga)
    assert len(set(codes)) == factors.RECOVERY_CODES
    client.post("/login/", LOGIN)
    client.post("/login/code/", {"code": codes[0].lower().replace("-", " ")})
    assert is_signed_in(client)
    assert AuditEntry.objects.filter(act="recovery-code-used", user_name="olga").count() == 1
    again = Client()
    again.post("/login/", LOGIN)
    assert again.post("/login/code/", {"code": codes[0]}).status_code == 200
    assert not is_signed_in(again)
    assert f"{len(codes) - 1} recovery codes are left" in " ".join(
        client.get("/settings/account/").content.decode().split()
    )


def test_neither_secret_nor_recovery_code_can_be_read_in_the_database(olga: User) -> None:
    codes = factors.new_recovery_codes(olga)
    stored = str([*Authenticator.objects.values(), *RecoveryCode.objects.values()])
    assert not any(text in stored for text in (RFC_SECRET, *codes, *(code.replace("-", "") for code in codes)))


def test_recovery_codes_of_somebody_else_open_nothing(client: Client, olga: User) -> None:
    eve = User.objects.create_user("eve", password=PASSWORD)
    codes = factors.add_authenticator(eve, factors.new_secret(), 0, START)
    client.post("/login/", LOGIN)
    client.post("/login/code/", {"code": codes[0]})
    assert not is_signed_in(client)


def test_an_app_is_set_up_with_its_first_code_and_the_password(viewer: Client, clock: Clock) -> None:
    """Proves it for a viewer, who may change nothing but this."""
    page = viewer.get("/settings/account/authenticator/").content.decode()
    phone = App(clock, secret_on(page))
    assert "<svg" in page
    assert "style=" not in re.search(r"<svg.*?</svg>", page, re.DOTALL)[0]  # type: ignore[index]
    path = "/settings/account/authenticator/"
    for wrong in ({"code": "000000", "password": PASSWORD}, {"code": phone.code(), "password": "wrong"}):
        assert secret_on(viewer.post(path, wrong).content.decode()) == phone.secret
        assert not Authenticator.objects.exists()
    codes = re.findall(
        r"(?:[A-Z2-7]{4}-){5}[A-Z2-7]{4}",
        viewer.post(path, {"code": phone.code(), "password": PASSWORD}).content.decode(),
    )
    assert len(codes) == factors.RECOVERY_CODES
    assert AuditEntry.objects.filter(act="factor-added", user_name="viewer").count() == 1
    assert codes[0] not in viewer.get("/settings/account/").content.decode()
    assert secret_on(viewer.get(path).content.decode()) != phone.secret


def test_the_code_that_set_an_app_up_is_used(viewer: Client, clock: Clock) -> None:
    path = "/settings/account/authenticator/"
    phone = App(clock, secret_on(viewer.get(path).content.decode()))
    viewer.post(path, {"code": phone.code(), "password": PASSWORD})
    browser = Client()
    browser.post("/login/", {"username": "viewer", "password": PASSWORD})
    assert browser.post("/login/code/", {"code": phone.shown()}).status_code == 200
    assert not is_signed_in(browser)


@pytest.mark.parametrize("path", ["authenticator", "factor/remove", "recovery-codes"])
def test_a_stolen_cookie_and_the_password_do_not_touch_the_second_factor(
    signed_in: Client, olga: User, path: str, app: App
) -> None:
    """Proves it right after the sign-in and within the minutes in which settings ask for nothing again."""
    signed_in.post("/settings/tokens/add/", {"name": "x", "password": app.code()})
    before = [*Authenticator.objects.values("secret"), *RecoveryCode.objects.values()]
    page = signed_in.get(f"/settings/account/{path}/").content.decode()
    code = App(app.clock, secret_on(page)).shown() if path == "authenticator" else ""
    for password in ("", PASSWORD, app.shown()):
        signed_in.post(f"/settings/account/{path}/", {"code": code, "password": password})
    assert [*Authenticator.objects.values("secret"), *RecoveryCode.objects.values()] == before


def test_a_stolen_cookie_and_the_password_do_not_change_the_password(signed_in: Client, olga: User, app: App) -> None:
    new = {"old_password": PASSWORD, "new_password1": OTHER, "new_password2": OTHER}
    for code in ("", "000000", app.shown()):  # the last one was used to sign in
        signed_in.post("/password/", {**new, "code": code})
        olga.refresh_from_db()
        assert olga.check_password(PASSWORD)
    assert AuditEntry.objects.filter(act="re-entry-failed", user_name="olga").exists()
    assert signed_in.post("/password/", {**new, "code": app.code()}).status_code == 302
    olga.refresh_from_db()
    assert olga.check_password(OTHER)


def test_a_code_takes_the_second_factor_away(signed_in: Client, olga: User, app: App) -> None:
    assert signed_in.post("/settings/account/factor/remove/", {"password": app.code()}).status_code == 302
    assert not factors.has_factor(olga)
    assert not RecoveryCode.objects.exists()
    assert AuditEntry.objects.filter(act="factor-removed", user_name="olga").exists()
    assert Client().post("/login/", LOGIN).headers["Location"] == "/"


def test_what_changes_something_asks_for_a_code_and_not_for_the_password(signed_in: Client, app: App) -> None:
    asked = signed_in.get("/settings/tokens/add/").content.decode()
    assert 'autocomplete="one-time-code"' in asked
    assert "current-password" not in asked
    assert (
        "That code is wrong"
        in signed_in.post("/settings/tokens/add/", {"name": "x", "password": PASSWORD}).content.decode()
    )
    assert not ApiToken.objects.exists()
    signed_in.post("/settings/tokens/add/", {"name": "x", "password": app.code()})
    assert ApiToken.objects.count() == 1


def test_a_recovery_code_stands_for_the_code_before_a_change_too(signed_in: Client, olga: User) -> None:
    code = factors.new_recovery_codes(olga)[0]
    for name in ("first", "second"):
        Client.post(signed_in, "/settings/tokens/add/", {"name": name, "password": code})
        session = signed_in.session
        session.pop("confirmed_at", None)
        session.save()
    assert list(ApiToken.objects.values_list("name", flat=True)) == ["first"]


def test_codes_guessed_with_a_stolen_cookie_have_to_wait(signed_in: Client, app: App) -> None:
    for _attempt in range(FREE[Guessed.USER]):
        signed_in.post("/settings/tokens/add/", {"name": "x", "password": "000000"})
    assert (
        "Try again in 1 minute."
        in signed_in.post("/settings/tokens/add/", {"name": "x", "password": app.code()}).content.decode()
    )
    assert not ApiToken.objects.exists()


def test_every_page_that_asks_again_asks_for_what_is_checked() -> None:
    """Each form with a password that is made is handed to `asked_of`."""
    console = Path(settings.BASE_DIR) / "nasadvisor" / "console"
    kinds = re.compile(
        r"(?<!class )\b(?:PasswordForm|AddHostForm|MeasureForm|ApplyForm|AuthenticatorForm|NameForm)\((?!PasswordForm)"
    )
    calls = [
        line.strip()
        for path in console.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if kinds.search(line) and not line.startswith("class ")
    ]
    assert len(calls) >= 8
    assert [line for line in calls if "asked_of(request, " not in line] == []


def test_tokens_of_programs_ask_for_no_code(olga: User) -> None:
    text = new_token()
    ApiToken.objects.create(name="grafana", digest=ApiToken.digest_of(text), created_by=olga)
    with override_settings(SECOND_FACTOR="everybody"):
        assert Client().get("/metrics", headers={"Authorization": f"Bearer {text}"}).status_code == 200


@pytest.mark.parametrize(
    ("required", "led"),
    [
        ("no", set()),
        ("administrators", {UserRole.ADMIN}),
        ("operators", {UserRole.ADMIN, UserRole.OPERATOR}),
        ("everybody", set(UserRole)),
    ],
)
def test_whoever_must_have_one_and_has_none_gets_only_to_setting_one_up(required: str, led: set[UserRole]) -> None:
    with override_settings(SECOND_FACTOR=required):
        for role in UserRole:
            user = User.objects.create_user(role.value, password=PASSWORD)
            set_role(user, role)
            browser = Client()
            browser.post("/login/", {"username": role.value, "password": PASSWORD})
            for path in ("/", "/disks/", "/settings/account/", "/password/", "/settings/users/"):
                for ask in (browser.get, browser.post):
                    location = ask(path).headers.get("Location")
                    assert (location == "/settings/account/authenticator/") == (role in led), (role, path)
            assert browser.get("/settings/account/authenticator/").status_code == 200


def test_once_it_is_set_up_the_way_is_free(client: Client, clock: Clock) -> None:
    User.objects.create_user("olga", password=PASSWORD)
    with override_settings(SECOND_FACTOR="everybody"):
        client.post("/login/", LOGIN)
        path = "/settings/account/authenticator/"
        page = client.get(path).content.decode()
        assert "must have a second factor" in page
        client.post(path, {"code": App(clock, secret_on(page)).code(), "password": PASSWORD})
        assert client.get("/").status_code == 200


def test_whom_a_platform_signs_in_has_the_factor_of_the_platform(client: Client) -> None:
    user = User.objects.create_user("root@pam")
    PlatformAccount.objects.create(user=user, platform="somewhere")
    client.force_login(user)
    with override_settings(SECOND_FACTOR="everybody"):
        assert "Your platform signs you in" in client.get("/settings/account/").content.decode()
        assert client.get("/settings/account/authenticator/").status_code == 403


def test_administrators_see_who_has_one(admin: Client, olga: User) -> None:
    User.objects.create_user("nina")
    rows = admin.get("/settings/users/").content.decode().split('<th scope="row">')[1:]
    assert [row.split("<")[0] for row in rows if "with a second factor" in row] == ["olga"]


def test_an_administrator_of_the_machine_takes_it_away_and_that_is_written_down(signed_in: Client, olga: User) -> None:
    said = StringIO()
    call_command("reset_second_factor", "olga", stdout=said)
    assert "signed out everywhere" in said.getvalue()
    assert not factors.has_factor(olga)
    assert not is_signed_in(signed_in)
    assert AuditEntry.objects.filter(act="factors-reset", about="olga", address="").count() == 1
    for name in ("olga", "nobody"):
        with pytest.raises(CommandError, match="Nothing was changed"):
            call_command("reset_second_factor", name)


def test_with_another_key_it_says_why_no_code_is_right_and_a_recovery_code_still_is(
    client: Client, olga: User, app: App, tmp_path: Path
) -> None:
    codes = factors.new_recovery_codes(olga)
    other = tmp_path / "other-key"
    other.write_text(new_key())
    with override_settings(CHANNEL_KEY_FILE=other):
        client.post("/login/", LOGIN)
        assert "another key" in client.post("/login/code/", {"code": app.code()}).content.decode()
        client.post("/login/code/", {"code": codes[0]})
        assert is_signed_in(client)
