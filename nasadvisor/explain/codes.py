"""A code and all that can be said about it, the catalogue as a whole, and the nearest to what somebody typed."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from nasadvisor.domain.statements import Level
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.stored.documents import from_json

CATALOGUE: Final = Path(__file__).with_name("catalogue.json")

MOST_NEAREST: Final = 5


class CodeKind(StrEnum):
    """In what way a code is met."""

    REFUSAL = "refusal"
    WARNING = "warning"
    FINDING = "finding"
    ERROR = "error"


FRAMES: Final = {
    CodeKind.REFUSAL: _(
        "A safety rule blocks this and cannot be overridden. Before a run, nothing was changed. During a run, the "
        "step was not started, and the completed steps are reverted. An undo that is refused as a whole changed "
        "nothing; one that is refused partway left that step as it is, reverted what it could, and can be requested "
        "again. The block ends once you fix the cause named in the message."
    ),
    CodeKind.WARNING: _(
        "This is shown before a plan is applied or a run is undone. It changes nothing and blocks nothing: applying "
        "the plan accepts it."
    ),
    CodeKind.FINDING: _(
        "This is read from the host and changes nothing on its own. A finding with the level warning or critical "
        "raises an alert: you are notified once, and again only if it gets worse. You can acknowledge it, and it "
        "clears automatically once the host no longer shows it."
    ),
    CodeKind.ERROR: _(
        "Something failed, and the message says how far it got. During a run, the completed steps are reverted; if "
        "that also fails, the run needs attention and says what to do."
    ),
}
"""What holds for all codes of a kind: whether it can be accepted, and in which state the pool is."""


@dataclass(frozen=True)
class Meaning:
    """One way in which a code is met.

    `sentences` are the templates it is said with, their values in braces; `more` is what is said beyond them. `levels`
    is empty for refusals and errors. `guide` is the page in docs that goes further.
    """

    kind: CodeKind
    sentences: tuple[str, ...]
    more: tuple[str, ...]
    levels: tuple[Level, ...]
    guide: str

    @property
    def frame(self) -> str:
        """What holds for all of its kind, as a template."""
        return FRAMES[self.kind]


@dataclass(frozen=True)
class Code:
    """A code and what it means; one code can be met in several ways, as a finding and as a refusal."""

    code: str
    meanings: tuple[Meaning, ...]


@dataclass(frozen=True)
class Catalogue:
    """Every code that this program says, in order."""

    codes: tuple[Code, ...]


@cache
def codes() -> Mapping[str, Code]:
    """The catalogue by code."""
    found = from_json(Catalogue, CATALOGUE.read_text(encoding="utf-8"))
    return MappingProxyType({each.code: each for each in found.codes})


def nearest(wanted: str) -> tuple[str, ...]:
    """The codes that look most like what was asked for: those that contain it first, then those spelled alike."""
    low = wanted.strip().lower().replace("_", "-").replace(" ", "-")
    inside = [code for code in codes() if low and low in code]
    alike = get_close_matches(low, codes(), n=MOST_NEAREST, cutoff=0.5)
    return tuple(dict.fromkeys([*inside, *alike]))[:MOST_NEAREST]
