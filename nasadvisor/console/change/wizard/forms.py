"""What the wizard asks."""

from dataclasses import replace
from typing import Any, Final

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from nasadvisor.console.accounts.passwords import PasswordForm
from nasadvisor.console.change.wizard.acceptance import Risk
from nasadvisor.console.change.wizard.devices import DiskChoice, offered_keys
from nasadvisor.console.change.wizard.draft import MIRROR, Draft
from nasadvisor.domain.change.actions import Naming, Role
from nasadvisor.domain.change.plan import MAX_RESERVE_PERCENT
from nasadvisor.domain.storage.inventory import Inventory
from nasadvisor.domain.units import DAY_S, HOUR_S, parse_size

MIRROR_SIDES: Final = 2


class DevicesForm(forms.Form):
    """Which disks carry the log, and which a cache. Only offered disks are accepted."""

    log = forms.MultipleChoiceField(required=False)
    cache = forms.MultipleChoiceField(required=False)

    def __init__(self, data: Any, choices: tuple[DiskChoice, ...], draft: Draft) -> None:
        super().__init__(data)
        self.draft = draft
        for name, role in (("log", Role.LOG), ("cache", Role.CACHE)):
            field = self.fields[name]
            assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101 - declared above
            field.choices = [(key, key) for key in offered_keys(choices, role)]
            field.error_messages["invalid_choice"] = _(
                "One of the chosen disks is not available. The reason is shown next to it."
            )

    def offered(self, name: str, keys: list[str]) -> tuple[str, ...]:
        """Those keys that may be chosen in a field."""
        field = self.fields[name]
        assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101 - declared above
        return tuple(key for key in keys if field.valid_value(key))

    def clean(self) -> dict[str, Any]:
        log, cache = self.cleaned_data.get("log", []), self.cleaned_data.get("cache", [])
        if not self.errors and self.draft.attach_to and len(log) != 1:
            raise forms.ValidationError(_("Choose exactly one SSD for the new side of the log."))
        if not self.errors and self.draft.dead_log and not log:
            raise forms.ValidationError(_("Choose at least one SSD for the new log."))
        if not self.errors and not log and not cache:
            raise forms.ValidationError(_("Choose at least one SSD for the log or the cache."))
        return self.cleaned_data


class SizeField(forms.CharField):
    """A size as typed, such as "4G"; the sentence of `parse_size` if it is none."""

    def clean(self, value: Any) -> str:
        text: str = super().clean(value)
        if not text:
            return ""
        try:
            parse_size(text)
        except ValueError:
            raise forms.ValidationError(
                _("“%(text)s” is not a size. Enter a number above zero with K, M, G or T, for example 4G.")
                % {"text": text}
            ) from None
        return text


def _radios() -> forms.RadioSelect:
    return forms.RadioSelect(attrs={"class": "form-check-input"})


class LayoutForm(forms.Form):
    """How large, and where. Fields that do not apply to the chosen disks are left out."""

    log_on = forms.ChoiceField(label=gettext_lazy("Mirrored or single"), widget=_radios())
    log_size = SizeField(label=gettext_lazy("Log size"), max_length=12)
    cache_size = SizeField(label=gettext_lazy("Cache size on each SSD"), max_length=12, required=False)
    reserve_percent = forms.IntegerField(
        label=gettext_lazy("Reserve on each SSD"), min_value=0, max_value=MAX_RESERVE_PERCENT
    )
    naming = forms.ChoiceField(
        label=gettext_lazy("Device names in the pool"),
        widget=_radios(),
        choices=[
            (Naming.PARTUUID.value, gettext_lazy("by-partuuid (recommended): unique to this slice")),
            (Naming.DISK_ID.value, gettext_lazy("by-id: shows the model and serial in zpool status")),
        ],
    )

    def __init__(self, posted: QueryDict | None, draft: Draft, inventory: Inventory) -> None:
        initial = _initial(draft)
        super().__init__(None if posted is None else _completed(posted, initial, draft), initial=initial)
        if draft.attach_to or not draft.log_disks:
            del self.fields["log_size"]
        if draft.attach_to or len(draft.log_disks) < MIRROR_SIDES:
            del self.fields["log_on"]
        else:
            field = self.fields["log_on"]
            assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
            field.choices = _places_for_log(draft, inventory)
        if not draft.cache_disks:
            del self.fields["cache_size"]
        self.draft = draft

    def changed_draft(self) -> Draft:
        """The draft with the choices of a valid form; where there is no mirror to choose, the next one is one again."""
        data = {"log_on": MIRROR, **self.cleaned_data, "naming": Naming(self.cleaned_data["naming"])}
        chosen = replace(self.draft, **data)
        return chosen if chosen.cache_size == self.draft.cache_size else replace(chosen, cache_total=0)


def _initial(draft: Draft) -> dict[str, Any]:
    return {
        "log_on": draft.log_sides[0] if len(draft.log_sides) == 1 else MIRROR,
        "log_size": draft.log_size,
        "cache_size": draft.cache_size,
        "reserve_percent": draft.reserve_percent,
        "naming": draft.naming.value,
    }


def _completed(posted: QueryDict, initial: dict[str, Any], draft: Draft) -> dict[str, Any]:
    """What was posted, with what is chosen already where the page did not ask yet.

    The SSD on which a single log was to be may just have been taken off.
    """
    data = {name: posted.get(name, value) for name, value in initial.items()}
    return data if data["log_on"] in draft.log_disks else {**data, "log_on": MIRROR}


def _places_for_log(draft: Draft, inventory: Inventory) -> list[tuple[str, str]]:
    """A mirror over all chosen disks, and each of them alone."""
    labels = {key: disk.label for key in draft.log_disks if (disk := inventory.disk(key))}
    singles = [(key, _("Single log on %(disk)s") % {"disk": label}) for key, label in labels.items()]
    everywhere = _(" and ").join(labels.values())
    return [(MIRROR, _("Mirror on %(disks)s: if one fails, no data is lost") % {"disks": everywhere}), *singles]


class ApplyForm(PasswordForm):
    """What is accepted with it, whether to keep it or to try it first, and the password."""

    trial = forms.ChoiceField(
        label=gettext_lazy("Keep it, or try it first?"),
        required=False,
        choices=(
            ("0", gettext_lazy("Keep it")),
            (str(4 * HOUR_S), gettext_lazy("Try it for 4 hours")),
            (str(DAY_S), gettext_lazy("Try it for a day")),
            (str(3 * DAY_S), gettext_lazy("Try it for 3 days")),
            (str(7 * DAY_S), gettext_lazy("Try it for a week")),
            (str(30 * DAY_S), gettext_lazy("Try it for 30 days")),
        ),
        help_text=gettext_lazy(
            "You can undo this later. A trial is reverted when it ends, unless someone keeps it; your password "
            "authorises that as well. Try it for a day or longer: the same hours are compared."
        ),
    )
    field_order = ("trial", "password")

    def __init__(self, data: QueryDict | None, risks: tuple[Risk, ...]) -> None:
        super().__init__(data)
        self.risks = risks
        self.accepted = frozenset(data.getlist("accept")) if data else frozenset()

    def clean(self) -> dict[str, Any]:
        """Every risk must have been accepted, before the password is looked at."""
        for risk in self.risks:
            if risk.key not in self.accepted:
                said = _("Nothing was changed: “%(words)s” is not ticked. Tick it, or go back and change your choices.")
                self.add_error(None, said % {"words": risk.words})
        return self.cleaned_data

    @property
    def trial_s(self) -> int:
        """How long it is tried, in seconds, 0 for good; of a valid form."""
        return int(self.cleaned_data.get("trial") or 0)
