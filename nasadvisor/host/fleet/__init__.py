"""The platforms this host is of, and the console it is joined to."""
