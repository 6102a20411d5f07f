"""Which pictures there are, and where they are kept; asked for before Django is set up."""

from pathlib import Path
from typing import Final

PICTURES: Final = Path(__file__).resolve().parents[3] / "build" / "screens"
STATES: Final = ("nothing", "empty", "one-disk", "large", "failing", "three-hosts", "undecided", "story")
WIDTHS: Final = {390: 844, 768: 1024, 1440: 900}
THEMES: Final = ("light", "dark")
LANGUAGES: Final = ("en", "de")
PAGE, VARIANT = "NASADVISOR_SCREENS_PAGE", "NASADVISOR_SCREENS_VARIANT"
"""Of what pictures are taken: expressions in the environment, for pytest takes no words of its own from us."""
