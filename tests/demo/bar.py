"""The bar above each page of the demo, and the page that leads to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "name": "English",
        "demo": "Demo",
        "note": "This is a demo, nothing is changed.",
        "of": "{number} of {count}",
        "beside": "Beside the story: look around, or go back to one of its stops.",
        "back": "Back",
        "next": "Next",
        "again": "From the start",
    },
    "de": {
        "name": "Deutsch",
        "demo": "Vorführung",
        "note": "Das ist eine Vorführung, es wird nichts geändert.",
        "of": "{number} von {count}",
        "beside": "Neben der Geschichte: Sehen Sie sich um, oder kehren Sie zu einer ihrer Stationen zurück.",
        "back": "Zurück",
        "next": "Weiter",
        "again": "Von vorn",
    },
}


@dataclass(frozen=True)
class Stop:
    """A page of the story, with its title and a sentence about it by language."""

    path: str
    title: Mapping[str, str]
    said: Mapping[str, str]


def bar(
    stops: Sequence[Stop], addresses: Sequence[str], number: int | None, language: str, others: Mapping[str, str]
) -> str:
    """The bar; `number` is that of the page among the stops, None if it is none of them."""
    words = WORDS[language]
    said = escape(words["beside"] if number is None else stops[number].said[language])
    lead = words["demo"]
    if number is not None:
        lead = f"{words['of'].format(number=number + 1, count=len(stops))} · {stops[number].title[language]}"
    languages = "".join(
        f'<a class="demo-language" href="{address}" hreflang="{each}" lang="{each}">{WORDS[each]["name"]}</a>'
        for each, address in others.items()
    )
    return (
        f'<aside class="demo-bar" id="demo" aria-label="{words["demo"]}"><div class="demo-said">'
        f'<strong>{escape(lead)}</strong> <span>{said}</span> <span class="demo-note" role="status">{words["note"]}'
        f'</span></div><nav aria-label="{words["demo"]}">{_ways(stops, addresses, number, language)}{languages}'
        "</nav></aside>"
    )


def _ways(stops: Sequence[Stop], addresses: Sequence[str], number: int | None, language: str) -> str:
    words = WORDS[language]
    here = ' aria-current="step"'
    links = [
        f'<a class="demo-number" href="{address}" title="{escape(stop.title[language])}"'
        f"{here if place == number else ''}>{place + 1}</a>"
        for place, (stop, address) in enumerate(zip(stops, addresses, strict=True))
    ]
    if number is not None:
        last = number + 1 == len(stops)
        links.append(
            f'<a class="btn btn-sm btn-primary" href="{addresses[0 if last else number + 1]}" rel="next">'
            f"{words['again' if last else 'next']}</a>"
        )
    return "".join(links)


def start_page(policy: str, languages: Sequence[str]) -> str:
    """The page at which the demo begins: on to the language of the browser."""
    links = "".join(
        f'<li><a href="{each}/index.html" hreflang="{each}" lang="{each}">{WORDS[each]["name"]}</a></li>'
        for each in languages
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>NAS Advisor</title>'
        '<link rel="icon" href="static/img/icon.svg" type="image/svg+xml">'
        '<script src="static/demo/start.js" defer></script></head>'
        f"<body><h1>NAS Advisor</h1><ul>{links}</ul></body></html>\n"
    )
