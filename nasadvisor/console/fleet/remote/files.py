"""Where the certificates of the message service for other hosts lie, in its folder."""

from pathlib import Path


def authority_path(folder: Path) -> Path:
    """The certificate that hosts trust."""
    return folder / "authority.pem"


def certificate_path(folder: Path) -> Path:
    """The certificate of the message service."""
    return folder / "server.pem"


def key_path(folder: Path) -> Path:
    """Its key."""
    return folder / "server.key"
