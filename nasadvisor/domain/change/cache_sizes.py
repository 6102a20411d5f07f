"""How large caches may be so that nobody has to be warned of them, and all fit."""

from nasadvisor.domain.change.plan import PlanRequest, room_on
from nasadvisor.domain.change.warnings import HEADER_MEMORY_PERCENT
from nasadvisor.domain.storage.inventory import Host, Inventory
from nasadvisor.domain.storage.logs import new_side_bytes
from nasadvisor.domain.storage.sizing import L2ARC_HEADER_BYTES, TYPICAL_BLOCK_BYTES
from nasadvisor.domain.units import GIB, MIB, align_down, align_up


def cache_bytes_each(inventory: Inventory, request: PlanRequest, total_bytes: int) -> int | None:
    """How large each cache of a wish should be, so that all together have no more than this, fit, and are not worth a
    warning for their headers' memory: whole GiB, below that whole MiB; None for as much as fits, where that is no more.
    """
    total_bytes = min(total_bytes, largest_quiet_cache_bytes(inventory.host))
    rooms = []  # what the log leaves on each of the disks, without the reserve
    for disk in filter(None, map(inventory.disk, request.cache_disks)):
        room_bytes = room_on(disk, inventory.host, request.reserve_percent).size_bytes
        rooms.append(room_bytes - (_log_bytes(inventory, request) if disk.key in request.log_disks else 0))
    share_bytes = total_bytes // max(len(request.cache_disks), 1)
    if max(rooms, default=0) <= share_bytes:
        return None
    size_bytes = max(min(share_bytes, *rooms), 0)
    return align_down(size_bytes, GIB if size_bytes >= GIB else MIB)


def largest_quiet_cache_bytes(host: Host) -> int:
    """The largest cache whose headers are not worth the warning "cache-headers-large"."""
    return host.memory_bytes * HEADER_MEMORY_PERCENT // 100 * TYPICAL_BLOCK_BYTES // L2ARC_HEADER_BYTES


def _log_bytes(inventory: Inventory, request: PlanRequest) -> int:
    """How much the log takes of each of its disks."""
    pool = inventory.pool(request.pool_guid)
    if pool is None or not request.attach_to:
        return align_up(request.log_size_bytes)
    return align_up(new_side_bytes(pool, request.attach_to, request.replaces, inventory))
