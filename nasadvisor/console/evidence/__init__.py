"""The pages that tell from a pool's samples what a log or a cache would do, and what it did."""
