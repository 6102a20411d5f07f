"""Measuring by writing, and taking back what that needed."""
