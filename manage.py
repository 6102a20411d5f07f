#!/usr/bin/env python3
"""Django's command line for the console: migrate, setup_link, load_machine and the rest."""

import os
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    """Run one management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nasadvisor.settings")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
