"""What the product knows about storage, as plain data and pure functions.

Nothing here reads a machine, a clock or a database. Start with `inventory`, then `actions`, `checks`, `plan`, `undo`.
"""
