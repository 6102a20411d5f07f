"""What to do on the worst night: one procedure for each kind of trouble, found by the code of what is said."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from nasadvisor.explain.procedures.failed_log import FAILED_LOG
from nasadvisor.explain.procedures.no_import import NO_IMPORT
from nasadvisor.explain.procedures.procedure import Procedure, ProcedureStep, command_for, filled
from nasadvisor.explain.procedures.stopped_undo import STOPPED_UNDO
from nasadvisor.explain.procedures.which_disk import WHICH_DISK
from nasadvisor.explain.procedures.worn_ssd import WORN_SSD

__all__ = ["BY_CODE", "PROCEDURES", "Procedure", "ProcedureStep", "command_for", "filled"]

_ALL: Final = (FAILED_LOG, NO_IMPORT, WHICH_DISK, WORN_SSD, STOPPED_UNDO)

PROCEDURES: Final[Mapping[str, Procedure]] = MappingProxyType({each.name: each for each in _ALL})
"""By name, in the order of the list."""

BY_CODE: Final[Mapping[str, Procedure]] = MappingProxyType({code: each for each in _ALL for code in each.codes})
"""By each code that leads to it."""
