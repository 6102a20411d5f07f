"""Which SSD to buy, and what that costs a year at the prices in the address; they are not kept."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from nasadvisor.domain.evidence.options import NAMES, Known, Option, OptionsTable
from nasadvisor.domain.evidence.shopping import BOUGHT, Price, ShoppingList, YearlyCost, shopping_of, yearly_costs

LARGEST: Final = 10_000_000


def _number(**words: Any) -> forms.FloatField:
    return forms.FloatField(required=False, min_value=0, max_value=LARGEST, **words)


class PricesForm(forms.Form):
    """What parts cost, in whatever currency."""

    log_price = _number(label=_("Log SSD: price"))
    log_rated = _number(label=_("Log SSD: TBW (TB)"))
    cache_price = _number(label=_("Cache SSD: price"))
    cache_rated = _number(label=_("Cache SSD: TBW (TB)"))
    memory_price = _number(label=_("1 GiB of memory: price"))

    def prices(self) -> dict[Option, Price]:
        """Those that were entered; none if one of them cannot be."""
        if not self.is_valid():
            return {}
        entered: dict[str, Any] = self.cleaned_data
        return {
            option: Price(entered[f"{option}_price"], entered.get(f"{option}_rated") or 0.0)
            for option in BOUGHT
            if entered.get(f"{option}_price")
        }


@dataclass(frozen=True)
class ShownCost:
    """What a choice costs a year; `width` is its bar in percent of the dearest."""

    name: str
    cost: YearlyCost
    width: float


@dataclass(frozen=True)
class ShownList:
    """A shopping list with its name."""

    name: str
    list: ShoppingList


def shopping_context(known: Known, table: OptionsTable, query: QueryDict) -> dict[str, object]:
    """What the template needs: the lists, the form, and the costs if prices were entered."""
    form = PricesForm(query or None)
    costs = yearly_costs(table, form.prices())
    lists = tuple(ShownList(gettext(NAMES[each.option]), each) for each in shopping_of(known, table))
    return {"lists": lists, "prices": form, "costs": tuple(_shown(costs))}


def _shown(costs: tuple[YearlyCost, ...]) -> Iterator[ShownCost]:
    most = max((each.per_year for each in costs), default=0.0)
    for each in costs:
        yield ShownCost(gettext(NAMES[each.option]), each, round(100 * each.per_year / most, 1))
