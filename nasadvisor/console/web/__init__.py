"""What stands in front of the pages: bounds, names of the console, errors, what is let in."""
