"""`python -m nasadvisor.cli`."""

from nasadvisor.cli.main import main

main(prog_name="nasadvisor")
