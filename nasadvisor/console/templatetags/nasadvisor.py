"""Filters and tags that every template has (they are builtins, no {% load %} needed)."""

import re
import shlex
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from itertools import zip_longest
from typing import Final

from django import template
from django.forms import BoundField, CheckboxInput, Select
from django.template import Context
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.timesince import timesince, timeuntil
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, npgettext_lazy

from nasadvisor.console.accounts.single_sign_on import why_no_password
from nasadvisor.console.health.sweeps import KNOWN_WORDS
from nasadvisor.console.health.wear_bill import payee_words
from nasadvisor.console.storage.diagrams import TITLES
from nasadvisor.console.wording.badges import Badge, badge_of_state
from nasadvisor.console.wording.explain import BLANKS, address_of
from nasadvisor.console.wording.statements import lead_from, localized, marked, said, said_below, time_text, unbroken
from nasadvisor.domain.change.actions import Argv
from nasadvisor.domain.figures import milliseconds, percent, rate
from nasadvisor.domain.fleet.platforms import Guest, guest_of
from nasadvisor.domain.health.wear.bill import BillLine, WearBill
from nasadvisor.domain.health.wear.forecast import Spread, tbw_clock
from nasadvisor.domain.statements import Finding, Statement
from nasadvisor.domain.storage.inventory import Bus, VdevClass
from nasadvisor.domain.storage.names import UUID as UUID_TEXT
from nasadvisor.domain.units import GIGABYTE, TERABYTE, size_text
from nasadvisor.explain.procedures import BY_CODE

register = template.Library()

BUS_WORDS: Final[dict[Bus, str | Promise]] = {
    Bus.SATA: "SATA",
    Bus.SAS: "SAS",
    Bus.NVME: "NVMe",
    Bus.USB: "USB",
    Bus.VIRTIO: "virtio",
    Bus.MMC: "eMMC/SD",
    Bus.OTHER: gettext_lazy("other"),
}

ROLE_WORDS: Final[dict[str, str | Promise]] = {
    "log": gettext_lazy("log"),
    "cache": gettext_lazy("cache"),
    "data": gettext_lazy("data"),
    "spare": gettext_lazy("spare"),
    "special": gettext_lazy("special"),
    "dedup": gettext_lazy("dedup"),
    "system": gettext_lazy("system"),
    "other": gettext_lazy("others"),
}

JUST_NOW_S = 60
_UUID: Final = re.compile(rf"\b{UUID_TEXT}\b")
BLANK: Final = re.compile(r"\{(\w+)\}")
LONGEST_YEARS: Final = 10

AGO: Final = {
    "year": npgettext_lazy("ago", "%(num)d year", "%(num)d years", "num"),
    "month": npgettext_lazy("ago", "%(num)d month", "%(num)d months", "num"),
    "week": npgettext_lazy("ago", "%(num)d week", "%(num)d weeks", "num"),
    "day": npgettext_lazy("ago", "%(num)d day", "%(num)d days", "num"),
    "hour": npgettext_lazy("ago", "%(num)d hour", "%(num)d hours", "num"),
    "minute": npgettext_lazy("ago", "%(num)d minute", "%(num)d minutes", "num"),
}
"""What stands before "ago", which has a case of its own in some languages: German says "3 Tage", but "vor 3 Tagen"."""


@register.filter
def owner_of(guests: Iterable[Guest], dataset: str) -> str:
    """Whose a dataset or volume is, in the words of the host's platform; "" where nobody is known."""
    return guest_of(guests, dataset)


@register.filter
def sentence(statement: Statement) -> SafeString:
    """Any statement in the user's language; what stands between backticks is shown as code."""
    return marked(said(statement))


@register.filter
def sentence_below(statement: Statement) -> SafeString:
    """The same below a heading that names the disk it is about."""
    return marked(said_below(statement))


@register.filter
def code_marked(text: str) -> SafeString:
    """A text that is in the user's language already; what stands between backticks is shown as code."""
    return marked(text)


@register.filter("unbroken")
def with_whole_figures(text: str) -> str:
    """A text whose figures stay in one line with their units."""
    return unbroken(str(text))


@register.filter
def smart_words(text: str) -> str:
    """What smartctl calls a self-test or its end, in the user's language where that is known."""
    return _(text) if text in KNOWN_WORDS else text


@register.filter
def explanation(finding: Finding) -> SafeString:
    """What a finding means, in the user's language; "" where there is no more to say."""
    return (
        sentence(Statement(finding.code, finding.explanation, finding.values)) if finding.explanation else SafeString()
    )


@register.simple_tag
def why(statement: Statement | None) -> SafeString:
    """A link to what its code means, and one to what to do, where there are such pages: {% why refusal %}."""
    address = address_of(statement.code) if statement else ""
    if not statement or not address:
        return SafeString()
    named = format_html('{}<span class="visually-hidden"> ({})</span>', _("Why?"), statement.code)
    link = format_html('<a class="why-link" href="{}" title="{}">{}</a>', address, statement.code, named)
    steps = steps_address(statement)
    return format_html('{} <a class="why-link" href="{}">{}</a>', link, steps, _("Step by step")) if steps else link


