"""What this release speaks."""

from nasadvisor import __version__
from nasadvisor.domain.fleet.schema_versions import SchemaVersions
from nasadvisor.stored.kinds import kinds_between_console_and_host


def own_schema_versions(node: str = "") -> SchemaVersions:
    """What a host of this name speaks, or the console of this release."""
    return SchemaVersions(node, __version__, {kind.name: kind.number for kind in kinds_between_console_and_host()})
