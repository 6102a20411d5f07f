"""Runs inside the lab guest: asks the host for a scrub of the pool with GUID; prints why there is none, or nothing."""

import sys

from nasadvisor.host.build import health_of
from nasadvisor.host.config import load_config
from nasadvisor.host.errors import HostError


def main(guid: str) -> None:
    try:
        health_of(load_config()).start_scrub(guid)
    except HostError as error:
        print(error)


if __name__ == "__main__":
    main(sys.argv[1])
