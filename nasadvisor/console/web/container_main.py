"""The pages in a container: `python -m nasadvisor.console.web.container_main` with the arguments of uvicorn.

There is no root that could bring a certificate there. So it is made in the console's volume; the settings decide as
they do on a host (`nasadvisor.runtime.serving`).
"""

import os
import shutil
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import uvicorn

from nasadvisor.runtime import environment, serving


def settings_of_pages(settings: Mapping[str, str], folder: Path) -> dict[str, str]:
    """What uvicorn and Django are to be told; nothing where the pages come over plain HTTP.

    Raises:
        ValueError: the certificate that was named cannot be used.
        OSError: none could be made.
    """
    named = serving.named_certificate(settings)
    if serving.asked_for_plain(settings) or (named is None and serving.left_to_others(settings)):
        shutil.rmtree(folder, ignore_errors=True)  # `setup_link` names what lies there
        return {}
    pair = named or serving.own_certificate(folder)
    if named is None:
        serving.make_own_if_due(pair, settings, datetime.now(UTC))
    if problem := serving.problem_of(pair):
        raise ValueError(f"This certificate cannot be used, so the pages are not served: {problem}")
    return serving.settings_for(pair)


def main() -> None:
    """With the settings of this process."""
    state = environment.folder("NASADVISOR_CONSOLE_STATE", "/var/lib/nasadvisor/console")
    try:
        for name, value in settings_of_pages(os.environ, state / "tls").items():
            os.environ[name] = os.environ.get(name) or value
    except (OSError, ValueError) as error:
        sys.exit(f"nasadvisor: {error}")
    uvicorn.main()


if __name__ == "__main__":
    main()