def steps_address(statement: Statement) -> str:
    """The procedure for a statement, with the values of a finding; "" where there is none."""
    found = BY_CODE.get(statement.code)
    if found is None:
        return ""
    about = {"about": statement.subject} if isinstance(statement, Finding) and statement.subject else {}
    return f"{reverse('procedure', args=[found.name])}?{urlencode({'code': statement.code, **about})}"


@register.filter
def with_blanks(template: str) -> SafeString:
    """A template in the user's language, shown as it is, with a blank that has a name for each value."""
    return marked(_(template), words=_blanks, code=_blanks)


def _blanks(text: str) -> SafeString:
    parts = BLANK.split(text)
    names = (BLANKS.get(part, part) if place % 2 else part for place, part in enumerate(parts))
    shown = ((format_html("<var>{}</var>", each) if place % 2 else each,) for place, each in enumerate(names))
    return format_html_join("", "{}", shown)


@register.inclusion_tag("console/_next_step.html", takes_context=True)
def next_step(context: Context, finding: Finding) -> dict[str, object]:
    """The link that leads on from a finding, or from one that is stored: {% next_step notice.finding %}."""
    frame = context.get("frame")
    return {"lead": lead_from(finding, may_change=frame is not None and frame.may_change)}


@register.filter
def size(size_bytes: int) -> SafeString:
    """A size in binary units, the exact bytes on hover."""
    exact = number_format(size_bytes, force_grouping=True)
    return format_html('<span class="num text-nowrap" title="{} B">{}</span>', exact, localized(size_text(size_bytes)))


@register.filter("size_text")
def plain_size(size_bytes: int) -> str:
    """The same without markup, for titles and attributes."""
    return unbroken(localized(size_text(size_bytes)))


@register.filter("localized")
def localized_figures(text: str) -> str:
    """Figures that come as text, with the decimal separator of the user's language."""
    return unbroken(localized(text))


@register.filter
def grouped(number: int | None) -> str:
    """A whole number with its thousands set apart; "" where there is none."""
    return "" if number is None else number_format(number, force_grouping=True)


@register.filter
def breakable(name: str) -> SafeString:
    """A name that may go on in the next line after each of its underscores."""
    return format_html_join(SafeString("_<wbr>"), "{}", ((part,) for part in name.split("_")))


@register.filter
def bus(value: Bus) -> str:
    """A bus as people write it."""
    return str(BUS_WORDS[value])


@register.filter
def class_title(value: VdevClass) -> str:
    """An allocation class as people say it."""
    return str(TITLES[value])


@register.filter
def unlocalized(number: float) -> str:
    """A number as SVG wants it, in every language."""
    return f"{number:g}"


@register.filter
def command(argv: Argv) -> str:
    """A command as one would type it."""
    return shlex.join(argv)


@register.filter
def command_lines(argvs: Iterable[Argv]) -> str:
    """Commands as one would type them, one a line."""
    return "\n".join(shlex.join(argv) for argv in argvs)


@register.filter
def ago(moment: datetime | str | None) -> SafeString:
    """How long ago a moment was, the exact time on hover. Takes ISO 8601 too."""
    if not moment:
        return format_html("{}", _("never"))
    at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    seconds = (timezone.now() - at).total_seconds()
    passed = timesince(at, depth=1, time_strings=AGO)  # type: ignore[arg-type]  # Django's own are lazy too
    words = _("just now") if seconds < JUST_NOW_S else _("%(time)s ago") % {"time": passed}
    local = timezone.localtime(at)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', at.isoformat(), f"{local:%Y-%m-%d %H:%M:%S %Z}", words
    )


@register.filter
def span(seconds: float) -> str:
    """A length of time in the unit that fits."""
    return time_text(seconds)


@register.filter
def per_second(value: float) -> SafeString:
    """A rate as exact as it deserves, the exact one on hover."""
    shown = number_format(rate(value), force_grouping=True)
    return format_html('<span class="num" title="{}/s">{}/s</span>', number_format(value, 3), shown)


@register.filter
def ms(nanoseconds: float) -> str:
    """A time in milliseconds."""
    return unbroken(localized(milliseconds(nanoseconds))) if nanoseconds else "–"


@register.filter
def share(value: float) -> str:
    """A share in percent."""
    return unbroken(localized(percent(value)))


@register.filter
def bytes_per_second(value: float) -> SafeString:
    """Bytes a second in binary units, the exact ones on hover."""
    exact = number_format(int(value), force_grouping=True)
    shown = localized(size_text(int(value)))
    return format_html('<span class="num text-nowrap" title="{} B/s">{}/s</span>', exact, shown)


@register.filter
def ahead(moment: datetime | None) -> SafeString:
    """How far ahead a moment is, the exact time on hover."""
    if not moment:
        return format_html("{}", "–")
    local = timezone.localtime(moment)
    seconds = (moment - timezone.now()).total_seconds()
    words = _("in %(time)s") % {"time": timeuntil(moment, depth=1)}
    if seconds < JUST_NOW_S:
        words = _("in less than a minute")
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', moment.isoformat(), f"{local:%Y-%m-%d %H:%M %Z}", words
    )


