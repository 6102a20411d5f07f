"""The German catalogue."""

import ast
import itertools
import re
from pathlib import Path

from nasadvisor.explain.codes import codes

CATALOGUE = Path(__file__).parents[3] / "locale" / "de" / "LC_MESSAGES" / "django.po"
SOURCES = [Path(__file__).parents[3] / name for name in ("nasadvisor", "plugins")]
MARKS = frozenset({"_", "gettext", "gettext_lazy", "gettext_noop"})
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


def marked_in(path: Path) -> set[str]:
    """Every text in a source file that is marked for translation."""
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    marks = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in MARKS and call.args]
    return {mark.args[0].value for mark in marks if isinstance(mark.args[0], ast.Constant)}  # type: ignore[misc]


def test_it_has_every_sentence_that_the_code_can_say() -> None:
    known = {text_of(entry, "msgid") for entry in ENTRIES}
    marked = {text for source in SOURCES for path in source.rglob("*.py") for text in marked_in(path)}
    assert marked - known == set()
    assert len(marked) > 300


def test_it_has_all_that_codes_are_explained_with() -> None:
    known = {text_of(entry, "msgid") for entry in ENTRIES}
    assert {text for code in codes().values() for each in code.meanings for text in each.more} - known == set()


def test_it_says_nothing_that_only_we_would_say() -> None:
    said = "\n".join(text_of(entry, "msgid") for entry in ENTRIES)
    ours = ("Nothing needs anybody", "told of itself", "nobody takes up", "pace of late")
    assert [words for words in ours if words in said] == []


def text_of(entry: str, key: str) -> str:
    """What an entry of the catalogue has under a key."""
    lines = entry.partition(f"{key} ")[2].splitlines()
    quoted = list(itertools.takewhile(lambda line: line.startswith('"'), lines))
    return "".join(ast.literal_eval(line) for line in quoted)


BOOKISH = (
    "for good|for ever|of late|lately|anew|nothing but|all the same|ails|in the place of|shall|until now"
    "|at the most|anybody|nobody|somebody|any more|by itself|by themselves|goes? on|told|dead|dies?|look(ed|s)? at"
    "|needs? a look|tak(e|en|es|ing) back|sweeps?|drives|all right|of no use|is not there|in a year like this"
    "|(?<!{)meanwhile"
)
"""What no sentence says: permanently, recently, again, only, still, instead of, should, so far, at most, nobody as a
subject, automatically, continues, reported, failed, checked, needs attention, undone, reverted, health check, disks."""


def test_no_sentence_is_bookish() -> None:
    texts = [text for entry in ENTRIES for text in re.findall(r'^msgid(?:_plural)? "(.+)"$', entry, re.MULTILINE)]
    assert len(texts) > 2000
    assert [text for text in texts if re.search(rf"\b({BOOKISH})\b", text, re.IGNORECASE)] == []
