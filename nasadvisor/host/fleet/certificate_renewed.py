"""Whether the web service must start again because there is another certificate for it, or because its own is due.

Run as a module it ends with 0 if so and with 1 if not, as systemd asks of an ExecCondition.
"""

import sys
from datetime import UTC, datetime

from nasadvisor.host.config import ENVIRONMENT_FILE, read_environment_file
from nasadvisor.host.fleet.certificate import FOLDER, OWN, certificate_of, is_renewed

if __name__ == "__main__":
    settings = read_environment_file(ENVIRONMENT_FILE)
    sys.exit(0 if is_renewed(FOLDER, certificate_of(settings), OWN, datetime.now(UTC)) else 1)
