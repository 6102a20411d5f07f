"""The command line, `nasadvisor …`: the same services as the host worker, in process; no web, Redis or database."""

from nasadvisor.cli.main import main

__all__ = ["main"]
