"""Changing pools: actions, plans, the rules that allow or refuse them, runs and how they are taken back."""
