"""What a pool's users do and wait for, what was measured, and what a log or a cache would do about it."""
