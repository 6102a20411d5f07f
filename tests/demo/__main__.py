"""`python -m tests.demo [FOLDER]`: the pages of the machine of tests/story as files, in a story of five stops.

They need no server: a browser opens FOLDER/index.html (build/demo where none is named), or any server for files shows
them below whatever path. Nothing in them asks for anything, and no form of them is sent.
"""

import os
import sys
import tempfile
from pathlib import Path

import django
from django.core.management import call_command
from django.test import override_settings

PLAIN_FILES = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}


def main() -> None:
    """Write all of it, from a console that is forgotten afterwards."""
    target = Path(sys.argv[1] if sys.argv[1:] else "build/demo")
    with tempfile.TemporaryDirectory() as state:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "nasadvisor.settings",
            "NASADVISOR_CONSOLE_STATE": state,
            "NASADVISOR_DEBUG": "yes",  # no TLS in front of what is asked for here
        }
        django.setup()
        call_command("prepare", verbosity=0)
        from tests.demo.export import export  # noqa: PLC0415 - models need what is set up above
        from tests.demo.machine import stops_of_the_story  # noqa: PLC0415

        with override_settings(STORAGES=PLAIN_FILES):
            written = export(stops_of_the_story(Path(state)), target)
    print(f"{written} pages. Open {target / 'index.html'}")


if __name__ == "__main__":
    main()
