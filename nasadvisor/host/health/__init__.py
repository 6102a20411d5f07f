"""Asking disks for their health."""
