"""NAS Advisor: log and cache devices for OpenZFS, advised, set up, proven and undone."""

__version__ = "0.1.0"
