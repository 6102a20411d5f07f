"""The Django app."""

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """Registers models and templates under the label `console`."""

    name = "nasadvisor.console"
    label = "console"
    verbose_name = "NAS Advisor"
