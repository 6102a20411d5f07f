"""The German catalogue."""

import re
from pathlib import Path

CATALOGUE = Path(__file__).parents[3] / "locale" / "de" / "LC_MESSAGES" / "django.po"
ENTRIES = CATALOGUE.read_text(encoding="utf-8").split("\n\n")[1:]


def values_in(text: str) -> set[str]:
    return set(re.findall(r"\{\w+\}|%\(\w+\)s", text))


def test_it_translates_every_text() -> None:
    untranslated = [entry for entry in ENTRIES if re.search(r'^msgstr(\[\d\])? ""$(?!\n")', entry, re.MULTILINE)]
    assert untranslated == []


def test_it_has_no_translation_that_was_only_guessed() -> None:
    assert [entry for entry in ENTRIES if re.search(r"^#,.*fuzzy", entry, re.MULTILINE)] == []


def test_it_puts_the_same_values_into_every_translation() -> None:
    for entry in ENTRIES:
        if "msgid_plural" not in entry:
            text, _, translation = entry.replace('"\n"', "").partition("\nmsgstr ")
            assert values_in(text) == values_in(translation), entry
