"""Error pages: what happened and what to do, in sentences."""

import logging
import sys

from django.conf import settings
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template import loader
from django.utils.translation import gettext as _

from nasadvisor.console.web.disk_space import FULL_BYTES, free_bytes

log = logging.getLogger(__name__)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 - Django's signature
    """400."""
    return _page(request, 400, _("The request was not understood. Nothing was changed. Go back and try again."))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403; the sentence is that of the exception."""
    return _page(request, 403, str(exception) or _("You do not have permission to do that. Nothing was changed."))


class OtherRelease(Http404):
    """What was asked for is stored, but cannot be read: a newer release of NAS Advisor wrote it, or it is damaged."""


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404; of what is stored and cannot be read, that."""
    if isinstance(exception, OtherRelease):
        return _page(
            request,
            404,
            _(
                "This stored data cannot be read: a newer release of NAS Advisor wrote it, or it is damaged. Nothing "
                "was changed. Update NAS Advisor here; `nasadvisor show` on the host reads the host's own journal."
            ),
        )
    return _page(
        request,
        404,
        _("This page does not exist. The pool, disk or run may have been removed since the link was created."),
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """500; 503 where it is the database that does not work."""
    failure = sys.exc_info()[1]
    if isinstance(failure, DatabaseError):
        return _without_database(failure)
    return _page(
        request,
        500,
        _(
            "This page failed because of a bug in NAS Advisor. Pools are not affected: the web service does not "
            "change them. `journalctl -u nasadvisor-web` shows the details; please include them in a bug report."
        ),
    )


def _without_database(failure: DatabaseError) -> HttpResponse:
    """The page has no frame, for that is asked of the database."""
    if free_bytes() < FULL_BYTES:
        sentence = _(
            "The disk with the console's database is full, so nothing was stored. Pools are not affected, and runs "
            "continue. Free up space in %(place)s on the console's host; the pages then recover automatically."
        ) % {"place": settings.STATE_DIR}
    else:
        sentence = _(
            "The console's database is not responding, so this page cannot be shown. Pools are not affected, and runs "
            "continue. The pages recover automatically once it responds; `journalctl -u nasadvisor-web` shows what is "
            "wrong."
        )
    log.error("the database does not work: %s", failure)
    page = loader.render_to_string("console/error.html", {"sentence": sentence, "status": 503})
    return HttpResponse(page, status=503)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001 - Django's signature
    """403 because the form was too old or came from elsewhere."""
    return _page(
        request,
        403,
        _("This form has expired, or the browser blocks cookies. Nothing was changed. Reload the page and try again."),
    )


def _page(request: HttpRequest, status: int, sentence: str) -> HttpResponse:
    return render(request, "console/error.html", {"sentence": sentence, "status": status}, status=status)
