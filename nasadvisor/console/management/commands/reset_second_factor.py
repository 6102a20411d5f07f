"""`manage.py reset_second_factor`: for somebody who lost their app and their recovery codes."""

from argparse import ArgumentParser

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from nasadvisor.console.accounts import audit
from nasadvisor.console.accounts.account_notices import tell
from nasadvisor.console.accounts.audit_models import Act
from nasadvisor.console.accounts.second_factor.factors import remove_factors
from nasadvisor.console.accounts.sessions import sessions_of


class Command(BaseCommand):
    """Takes all second factors of a user away, and signs them out everywhere."""

    help = "Take the second factors of a user away, and sign them out everywhere. Their password stays."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="the name that they sign in with")

    def handle(self, *_args: object, user: str, **_options: object) -> None:
        found = User.objects.filter(username=user).first()
        if found is None:
            raise CommandError(f"There is no user {user!r}. Nothing was changed.")
        if not remove_factors(found):
            raise CommandError(f"{user} has no second factor. Nothing was changed.")
        audit.record_without_browser(Act.FACTORS_RESET, user)
        tell(found, Act.FACTORS_RESET, by="")
        for session in sessions_of(found):
            session.delete()
        self.stdout.write(f"{user} signs in with the password alone now, and was signed out everywhere.")
