"""The shopping list of `nasadvisor advise`, and what each choice costs a year at the prices that were given."""

from collections.abc import Iterable
from typing import Any, Final

import click

from nasadvisor.cli.tables import heading, paragraph, table
from nasadvisor.domain.evidence.options import NAMES, Option
from nasadvisor.domain.evidence.shopping import BOUGHT, Price, ShoppingList, YearlyCost, parse_price
from nasadvisor.stored.documents import to_document

FORM: Final = "log=89:700"


def prices_in(_ctx: click.Context, _parameter: click.Parameter, told: tuple[str, ...]) -> dict[Option, Price]:
    """Prices as they are typed: "log=89:700" is an SSD for 89 that is rated for 700 TB, "memory=5" a GiB for 5.

    Raises:
        click.BadParameter: it is not such a price.
    """
    found: dict[Option, Price] = {}
    for text in told:
        name, _equals, figures = text.partition("=")
        try:
            option, price = Option(name), parse_price(figures)
        except ValueError as error:
            raise click.BadParameter(f"{text!r} is no price like {FORM}: {error}.") from error
        if option not in BOUGHT:
            raise click.BadParameter(f"{text!r}: prices are of {', '.join(each.value for each in BOUGHT)}.")
        found[option] = price
    return found


def print_shopping(lists: Iterable[ShoppingList], costs: tuple[YearlyCost, ...]) -> None:
    """What to look for in a data sheet, each number with what makes it; then the money, if prices were given."""
    for each in lists:
        count = f"{each.count} SSDs, each" if each.count > 1 else "an SSD"
        heading(f"To buy for {NAMES[each.option]}: {count}")
        for need in each.needs:
            paragraph(f"{need.what} {need.because}")
    if costs:
        heading("At the prices given")
        rows = (
            (NAMES[each.option], f"{each.at_once:.2f}", f"{each.years:.1f}", f"{each.per_year:.2f}") for each in costs
        )
        table(("CHOICE", "AT ONCE", "YEARS", "PER YEAR"), rows, "<>>>")


def shopping_document(lists: Iterable[ShoppingList], costs: Iterable[YearlyCost]) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "needs": [
            {**to_document(each), "sentences": [f"{need.what} {need.because}" for need in each.needs]} for each in lists
        ],
        "costs": [{**to_document(each), "per_year": each.per_year} for each in costs],
    }
