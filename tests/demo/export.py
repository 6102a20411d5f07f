"""Pages of the console as files that a browser opens without a server."""

import json
import os
import re
import shutil
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client
from django.utils import timezone

from nasadvisor.console.fleet.models import Node
from tests.demo.bar import Stop, bar, start_page
from tests.demo.machine import somebody

LANGUAGES: Final = ("en", "de")

SHOWN: Final = re.compile(
    r"/((storage|wizard|runs|alerts|disks|reports|reports/now)/"
    r"|(explain|steps|replace)/[\w-]+/|(pools|wizard|plans|runs|evidence|disks)/.+)?"
)
"""What is written of all that a page links to. The rest is about the console itself, or is no page."""

OWN: Final = Path(__file__).with_name("static")

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'none'; form-action 'none'; base-uri 'none'"
)
"""No less strict than that of the console (settings.CONTENT_SECURITY_POLICY). A page cannot say who may frame it."""


@dataclass
class Export:
    """The pages of one language, of which some are still to be written."""

    language: str
    stops: Sequence[Stop]
    target: Path
    shown: re.Pattern[str]
    client: Client = field(default_factory=somebody)
    written: dict[str, str] = field(default_factory=dict)
    """Pages by their paths in the console."""
    files: set[str] = field(default_factory=set)
    """Static files that they name."""

    def fetch(self) -> None:
        """Ask the console for the stops, and for all that they lead to."""
        self.client.cookies[settings.LANGUAGE_COOKIE_NAME] = self.language
        waiting = deque(stop.path for stop in self.stops)
        seen = set(waiting)
        while waiting:
            path = waiting.popleft()
            _hear_from_the_host()
            answer = self.client.get(path)
            if answer.status_code == 200 and "text/html" in answer.headers["Content-Type"]:
                self.written[path] = answer.content.decode()
                for link in map(_path_in, re.findall(r'<a\b[^>]*?\bhref="([^"]*)"', self.written[path])):
                    if self.shown.fullmatch(link) and link not in seen:
                        seen.add(link)
                        waiting.append(link)

    def write(self) -> None:
        """All pages, each with links to those that are written, and the static files that they name."""
        for path, text in self.written.items():
            file = self.target / _file_of(path, self.language)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self._as_file(path, text), encoding="utf-8")

    def _as_file(self, path: str, text: str) -> str:
        here = _file_of(path, self.language).parent
        text = re.sub(r"""\s(?:hx-[\w-]+|data-keep)=(?:"[^"]*"|'[^']*')""", "", text)
        text = re.sub(r'<input type="hidden" name="csrfmiddlewaretoken"[^>]*>', "", text)
        text = re.sub(r'<script src="[^"]*htmx\.min\.js"[^>]*></script>', "", text)
        text = re.sub(r"<form\b([^>]*)>", _inert, text)
        text = re.sub(r'\b(href|src)="(/[^"]*|\?[^"]*)"', self._link_from(here), text)
        text = text.replace('<meta charset="utf-8">', f'<meta charset="utf-8">{self._head(here)}', 1)
        return re.sub(
            r"(<body\b[^>]*>)", lambda found: found[1] + self._bar(path, here) + self._heat(text), text, count=1
        )

    def _link_from(self, here: Path) -> Callable[[re.Match[str]], str]:
        def link(found: re.Match[str]) -> str:
            attribute, address = found[1], unescape(found[2])
            if address.startswith(settings.STATIC_URL):
                self.files.add(unquote(urlsplit(address).path.removeprefix(settings.STATIC_URL)))
                return f'{attribute}="{_relative(Path("static", address.removeprefix(settings.STATIC_URL)), here)}"'
            path = _path_in(address)
            if path not in self.written:
                return f'{attribute}="#demo" data-demo-off'
            fragment = urlsplit(address).fragment
            return f'{attribute}="{_relative(_file_of(path, self.language), here)}{"#" if fragment else ""}{fragment}"'

        return link

    def _head(self, here: Path) -> str:
        own = _relative(Path("static", "demo"), here)
        return (
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            f'<link rel="stylesheet" href="{own}/demo.css"><script src="{own}/demo.js" defer></script>'
        )

    def _bar(self, path: str, here: Path) -> str:
        addresses = [_relative(_file_of(stop.path, self.language), here) for stop in self.stops]
        others = {each: _relative(_file_of(path, each), here) for each in LANGUAGES if each != self.language}
        number = next((number for number, stop in enumerate(self.stops) if stop.path == path), None)
        return bar(self.stops, addresses, number, self.language, others)

    def _heat(self, page: str) -> str:
        """What the heat map of a page would ask for once it is opened."""
        found = re.search(r'id="heatmap" data-url="([^"]*)"', page)
        if not found:
            return ""
        data = json.dumps(self.client.get(unescape(found[1])).json()).replace("<", r"\u003c")
        return f'<script type="application/json" id="demo-heat">{data}</script>'


def export(stops: Sequence[Stop], target: Path, shown: re.Pattern[str] = SHOWN) -> int:
    """Write the demo; how many pages that are. `shown` are the paths of pages beside the stops."""
    shutil.rmtree(target, ignore_errors=True)
    exports = [Export(language, stops, target, shown) for language in LANGUAGES]
    for each in exports:
        each.fetch()
        each.write()
    for name in sorted({name for each in exports for name in each.files}):
        _copy(name, target)
    shutil.copytree(OWN, target / "static" / "demo")
    (target / "index.html").write_text(start_page(POLICY, LANGUAGES), encoding="utf-8")
    return sum(len(each.written) for each in exports)


def _hear_from_the_host() -> None:
    """Writing takes longer than a host may be silent."""
    now = timezone.now()
    Node.objects.update(last_contact=now, inventory_read_at=now)


def _copy(name: str, target: Path) -> None:
    """A static file, and what a style sheet names beside it."""
    source, place = Path(str(finders.find(name))), target / "static" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, place)
    if source.suffix == ".css":
        for named in re.findall(r"url\([\"']?(?!data:)([^\"')?#]+)", source.read_text(encoding="utf-8")):
            _copy(os.path.normpath(Path(name).parent / named), target)


def _path_in(address: str) -> str:
    """The path of a page; "" for any other address. Steps are the same whichever code leads there."""
    parts = urlsplit(unescape(address))
    is_ours = not parts.scheme and parts.path.startswith("/") and parts.path.endswith("/")
    return parts.path if is_ours and (not parts.query or parts.path.startswith("/steps/")) else ""


def _file_of(path: str, language: str) -> Path:
    return Path(language, unquote(path).strip("/"), "index.html")


def _relative(file: Path, here: Path) -> str:
    return quote(os.path.relpath(file, here))


def _inert(form: re.Match[str]) -> str:
    """A form that is not sent: outside of a dialog, this method does nothing (HTML, "form submission algorithm")."""
    kept = re.sub(r'\s(?:method|action|enctype)="[^"]*"', "", form[1])
    return f'<form method="dialog" novalidate{kept}>'
