"""Commands that watch and measure, and say what a log or a cache would do."""
