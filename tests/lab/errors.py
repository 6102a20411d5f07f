"""What the lab says when it cannot go on."""


class LabError(Exception):
    """A plain sentence for the person at the keyboard: what went wrong and where to look."""


class InUseError(LabError):
    """Another process has this guest."""
