"""Who gets where: every address of the console, for everybody, by every method. A new address needs a rule here."""

from enum import Enum
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from nasadvisor.console.accounts.models import ApiToken, new_token
from nasadvisor.console.accounts.roles import UserRole, set_role

METHODS = ["get", "post", "put", "patch", "delete", "head", "options", "trace"]
REACHED = {200, 204, 301, 302, 400, 404}
"""What an address that somebody may use answers: the samples below name nothing that there is."""


class Rule(Enum):
    """Whom an address is for."""

    OPEN = "everybody"
    SIGNED_IN = "whoever is signed in"
    OPERATOR = "operators and administrators"
    ADMIN = "administrators"
    CONFIRMED = "administrators, who type their password before anything is changed"
    TOKEN = "programs with a token, never a session"


RULES = {
    Rule.OPEN: "login login-code login-passkey setup set_language preview",
    Rule.SIGNED_IN: """overview pool explain explain-code procedure replace settings pools disks disk evidence-pool
        evidence-heat evidence-waiting evidence-curve evidence-metadata evidence-switching evidence-report wear-csv
        reports report-now report-make report alerts schedules pool-history history run-detail run-fragment
        wizard-proof choose-node refresh logout password_change sessions sessions-end session-end account authenticator
        factor-remove passkey-add passkey-make passkey-challenge passkey-remove recovery-codes account-address
        documentation""",
    Rule.OPERATOR: """evidence-measure evidence-measured evidence-trace evidence-curve-start evidence-curve-stop
        evidence-commits evidence-commits-start evidence-commits-stop
        evidence-metadata-count evidence-switching-start evidence-switching-stop sweep-now drive-self-test drive-rating
        pool-scrub drive-forget alert-acknowledge alerts-acknowledge wizard wizard-start wizard-devices wizard-answer
        cache-take-out log-take-out wizard-review run-undo run-finish run-keep forget-node
        first-hour-close""",
    Rule.ADMIN: "support-bundle channels users tokens add-host audit audit-csv",
    Rule.CONFIRMED: """user-add user-role user-active user-password token-add token-delete channel-add channel
        channel-test channel-delete alert-delivery home-assistant schedule take-back-token""",
    Rule.TOKEN: """metrics api:description api:nodes api:pools api:disks api:written api:wear api:readings api:alerts
        api:acknowledge""",
}
RULE_OF = {name: rule for rule, names in RULES.items() for name in names.split()}

SAMPLES = {
    "name": "nas",
    "guid": "1",
    "pool_guid": "1",
    "cache_guid": "1",
    "log_guid": "61",
    "key": "x",
    "pk": 1,
    "user_id": 1,
    "token": "x",
    "session_id": "x",
    "code": "too-small",
    "plan_id": UUID(int=1),
    "run_id": UUID(int=2),
    "disk_id": 1,
    "alert_id": 1,
}


def all_patterns(resolver: URLResolver, space: str = "") -> list[tuple[str, URLPattern]]:
    """Every pattern with its name, the namespace before it."""
    found: list[tuple[str, URLPattern]] = []
    for each in resolver.url_patterns:
        if isinstance(each, URLResolver):
            found.extend(all_patterns(each, f"{each.namespace}:" if each.namespace else space))
        else:
            found.append((f"{space}{each.name}", each))
    return found


PATTERNS = all_patterns(get_resolver())


def address_of(name: str, pattern: URLPattern) -> str:
    """An address that leads to a pattern, of nothing that there is."""
    return reverse(name, kwargs={each: SAMPLES[each] for each in pattern.pattern.converters})


def signed_in(role: UserRole) -> Client:
    """A browser of somebody with this role, who has not typed their password again."""
    user, _made = User.objects.get_or_create(username=f"a {role.value}")
    set_role(user, role)
    client = Client()
    client.force_login(user)
    return client


def locked_out() -> Client:
    """A browser with the cookie of an administrator who was locked out since."""
    client = signed_in(UserRole.ADMIN)
    gone = User.objects.create_user("gone", is_superuser=True)
    client.force_login(gone)
    User.objects.filter(pk=gone.pk).update(is_active=False)
    return client


def test_every_address_has_a_rule_and_every_rule_an_address() -> None:
    assert set(RULE_OF) == {name for name, _ in PATTERNS}
    assert sum(len(names.split()) for names in RULES.values()) == len(RULE_OF)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "pattern"), PATTERNS, ids=lambda each: each if isinstance(each, str) else "")
def test_nobody_gets_further_than_the_rule_says(name: str, pattern: URLPattern) -> None:
    rule, path = RULE_OF[name], address_of(name, pattern)
    for role in UserRole:
        client = signed_in(role)
        for method in METHODS:
            response = getattr(client, method)(path)
            allowed = {
                Rule.OPERATOR: role is not UserRole.VIEWER,
                Rule.ADMIN: role is UserRole.ADMIN,
                Rule.CONFIRMED: role is UserRole.ADMIN,
                Rule.TOKEN: False,
            }.get(rule, True)
            refused = 401 if rule is Rule.TOKEN else 403
            expected = REACHED | {405} if allowed else {refused, 405}
            assert response.status_code in expected, (name, role, method, response.status_code)
            if name == "logout":
                client = signed_in(role)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "pattern"), PATTERNS, ids=lambda each: each if isinstance(each, str) else "")
def test_without_a_session_there_is_only_the_login(name: str, pattern: URLPattern) -> None:
    rule, path = RULE_OF[name], address_of(name, pattern)
    text = new_token()
    maker = User.objects.create_user("maker", is_superuser=True)
    ApiToken.objects.create(name="grafana", digest=ApiToken.digest_of(text), created_by=maker)
    by_token = {"Authorization": f"Bearer {text}"}
    for client, headers in ((Client(), {}), (Client(), by_token), (locked_out(), {})):
        for method in METHODS:
            response = getattr(client, method)(path, headers=headers)
            if rule is Rule.OPEN:
                assert response.status_code in REACHED | {405}, (name, method)
            elif rule is Rule.TOKEN:
                assert response.status_code in (REACHED | {403, 405} if headers else {401, 405}), (name, method)
                assert headers or len(response.content) < 100
            else:
                assert response.status_code == 302, (name, method)
                assert response.headers["Location"].startswith("/login/")


@pytest.mark.parametrize("name", RULES[Rule.CONFIRMED].split())
def test_a_cookie_alone_changes_no_setting(cookie: Client, name: str) -> None:
    pattern = dict(PATTERNS)[name]
    response = cookie.post(address_of(name, pattern), {"name": "x", "role": "admin"})
    is_asked = b'name="password"' in response.content or response.headers.get("Location") == reverse("password_change")
    assert is_asked or response.status_code == 404
