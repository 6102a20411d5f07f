"""`python -m plugins.truenas`."""

from plugins.truenas.cli import main

main(prog_name="nasadvisor-truenas")
