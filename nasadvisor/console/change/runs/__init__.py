"""Runs: the page that follows one, undo and finish, and the history of all."""
