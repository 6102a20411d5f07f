"""Whether the web service must start again because the platform has another certificate than the pages.

Run as a module it ends with 0 if so and with 1 if not, as systemd asks of an ExecCondition.
"""

import sys

from nasadvisor.host.adapters.process import HostRunner
from nasadvisor.host.fleet.certificate import FOLDER, is_renewed
from nasadvisor.host.fleet.platforms import platforms_of

if __name__ == "__main__":
    sys.exit(0 if is_renewed(FOLDER, platforms_of(HostRunner()).certificate) else 1)
