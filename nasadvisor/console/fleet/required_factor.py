"""Of whom a second factor is required. Who has none gets to the pages that set one up first (`first_things`)."""

from collections.abc import Mapping
from typing import Final

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest

from nasadvisor.console.fleet.factors import has_factor
from nasadvisor.console.fleet.roles import UserRole, role_of
from nasadvisor.console.fleet.single_sign_on import is_known_to_platform

REQUIRED: Final[Mapping[str, frozenset[UserRole]]] = {
    "no": frozenset(),
    "administrators": frozenset({UserRole.ADMIN}),
    "operators": frozenset({UserRole.ADMIN, UserRole.OPERATOR}),
    "everybody": frozenset(UserRole),
}
"""Whom each word of NASADVISOR_SECOND_FACTOR is about."""


def is_missing(request: HttpRequest) -> bool:
    """Whether who is signed in must have a second factor and has none."""
    required, user = REQUIRED[settings.SECOND_FACTOR], request.user
    if not required or not isinstance(user, User):
        return False
    return role_of(user) in required and not has_factor(user) and not is_known_to_platform(user)
