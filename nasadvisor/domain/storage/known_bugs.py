"""What is said of known bugs of OpenZFS; which releases have them stands in `releases`."""

from typing import Final

from nasadvisor.domain.statements import Statement
from nasadvisor.domain.statements import gettext_noop as _

MULTIHOST_HOLE_WHY: Final = Statement(
    "multihost-hole",
    _(
        "taking a log out again leaves a hole, and a pool with multihost=on and a hole is then refused at import as in "
        "use by another host (issue 18823). Update OpenZFS to 2.3.9 or 2.4.4 first."
    ),
)
