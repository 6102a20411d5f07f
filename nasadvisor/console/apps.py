"""The Django app."""

from importlib import import_module

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """Registers models and templates under the label `console`."""

    name = "nasadvisor.console"
    label = "console"
    verbose_name = "NAS Advisor"

    def ready(self) -> None:
        """Listen to who signs in and out."""
        import_module("nasadvisor.console.accounts.audit")
        import_module("nasadvisor.console.accounts.sessions")
