"""Reading what `zpool add -n` says it would do.

It prints text only, in every version: the whole future configuration, with the new class as a heading. The names under
the heading are compared with ours by their last path component, since OpenZFS shortens what it prints.
"""

from nasadvisor.domain.change.actions import AddCache, AddLog, Slice
from nasadvisor.domain.statements import gettext_noop as _
from nasadvisor.host.errors import HostError

HEADINGS = ("dedup", "special", "logs", "cache", "spares")
"""print_vdev_tree() in cmd/zpool/zpool_main.c."""


class DryRunDiffers(HostError):  # noqa: N818 - named for what happened
    """OpenZFS would do something else than the plan says."""

    def __init__(self, heading: str, missing: list[str], text: str) -> None:
        template = _(
            "A dry run of `zpool add` would not put {slices} under {heading}, as the plan says. The pool was not "
            "changed. OpenZFS said: {answer}"
        )
        super().__init__(template, slices=", ".join(missing), heading=heading, answer=text.strip())


def check_dry_run(text: str, action: AddLog | AddCache) -> None:
    """Compare the answer of the dry run with the plan.

    Raises:
        DryRunDiffers: a slice is missing from its class, or stands under another one.
    """
    heading = "logs" if isinstance(action, AddLog) else "cache"
    sections = _sections(text)
    here = sections.get(heading, set())
    elsewhere = set[str]().union(*(names for title, names in sections.items() if title != heading))
    missing = [piece.path for piece in action.pieces if _shown(piece) not in here or _shown(piece) in elsewhere]
    if missing:
        raise DryRunDiffers(heading, missing, text)


def _sections(text: str) -> dict[str, set[str]]:
    """The last path components of all names, by heading; the pool's own data vdevs stand under ""."""
    sections: dict[str, set[str]] = {"": set()}
    heading = ""
    tree = [line for line in text.splitlines() if line.startswith("\t") and line.strip()]
    for line in tree[1:]:  # the first is the pool itself, which may be called "cache"
        name = line.strip()
        if not line.startswith("\t ") and name in HEADINGS:
            heading = name
            sections.setdefault(heading, set())
        else:
            sections[heading].add(name.rsplit("/", 1)[-1])
    return sections


def _shown(piece: Slice) -> str:
    return piece.path.rsplit("/", 1)[-1]
