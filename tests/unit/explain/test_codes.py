"""The catalogue of codes: complete, made from the code, and helpful about codes that it does not have."""

import pytest

from nasadvisor.explain.codes import CATALOGUE, Catalogue, CodeKind, codes, nearest
from nasadvisor.stored.documents import from_json
from tests.unit.explain.gather import PAGE, gathered, page
from tests.unit.explain.source import said_in

MAKE = "run `make codes`"


def test_the_catalogue_is_what_the_code_says_today() -> None:
    kept = from_json(Catalogue, CATALOGUE.read_text(encoding="utf-8"))
    assert kept == Catalogue(gathered()), MAKE


def test_the_page_of_the_documentation_is_made_of_it() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(gathered()), MAKE


def test_every_code_has_a_sentence() -> None:
    assert [code for code, found in codes().items() for each in found.meanings if not each.sentences] == []


def test_every_code_but_an_errors_is_explained_beyond_its_sentence() -> None:
    """A refusal by the docstring of its function, a finding by its explanation: write that where it is missing."""
    kinds = {CodeKind.REFUSAL, CodeKind.WARNING, CodeKind.FINDING}
    assert [
        code for code, found in codes().items() for each in found.meanings if each.kind in kinds and not each.more
    ] == []


def test_it_has_refusals_warnings_findings_and_errors() -> None:
    counted = {kind: sum(each.kind is kind for code in codes().values() for each in code.meanings) for kind in CodeKind}
    assert counted[CodeKind.REFUSAL] > 90
    assert counted[CodeKind.WARNING] > 25
    assert counted[CodeKind.FINDING] > 65
    assert counted[CodeKind.ERROR] > 45


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("too-smal", "too-small"),
        ("TOO_SMALL", "too-small"),
        ("same disk", "same-disk"),
        ("checkpoint", "pool-checkpoint"),
    ],
)
def test_what_is_mistyped_is_answered_with_what_was_meant(typed: str, meant: str) -> None:
    assert meant in nearest(typed)


def test_what_looks_like_no_code_has_no_nearest() -> None:
    assert nearest("xyzzyxyzzy") == nearest("") == ()


MODULE = '''
from nasadvisor.domain.statements import Finding, Level, Refused
from nasadvisor.domain.statements import gettext_noop as _

NAME = "by-name"
TABLE = {Kind.FIRST_ONE: _("First."), "second": _("Second.")}

def TooOld(pool):
    """It is too old.

    Newer ones are not.
    """
    return Refused("too-old", _("{pool} is too old."), {"pool": pool})

def found(pool, is_bad):
    if is_bad:
        template = _("{pool} is bad.")
    else:
        template = _("{pool} is so so.")
    yield Finding("state", template, {}, Level.CRITICAL if is_bad else Level.INFO, _("It matters."))
    template = _("And it is old.")
    yield Finding(NAME, template)

def family(kind):
    return Refused(f"kind-{kind}", TABLE[kind])

class PoolAway(HostError):
    """It is not there."""

    def __init__(self):
        super().__init__(_("Import it."))
'''


def test_codes_are_read_with_all_that_can_be_said() -> None:
    said = {each.code: each for each in said_in(MODULE)}
    assert said["too-old"].sentences == ("{pool} is too old.",)
    assert said["too-old"].more == ("It is too old.", "Newer ones are not.")
    assert said["state"].sentences == ("{pool} is bad.", "{pool} is so so.")
    assert said["state"].more == ("It matters.",)
    assert said["state"].levels == ("info", "critical")
    assert said["by-name"].sentences == ("And it is old.",)
    assert said["kind-first-one"].sentences == ("First.",)
    assert said["kind-second"].sentences == ("Second.",)
    assert said["pool-away"].sentences == ("Import it.",)
    assert len(said) == 6


def test_a_code_that_cannot_be_told_from_the_source_is_no_small_matter() -> None:
    source = "from nasadvisor.domain.statements import Refused\nRefused(code_of(pool), _('No.'))"
    with pytest.raises(ValueError, match="cannot be told"):
        list(said_in(source))
