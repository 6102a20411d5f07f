"""People who ask hosts for something, without a row of their own."""

from django.contrib.auth.models import User


def person(name: str) -> User:
    """An administrator of this name."""
    return User(username=name, is_superuser=True)
