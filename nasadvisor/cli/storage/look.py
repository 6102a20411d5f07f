"""`nasadvisor inventory` and `nasadvisor pools`: what is there."""

import json
from collections import Counter

import click

from nasadvisor.cli.errors import json_option
from nasadvisor.cli.services import services_for
from nasadvisor.cli.storage.disks import use_of
from nasadvisor.cli.tables import columns_option, heading, table
from nasadvisor.domain.storage.inventory import Disk, Pool, Vdev
from nasadvisor.domain.units import size_text
from nasadvisor.stored.documents import to_document

DISK_HEADS = ("MODEL", "SERIAL", "SIZE", "BUS", "KIND", "NOW", "USE", "NAME")
POOL_HEADS = ("NAME", "STATE", "SIZE", "ALLOC", "FREE", "DATA", "LOG", "CACHE")


@click.command()
@columns_option(*DISK_HEADS)
@json_option
@click.pass_context
def inventory(ctx: click.Context, columns: str, as_json: bool) -> None:
    """Show this host: its disks, what holds them, and its pools."""
    found = services_for(ctx).inventory()
    if as_json:
        click.echo(json.dumps(to_document(found), ensure_ascii=False))
        return
    if columns:
        table(DISK_HEADS, (_disk_row(disk) for disk in found.disks), "<<><<<<<", columns)
        return
    host = found.host
    versions = f"OpenZFS {host.zfs_userland}" if host.zfs_userland else "no OpenZFS"
    if host.zfs_kernel != host.zfs_userland:
        versions += f" (kernel module {host.zfs_kernel or 'not loaded'})"
    click.echo(
        f"{host.node}: {host.os_name}, Linux {host.kernel}, {versions}, {size_text(host.memory_bytes)} of memory"
    )
    click.echo(f"Read at {found.read_at}.")
    heading("Pools")
    _print_pools(found.pools)
    heading("Disks")
    table(DISK_HEADS, (_disk_row(disk) for disk in found.disks), "<<><<<<<")


@click.command()
@click.option("--guids", "-g", is_flag=True, help="Show the guids of pools and vdevs too.")
@columns_option(*POOL_HEADS)
@json_option
@click.pass_context
def pools(ctx: click.Context, guids: bool, columns: str, as_json: bool) -> None:
    """Show the imported pools with their logs and caches."""
    found = services_for(ctx).inventory().pools
    if as_json:
        click.echo(json.dumps([to_document(pool) for pool in found], ensure_ascii=False))
        return
    _print_pools(found, columns)
    for pool in () if columns else found:
        heading(f"{pool.name} (guid {pool.guid})" if guids else pool.name)
        rows = [
            (vdev_class, f"{'  ' * (vdev is not top)}{vdev.path or vdev.name}", vdev.state, vdev.guid)
            for vdev_class, tops in pool.by_class().items()
            for top in tops
            for vdev in top.walk()
        ]
        table(("CLASS", "VDEV", "STATE", "GUID"), rows, columns="" if guids else "class,vdev,state")


def _print_pools(found: tuple[Pool, ...], columns: str = "") -> None:
    if not found:
        click.echo("No pool is imported.")
        return
    rows = []
    for pool in found:
        sizes = (pool.size_bytes, pool.allocated_bytes, pool.size_bytes - pool.allocated_bytes)
        layouts = map(_layout, (pool.data, pool.logs, pool.caches))
        rows.append((pool.name, pool.state, *map(size_text, sizes), *layouts))
    table(POOL_HEADS, rows, "<<>>><<<", columns)


def _layout(tops: tuple[Vdev, ...]) -> str:
    """Like "2 mirrors of 2": kinds of top-level vdevs with their number."""
    found = []
    for (kind, width), count in Counter((top.kind, len(top.children)) for top in tops).items():
        name = f"{count} {kind}s" if count > 1 else f"{count} {kind}"
        found.append(f"{name} of {width}" if width else name)
    return " + ".join(found) or "-"


def _disk_row(disk: Disk) -> tuple[str, ...]:
    identity = disk.identity
    return (
        identity.model or "-",
        identity.serial or "-",
        size_text(identity.size_bytes),
        disk.bus,
        "HDD" if disk.rotational else "SSD",
        disk.kernel_name,
        use_of(disk),
        disk.path or "-",
    )