@register.filter
def day(moment: date) -> str:
    """A date with its year: "28 Oct 2026"."""
    return date_format(timezone.localtime(moment) if isinstance(moment, datetime) else moment, _("j M Y"))


@register.filter
def month(moment: datetime) -> str:
    """A date that is known to the month at best: "Mar 2028"."""
    return date_format(timezone.localtime(moment), "M Y")


def _rounded(value: float) -> str:
    """With one decimal. Django's own cuts the rest off, so that one page had 22.6 TB a year and 113.3 in five."""
    return number_format(f"{value:.1f}", 1, force_grouping=True)


@register.filter
def terabytes(count: int | None) -> str:
    """Bytes written over years, in decimal terabytes as data sheets have them."""
    return "–" if count is None else f"{_rounded(count / TERABYTE)}\N{NO-BREAK SPACE}TB"


@register.filter
def gigabytes(count: int | None) -> str:
    """Bytes a day, in decimal gigabytes; terabytes where they are thousands, megabytes where less than a tenth."""
    if count is None:
        return "–"
    if 0 < count < 10**8:
        return f"{_rounded(count / 10**6)}\N{NO-BREAK SPACE}MB"
    return terabytes(count) if count >= TERABYTE else f"{_rounded(count / GIGABYTE)}\N{NO-BREAK SPACE}GB"


@register.filter
def years(spread: Spread) -> str:
    """A range of years; nobody looks further than ten."""
    if spread.low > LONGEST_YEARS:
        return _("10+ years")
    if spread.high < 1:
        low, middle, high = (number_format(round(value * 12)) for value in (spread.low, spread.middle, spread.high))
        return _("%(low)s – %(high)s months, about %(middle)s") % {"middle": middle, "low": low, "high": high}
    low, middle = (_rounded(value) for value in (spread.low, spread.middle))
    if spread.middle > LONGEST_YEARS:
        return _("10+ years (at least %(low)s)") % {"low": low}
    high = _rounded(spread.high) if spread.high <= LONGEST_YEARS else f"{LONGEST_YEARS}+"
    return _("%(middle)s years (%(low)s – %(high)s)") % {"middle": middle, "low": low, "high": high}


@register.filter
def of_rating(bytes_written: int | None, terabytes: float | None) -> str:
    """How much of the terabytes that may be written is; "" where either is unknown."""
    if bytes_written is None or not terabytes:
        return ""
    return f"{number_format(round(tbw_clock(terabytes, bytes_written, None).used_percent))}\N{NO-BREAK SPACE}%"


@register.filter
def payee(line: BillLine) -> str:
    """Whose a line of the bill of an SSD is."""
    return payee_words(line)


@register.filter
def share_in(line: BillLine, bill: WearBill) -> str:
    """A line's part of its bill in percent."""
    return share(bill.share_of(line))


@register.filter
def role_words(role: str) -> str:
    """What a disk does ("log+cache"), in the user's language."""
    return " + ".join(str(ROLE_WORDS.get(part, part)) for part in role.split("+")) if role else "–"


@register.filter
def at_key(mapping: Mapping[str, object], key: str) -> object:
    """What stands under a key, None where nothing does."""
    return mapping.get(key) if mapping else None


@register.filter
def look(state: str) -> Badge:
    """Icon, colour and word of a state of OpenZFS or of a run: {% with s=vdev.state|look %}."""
    return badge_of_state(state)


@register.inclusion_tag("console/_state.html")
def state(value: str) -> dict[str, Badge]:
    """A state as icon and word: {% state pool.state %}."""
    return {"look": badge_of_state(value)}


@register.inclusion_tag("console/_command.html")
def copyable(text: str, label: str = "") -> dict[str, str]:
    """Commands in a box with a button that copies them: {% copyable argvs|command_lines %}."""
    return {"text": text, "label": label}


@register.filter
def short_ids(text: str) -> SafeString:
    """Text with the ids of plans and runs cut to what tells them apart, whole on hover."""
    parts = _UUID.split(text)
    cut = (format_html('<abbr title="{}">{}…</abbr>', each, each[:8]) for each in _UUID.findall(text))
    pairs = zip_longest(parts, cut, fillvalue="")
    return format_html_join("", "{}{}", pairs)


@register.filter
def control(field: BoundField) -> SafeString:
    """A form field's input with Bootstrap's classes."""
    widget = field.field.widget
    css = "form-select" if isinstance(widget, Select) else "form-control"
    css = "form-check-input" if isinstance(widget, CheckboxInput) else css
    return field.as_widget(attrs={"class": f"{css} is-invalid" if field.errors else css})


@register.simple_tag(takes_context=True)
def without_password(context: Context) -> Statement | None:
    """Why the reader has no password to be asked for: {% without_password as why %}."""
    return why_no_password(context["request"])
