"""One file a benchmark: a module here with `figures()`, which yields `Figure`s or raises `Skipped`."""
