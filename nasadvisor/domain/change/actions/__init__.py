"""What a plan can do, and what an undo can do: typed, immutable, and pure.

A file for each action: what it is (`describe`), whether it adds, changes or takes away (`category`), what the inventory
looks like afterwards (`forwards`), what runs for it (`commands`), how it is seen that it happened (`landed`, `gone`),
what takes it back (`undo`), and what it means for the pool (`if_lost`, `never_undone`). Rules about when it may run are
in `checks`, `undo_checks` and `device_scan`, so that they are read in one place; what is special about a machine is in
the host's executor. The shape is that of Django's migration operations.
"""

from nasadvisor.domain.change.actions.add_cache import AddCache
from nasadvisor.domain.change.actions.add_log import AddLog
from nasadvisor.domain.change.actions.attach_log import AttachLog
from nasadvisor.domain.change.actions.base import PLANNED_GUID, Argv, Category, Outcome
from nasadvisor.domain.change.actions.clear_slice import ClearSlice
from nasadvisor.domain.change.actions.create_slice import CreateSlice
from nasadvisor.domain.change.actions.create_table import CreateTable
from nasadvisor.domain.change.actions.delete_slice import DeleteSlice
from nasadvisor.domain.change.actions.detach_log import DetachLog
from nasadvisor.domain.change.actions.drop_log import DropLog
from nasadvisor.domain.change.actions.drop_log_side import DropLogSide
from nasadvisor.domain.change.actions.offline_cache import OfflineCache
from nasadvisor.domain.change.actions.online_cache import OnlineCache
from nasadvisor.domain.change.actions.pieces import Naming, Role, Slice
from nasadvisor.domain.change.actions.remove_vdev import RemoveVdev
from nasadvisor.domain.change.actions.restore_table import RestoreTable
from nasadvisor.domain.change.actions.rewind_table import RewindTable
from nasadvisor.domain.change.actions.save_table import SaveTable

__all__ = [
    "PLANNED_GUID",
    "Action",
    "AddCache",
    "AddLog",
    "Argv",
    "AttachLog",
    "Category",
    "Cleaning",
    "ClearSlice",
    "CreateSlice",
    "CreateTable",
    "DeleteSlice",
    "DetachLog",
    "DropLog",
    "DropLogSide",
    "Naming",
    "OfflineCache",
    "OnlineCache",
    "Outcome",
    "RemoveVdev",
    "RestoreTable",
    "RewindTable",
    "Role",
    "SaveTable",
    "Slice",
    "UndoAction",
]

Action = CreateTable | SaveTable | CreateSlice | AddLog | AddCache | AttachLog | DropLogSide | DropLog | OfflineCache

UndoAction = RemoveVdev | DetachLog | DeleteSlice | RestoreTable | OnlineCache

Cleaning = RewindTable | ClearSlice
"""What makes the host ready for a step that is to run again."""
