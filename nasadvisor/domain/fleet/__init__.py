"""Hosts among others: platforms they are of, consoles they join, what they say to each other."""
