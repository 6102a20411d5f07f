"""Which disk of a pool goes, whether it may go now, and by which command; all of it is printed and nothing is run."""
