"""The three places of the console, and the pages of each: {% load places %}."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from nasadvisor.domain.storage.inventory import Pool

register = template.Library()

PLACES: Final[Mapping[str, str]] = {
    "account": "settings",
    "alerts": "storage",
    "pools": "storage",
    "disks": "storage",
    "evidence": "storage",
    "history": "storage",
    "reports": "storage",
    "settings": "settings",
    "wizard": "wizard",
}
"""Where the pages of a section are."""

STORAGE: Final[Mapping[str, str | Promise]] = {
    "pools": gettext_lazy("Pools"),
    "disks": gettext_lazy("Disks"),
    "history": gettext_lazy("Changes"),
    "reports": gettext_lazy("Reports"),
}
"""The pages of Storage by the names of their addresses."""

SETTINGS: Final[Mapping[str, str | Promise]] = {
    "settings": gettext_lazy("Hosts and platform"),
    "channels": gettext_lazy("Notifications"),
    "schedules": gettext_lazy("Schedules"),
    "users": gettext_lazy("Users"),
    "tokens": gettext_lazy("Tokens"),
    "audit": gettext_lazy("Audit log"),
    "account": gettext_lazy("My account"),
}

FOR_ADMINISTRATORS: Final = frozenset({"channels", "users", "tokens", "audit"})


@dataclass(frozen=True)
class Tab:
    """A link to one of several pages that belong together. `count` is of what is new there."""

    url: str
    words: str | Promise
    is_current: bool
    count: int = 0


@register.filter
def place(section: str | None) -> str:
    """The place that a section of pages belongs to; "" where it belongs to none: {{ section|place }}."""
    return PLACES.get(section or "", "")


@register.inclusion_tag("console/_tabs.html", takes_context=True)
def storage_tabs(context: Context, current: str) -> dict[str, object]:
    """The pages of Storage, and the alerts, which are about it too: {% storage_tabs "disks" %}."""
    tabs = [Tab(reverse(name), words, name == current) for name, words in STORAGE.items()]
    new = getattr(context.get("frame"), "new_alerts", 0)
    return {"label": _("Storage"), "tabs": [*tabs, Tab(reverse("alerts"), _("Alerts"), current == "alerts", new)]}


@register.inclusion_tag("console/_tabs.html", takes_context=True)
def settings_tabs(context: Context, current: str) -> dict[str, object]:
    """The pages of Settings that the reader may see: {% settings_tabs "users" %}."""
    hidden = frozenset[str]() if getattr(context.get("frame"), "is_admin", False) else FOR_ADMINISTRATORS
    names = [name for name in SETTINGS if name not in hidden]
    return {"label": _("Settings"), "tabs": [Tab(reverse(name), SETTINGS[name], name == current) for name in names]}


@register.inclusion_tag("console/_settings_below.html")
def settings_below(above: str, here: str) -> dict[str, object]:
    """The head of a page that one of Settings leads to: {% settings_below "users" title %}."""
    tab = Tab(reverse(above), SETTINGS[above], is_current=False) if above != "settings" else None
    return {"above": tab, "here": here}


@register.inclusion_tag("console/_tabs.html")
def pool_tabs(pool: Pool, current: str) -> dict[str, object]:
    """The pages of one pool: {% pool_tabs pool "evidence" %}."""
    names = {"layout": ("pool", _("Layout")), "evidence": ("evidence-pool", _("Evidence"))}
    names["history"] = ("pool-history", _("History"))
    tabs = [Tab(reverse(name, args=[pool.guid]), words, key == current) for key, (name, words) in names.items()]
    return {"label": _("Pool %(pool)s") % {"pool": pool.name}, "tabs": tabs}
