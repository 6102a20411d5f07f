"""What an SSD told about its power-loss protection is what every page says of it."""

from nasadvisor.console.change.wizard.preview import preview_of
from nasadvisor.console.health.models import StoredDisk
from tests.unit.console.test_pages import load
from tests.unit.machines import MIRROR_AND_CACHES, home_server, plan_for


def test_the_preview_does_not_call_unknown_what_the_disks_page_calls_confirmed() -> None:
    load(home_server())
    StoredDisk.objects.update(power_loss="confirmed")
    preview = preview_of(plan_for(MIRROR_AND_CACHES, home_server()), home_server(), ())
    assert preview
    assert "power-loss-protection-unknown" not in {finding.code for finding in preview.warnings}
