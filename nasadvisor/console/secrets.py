"""Secrets of channels and second factors in the database: encrypted by a key that lies beside it, readable by the
console only.

A copy of the database alone gives nothing away. The key is made by `manage.py prepare`.
"""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


class SecretUnreadable(Exception):  # noqa: N818 - named for what happened
    """A secret cannot be decrypted; `str(error)` says what to do."""


def encrypt(text: str) -> str:
    """A secret as it may be stored.

    Raises:
        SecretUnreadable: there is no key.
    """
    return _fernet(settings.CHANNEL_KEY_FILE).encrypt(text.encode()).decode("ascii")


def decrypt(token: str) -> str:
    """A stored secret; "" stands for none.

    Raises:
        SecretUnreadable: there is no key, or another one encrypted it.
    """
    if not token:
        return ""
    from cryptography.fernet import InvalidToken  # noqa: PLC0415 - 9 MiB, and many a console has no secret

    try:
        return _fernet(settings.CHANNEL_KEY_FILE).decrypt(token.encode()).decode()
    except InvalidToken:
        raise SecretUnreadable(
            _("This secret was encrypted with another key, so it cannot be used. Enter it again.")
        ) from None


def new_key() -> str:
    """A key for the key file."""
    from cryptography.fernet import Fernet  # noqa: PLC0415 - as above

    return Fernet.generate_key().decode("ascii")


@lru_cache(maxsize=2)
def _fernet(path: Path) -> "Fernet":
    from cryptography.fernet import Fernet  # noqa: PLC0415 - as above

    try:
        return Fernet(path.read_text(encoding="ascii").strip())
    except (OSError, ValueError) as error:
        raise SecretUnreadable(
            _(
                "The key for stored secrets cannot be read (%(file)s). `manage.py prepare` creates one; secrets that "
                "were encrypted with a lost key must be entered again."
            )
            % {"file": path}
        ) from error
