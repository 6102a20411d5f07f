"""Writing the audit log, and its page: into the database and, for fail2ban and logs elsewhere, into the journal."""

import csv
import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, Final

from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from nasadvisor.console.accounts.audit_models import Act, AuditEntry
from nasadvisor.console.accounts.roles import admin_required, user_of
from nasadvisor.console.web.sanitise import cells, sanitised

log = logging.getLogger("nasadvisor.audit")

KEPT: Final = timedelta(days=730)
PER_PAGE: Final = 100

MOST_FAILURES: Final = 1_000
"""Failed sign-ins written into the database within an hour, for strangers cause them; the journal has each."""

MOST_REFUSALS: Final = 100
"""Refusals of one user or program written down within an hour: who tries for long leaves a trace, and hides nobody."""

MOST_RESULTS: Final = 100
"""Ends of runs of one host written down within an hour, for hosts tell of them; a run ends once or twice a day."""

_COUNTED: Final = timedelta(hours=1)
_LONGEST_NAME: Final = 150
_LONGEST: Final = 255


def record(request: HttpRequest, act: Act, about: object = "") -> None:
    """Write down what somebody who is signed in has done."""
    record_as(user_of(request), request, act, about)


def record_as(user: User, request: HttpRequest, act: Act, about: object = "") -> None:
    """Write down what somebody has done who may not be signed in yet."""
    _write(act, user.get_username(), address_of(request), str(about))


def record_without_browser(act: Act, about: str) -> None:
    """Write down what happened without anybody's browser."""
    _write(act, "", "", about)


def record_result(node_name: str, result: str) -> None:
    """Write down what came of what somebody asked a host for."""
    about = f"{node_name}: "
    if _lately(Act.RUN_ENDED, about__startswith=about) < MOST_RESULTS:
        _write(Act.RUN_ENDED, "", "", f"{about}{result}")


def record_program(token_name: str, request: HttpRequest, act: Act, about: object) -> None:
    """Write down what a program has done with its token."""
    _write(act, named_after(token_name), address_of(request), str(about))


def named_after(token_name: str) -> str:
    """What a program is called where users stand as well."""
    return f"{token_name} (token)"


class Refusals:
    """Middleware: writes down who was refused what: for their role, for whose it is, or for a form that is not ours."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == HTTPStatus.FORBIDDEN and isinstance(request.user, User):
            record_refusal(request, request.user.get_username())
        return response


def record_refusal(request: HttpRequest, name: str) -> None:
    """Write down that somebody who is known was refused what this request asks for."""
    if _lately(Act.REFUSED, user_name=name) < MOST_REFUSALS:
        _write(Act.REFUSED, name, address_of(request), f"{request.method} {request.path}")


def forget(now: datetime) -> None:
    """Drop what is kept long enough."""
    AuditEntry.forget(now - KEPT)


@admin_required
def audit_page(request: HttpRequest) -> HttpResponse:
    """The entries, newest first; of one act, user or address if asked."""
    page = Paginator(_asked_for(request), PER_PAGE).get_page(request.GET.get("page"))
    asked = request.GET.copy()
    asked.pop("page", None)
    context = {
        "entries": page,
        "acts": Act.choices,
        "act": request.GET.get("act", ""),
        "user_name": request.GET.get("user", ""),
        "address": request.GET.get("address", ""),
        "asked": asked.urlencode(),
        "kept_days": KEPT.days,
        "section": "settings",
    }
    return render(request, "accounts/audit.html", context)


@admin_required
def audit_csv(request: HttpRequest) -> HttpResponse:
    """The same as a table for other programs: UTC in ISO 8601, acts by their values."""
    rows = _asked_for(request).values_list("at", "act", "user_name", "address", "about").iterator(chunk_size=1000)
    headers = {"Content-Disposition": 'attachment; filename="audit.csv"'}
    response = HttpResponse(content_type="text/csv; charset=utf-8", headers=headers)
    writer = csv.writer(response)
    writer.writerow(("at", "act", "user", "address", "about"))
    writer.writerows(map(cells, rows))
    return response


def _asked_for(request: HttpRequest) -> QuerySet[AuditEntry]:
    fields = {"act": "act", "user_name__iexact": "user", "address": "address"}
    asked = {field: request.GET[name].strip() for field, name in fields.items() if request.GET.get(name, "").strip()}
    return AuditEntry.objects.filter(**asked)


@receiver(user_logged_in)
def _signed_in(request: HttpRequest, user: Any, **_: object) -> None:
    _write(Act.SIGN_IN, user.get_username(), address_of(request))


@receiver(user_logged_out)
def _signed_out(request: HttpRequest, user: Any, **_: object) -> None:
    if user is not None:
        _write(Act.SIGN_OUT, user.get_username(), address_of(request))


@receiver(user_login_failed)
def _not_signed_in(credentials: dict[str, Any], request: HttpRequest | None = None, **_: object) -> None:
    record_failed_sign_in(request, str(credentials.get("username") or ""), credentials)


def record_failed_sign_in(request: HttpRequest | None, name: str, credentials: Mapping[str, Any]) -> None:
    """Write down that somebody tried to sign in; `credentials` have a code where it was about a second factor."""
    about = "second factor" if "code" in credentials else ""
    _write(Act.SIGN_IN_FAILED, name, address_of(request), about)


def _write(act: Act, user_name: str, address: str, about: str = "") -> None:
    name, what = str(sanitised(user_name))[:_LONGEST_NAME], str(sanitised(about))[:_LONGEST]
    # What strangers choose comes last and quoted: the first address of a line is where it came from.
    log.info("act=%s address=%s user=%r about=%r", act.value, address or "-", name, what)
    if act is Act.SIGN_IN_FAILED and _lately(act) >= MOST_FAILURES:
        return
    AuditEntry.objects.create(at=timezone.now(), act=act, user_name=name, address=address, about=what)


def _lately(act: Act, **fields: str) -> int:
    """How often this was written within the last hour."""
    return AuditEntry.objects.filter(act=act, at__gt=timezone.now() - _COUNTED, **fields).count()


def address_of(request: HttpRequest | None) -> str:
    """Where a request came from; "" where that is not known."""
    return str(request.META.get("REMOTE_ADDR", ""))[:45] if request else ""
