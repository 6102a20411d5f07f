"""`manage.py reset_lock_out`: ends every wait after wrong passwords and codes."""

from django.core.management.base import BaseCommand

from nasadvisor.console.accounts.models import WrongAnswers


class Command(BaseCommand):
    """Forgets all wrong answers, of names, networks and users."""

    help = "End every wait after wrong passwords and codes."

    def handle(self, *_args: object, **_options: object) -> None:
        """Say how many names, networks and users had given some."""
        count, _by_model = WrongAnswers.objects.all().delete()
        self.stdout.write(
            f"Nobody has to wait any more. Wrong answers of {count} names, networks and users were forgotten."
        )
