"""The exact commands of each action, as argument vectors.

The preview prints these and the host runs these: there is no second rendering. Rules kept here: never `-f` or
`--allow-*`, always `log` or `cache`, always `-o ashift=`, always persistent paths, guids for removal.
"""

from nasadvisor.domain.change.actions import (
    Action,
    AddCache,
    AddLog,
    AttachLog,
    CreateSlice,
    CreateTable,
    DeleteSlice,
    DetachLog,
    DropLogLeg,
    RemoveVdev,
    RestoreTable,
    SaveTable,
    Slice,
    UndoAction,
)

Argv = tuple[str, ...]


def commands(action: Action | UndoAction) -> tuple[Argv, ...]:
    """What runs for this action, in order; the first word is the tool. Empty where no command is involved."""
    match action:
        case CreateTable():
            return (("sgdisk", "--clear", f"--disk-guid={action.table_uuid}", action.disk_path),)
        case CreateSlice(slice=piece):
            return (_create_slice(piece),)
        case AddLog():
            return (add_argv(action),)
        case AddCache():
            return (add_argv(action),)
        case AttachLog():
            ashift = f"ashift={action.ashift}"
            return (("zpool", "attach", "-o", ashift, action.pool_name, action.existing_guid, action.leg.path),)
        case RemoveVdev():
            return (("zpool", "remove", action.pool_name, action.vdev_guid),)
        case DetachLog() | DropLogLeg():
            return (("zpool", "detach", action.pool_name, action.vdev_guid),)
        case DeleteSlice(slice=piece):
            return (
                ("zpool", "labelclear", piece.partuuid_path),
                ("blkdiscard", piece.partuuid_path),
                ("sgdisk", f"--delete={piece.number}", piece.disk_path),
            )
        case RestoreTable() | SaveTable():
            return ()


def add_argv(action: AddLog | AddCache) -> Argv:
    """`zpool add`, always with its class keyword and the pool's own ashift (zpool-add(8))."""
    head = ("zpool", "add", "-o", f"ashift={action.ashift}", action.pool_name)
    match action:
        case AddLog(legs=legs):
            keyword = ("log", "mirror") if action.is_mirror else ("log",)
            return (*head, *keyword, *(leg.path for leg in legs))
        case AddCache(slices=pieces):
            return (*head, "cache", *(piece.path for piece in pieces))


def dry_run_argv(action: AddLog | AddCache) -> Argv:
    """The same `zpool add` with `-n`, which shows the resulting layout and changes nothing."""
    argv = add_argv(action)
    return (*argv[:2], "-n", *argv[2:])


def _create_slice(piece: Slice) -> Argv:
    """sgdisk(8) with absolute sectors. No partition name: a name shared with another disk would let OpenZFS's
    import search (by-partlabel before by-partuuid) open the wrong one."""
    first = piece.start_bytes // piece.sector_bytes
    last = (piece.start_bytes + piece.size_bytes) // piece.sector_bytes - 1
    return (
        "sgdisk",
        f"--new={piece.number}:{first}:{last}",
        f"--typecode={piece.number}:BF01",
        f"--partition-guid={piece.number}:{piece.partuuid}",
        piece.disk_path,
    )
