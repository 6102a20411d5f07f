"""What a code means that is shown beside a refusal, a warning or a finding: one page for each, and one of all."""

from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from nasadvisor.explain.codes import Code, Kind, Meaning, codes, nearest

TITLES: Final[dict[Kind, str | Promise]] = {
    Kind.REFUSAL: gettext_lazy("Refusals"),
    Kind.WARNING: gettext_lazy("Warnings about a plan or an undo"),
    Kind.FINDING: gettext_lazy("Findings"),
    Kind.ERROR: gettext_lazy("Errors"),
}
WORDS: Final[dict[Kind, str | Promise]] = {
    Kind.REFUSAL: gettext_lazy("Refusal"),
    Kind.WARNING: gettext_lazy("Warning about a plan or an undo"),
    Kind.FINDING: gettext_lazy("Finding"),
    Kind.ERROR: gettext_lazy("Error"),
}


@dataclass(frozen=True)
class Group:
    """All codes of a kind; each with what it means as that."""

    kind: Kind
    title: str | Promise
    rows: tuple[tuple[Code, Meaning], ...]


def explain_all(request: HttpRequest) -> HttpResponse:
    """Every code, or with `?q=` those whose name or sentence, in the reader's language, has that in it."""
    wanted = request.GET.get("q", "").strip()
    groups = [Group(kind, TITLES[kind], tuple(_rows(kind, wanted.lower()))) for kind in Kind]
    context = {"groups": [group for group in groups if group.rows], "wanted": wanted, "all": len(codes())}
    return render(request, "explain/list.html", context)


def explain(request: HttpRequest, code: str) -> HttpResponse:
    """One code; for one that does not exist, those that look most like it, as a page that was not found."""
    found = codes().get(code)
    if found is None:
        context = {"code": code, "near": nearest(code)}
        return render(request, "explain/unknown.html", context, status=404)
    meanings = [(WORDS[meaning.kind], meaning) for meaning in found.meanings]
    return render(request, "explain/code.html", {"code": found.code, "meanings": meanings})


def address_of(code: str) -> str:
    """The page of a code; "" for one that there is none for, as those of platforms that others made."""
    return reverse("explain-code", args=[code]) if code in codes() else ""


def _rows(kind: Kind, wanted: str) -> list[tuple[Code, Meaning]]:
    rows = [(code, meaning) for code in codes().values() for meaning in code.meanings if meaning.kind is kind]
    return [(code, meaning) for code, meaning in rows if wanted in _searched(code, meaning)]


def _searched(code: Code, meaning: Meaning) -> str:
    return " ".join((code.code, *map(_, meaning.sentences))).lower()
