"""Changing the machine: the gate, runs and their journals, apply, undo, trials."""
