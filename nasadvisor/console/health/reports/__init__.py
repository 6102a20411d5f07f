"""Printable reports: made in the background, shown, sent every month."""
