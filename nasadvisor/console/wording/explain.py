"""What a code means that is shown beside a refusal, a warning or a finding: one page for each, and one of all."""

from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from nasadvisor.console.web.documentation import address_of_guide
from nasadvisor.explain.codes import Code, CodeKind, Meaning, codes, nearest
from nasadvisor.explain.procedures import BY_CODE, PROCEDURES

TITLES: Final[dict[CodeKind, str | Promise]] = {
    CodeKind.REFUSAL: gettext_lazy("Refusals"),
    CodeKind.WARNING: gettext_lazy("Warnings about a plan or an undo"),
    CodeKind.FINDING: gettext_lazy("Findings"),
    CodeKind.ERROR: gettext_lazy("Errors"),
}
WORDS: Final[dict[CodeKind, str | Promise]] = {
    CodeKind.REFUSAL: gettext_lazy("Refusal"),
    CodeKind.WARNING: gettext_lazy("Warning about a plan or an undo"),
    CodeKind.FINDING: gettext_lazy("Finding"),
    CodeKind.ERROR: gettext_lazy("Error"),
}

BLANKS: Final[dict[str, str | Promise]] = {
    "pool": pgettext_lazy("blank", "pool"),
    "disk": pgettext_lazy("blank", "disk"),
    "disks": pgettext_lazy("blank", "disks"),
    "path": pgettext_lazy("blank", "path"),
    "guid": pgettext_lazy("blank", "guid"),
    "node": pgettext_lazy("blank", "node"),
    "host": pgettext_lazy("blank", "host"),
    "state": pgettext_lazy("blank", "state"),
    "what": pgettext_lazy("blank", "what"),
    "count": pgettext_lazy("blank", "count"),
    "name": pgettext_lazy("blank", "name"),
    "reason": pgettext_lazy("blank", "reason"),
    "problem": pgettext_lazy("blank", "problem"),
    "version": pgettext_lazy("blank", "version"),
    "method": pgettext_lazy("blank", "method"),
    "percent": pgettext_lazy("blank", "percent"),
    "device": pgettext_lazy("blank", "device"),
    "devices": pgettext_lazy("blank", "devices"),
    "run": pgettext_lazy("blank", "run"),
    "dataset": pgettext_lazy("blank", "dataset"),
    "wanted": pgettext_lazy("blank", "wanted"),
    "role": pgettext_lazy("blank", "role"),
    "why": pgettext_lazy("blank", "why"),
    "kind": pgettext_lazy("blank", "kind"),
    "command": pgettext_lazy("blank", "command"),
    "key": pgettext_lazy("blank", "key"),
    "number": pgettext_lazy("blank", "number"),
    "low": pgettext_lazy("blank", "low"),
    "high": pgettext_lazy("blank", "high"),
    "room": pgettext_lazy("blank", "room"),
    "hours": pgettext_lazy("blank", "hours"),
    "days": pgettext_lazy("blank", "days"),
    "minutes": pgettext_lazy("blank", "minutes"),
    "seconds": pgettext_lazy("blank", "seconds"),
    "release": pgettext_lazy("blank", "release"),
    "other": pgettext_lazy("blank", "other"),
    "known": pgettext_lazy("blank", "known"),
    "sector": pgettext_lazy("blank", "sector"),
    "planned": pgettext_lazy("blank", "planned"),
    "setting": pgettext_lazy("blank", "setting"),
    "memory": pgettext_lazy("blank", "memory"),
    "written": pgettext_lazy("blank", "written"),
    "reserve": pgettext_lazy("blank", "reserve"),
    "said": pgettext_lazy("blank", "said"),
    "free": pgettext_lazy("blank", "free"),
    "place": pgettext_lazy("blank", "place"),
    "size": pgettext_lazy("blank", "size"),
    "time": pgettext_lazy("blank", "time"),
    "error": pgettext_lazy("blank", "error"),
    "errors": pgettext_lazy("blank", "errors"),
    "user": pgettext_lazy("blank", "user"),
    "machine": pgettext_lazy("blank", "machine"),
    "model": pgettext_lazy("blank", "model"),
    "drive": pgettext_lazy("blank", "drive"),
    "requests": pgettext_lazy("blank", "requests"),
    "first": pgettext_lazy("blank", "first"),
    "last": pgettext_lazy("blank", "last"),
    "before": pgettext_lazy("blank", "before"),
    "actual": pgettext_lazy("blank", "actual"),
    "missing": pgettext_lazy("blank", "missing"),
}
"""What those blanks of sentences are called on pages that stand in most of them; the others by their own names."""


@dataclass(frozen=True)
class Group:
    """All codes of a kind; each with what it means as that."""

    kind: CodeKind
    title: str | Promise
    rows: tuple[tuple[Code, Meaning], ...]


def explain_all(request: HttpRequest) -> HttpResponse:
    """Every code, or with `?q=` those whose name or sentence, in the reader's language, has that in it."""
    wanted = request.GET.get("q", "").strip()
    groups = [Group(kind, TITLES[kind], tuple(_rows(kind, wanted.lower()))) for kind in CodeKind]
    context = {
        "groups": [group for group in groups if group.rows],
        "wanted": wanted,
        "all": len(codes()),
        "procedures": PROCEDURES.values(),
    }
    return render(request, "explain/list.html", context)


def explain(request: HttpRequest, code: str) -> HttpResponse:
    """One code; for one that does not exist, those that look most like it, as a page that was not found."""
    found = codes().get(code)
    if found is None:
        context = {"code": code, "near": nearest(code)}
        return render(request, "explain/unknown.html", context, status=404)
    meanings = [(WORDS[meaning.kind], meaning, address_of_guide(meaning.guide)) for meaning in found.meanings]
    shown = {"code": found.code, "meanings": meanings, "procedure": BY_CODE.get(code)}
    return render(request, "explain/code.html", shown)


def address_of(code: str) -> str:
    """The page of a code; "" for one that there is none for, as those of platforms that others made."""
    return reverse("explain-code", args=[code]) if code in codes() else ""


def _rows(kind: CodeKind, wanted: str) -> list[tuple[Code, Meaning]]:
    rows = [(code, meaning) for code in codes().values() for meaning in code.meanings if meaning.kind is kind]
    return [
        (code, meaning) for code, meaning in rows if wanted in " ".join((code.code, *map(_, meaning.sentences))).lower()
    ]
