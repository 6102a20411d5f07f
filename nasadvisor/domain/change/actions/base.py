"""What all actions have in common."""

from enum import StrEnum

PLANNED_GUID = "planned"
"""Stands for the guid of a vdev that OpenZFS has yet to create."""


class Category(StrEnum):
    """Django's marks: what an action does to the topology."""

    ADDITION = "+"
    REMOVAL = "-"
    ALTERATION = "~"
