"""What somebody answered in the first step, put together from both of its forms."""

from dataclasses import dataclass, replace
from datetime import datetime

from django.http import HttpRequest, QueryDict
from django.utils import timezone

from nasadvisor.console.accounts.roles import user_of
from nasadvisor.console.change.wizard.advice import Advice
from nasadvisor.console.change.wizard.devices import disk_choices
from nasadvisor.console.change.wizard.draft import Draft, DraftStore, Loaded, sized
from nasadvisor.console.change.wizard.forms import DevicesForm, LayoutForm
from nasadvisor.console.fleet.models import Node
from nasadvisor.console.storage.pools import pool_or_404
from nasadvisor.domain.storage.inventory import Inventory, Pool


@dataclass(frozen=True)
class WizardPlace:
    """Where in the wizard somebody is: a pool of the node that is shown, the choices made for it, and our advice.

    `asked_at` is when their request came.
    """

    node: Node
    inventory: Inventory
    pool: Pool
    advice: Advice
    kept: DraftStore
    loaded: Loaded
    asked_at: datetime

    @property
    def draft(self) -> Draft:
        """The choices to go on with."""
        return self.loaded.draft

    @property
    def is_only_pool(self) -> bool:
        """Whether there is no other to choose."""
        return len(self.inventory.pools) == 1

    def save(self, draft: Draft) -> None:
        """Keep other choices for it."""
        self.kept.save(draft, self.asked_at)


def place_of(request: HttpRequest, pool_guid: str) -> WizardPlace:
    """The pool and the choices made for it.

    Raises:
        Http404: the node that is shown has no such pool.
    """
    asked_at = timezone.now()
    node, inventory, pool = pool_or_404(request, pool_guid)
    advice, kept = Advice(node, inventory, pool), DraftStore(user_of(request), node, pool_guid)
    return WizardPlace(node, inventory, pool, advice, kept, kept.load(inventory, advice.draft), asked_at)


@dataclass(frozen=True)
class PostedForms:
    """Both forms as they were posted, and the draft that comes of them; what is not accepted is left as it was."""

    devices: DevicesForm
    layout: LayoutForm
    draft: Draft

    @property
    def are_valid(self) -> bool:
        """Whether everything was accepted."""
        return self.devices.is_valid() and self.layout.is_valid()


def answers_to(posted: QueryDict, place: WizardPlace) -> PostedForms:
    """The draft with the ticked disks and typed sizes, caches as large as is recommended unless one was typed."""
    choices = disk_choices(place.inventory, place.pool, place.draft, place.node.platform.vetoes)
    devices = DevicesForm(posted, choices, place.draft)
    ticked = replace(
        place.draft,
        log_disks=devices.offered("log", posted.getlist("log")),
        cache_disks=devices.offered("cache", posted.getlist("cache")),
    )
    layout = LayoutForm(posted, ticked, place.inventory)
    draft = layout.changed_draft() if layout.is_valid() else ticked
    return PostedForms(devices, layout, sized(draft, place.inventory))
