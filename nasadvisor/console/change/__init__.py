"""Pages that plan and apply, and the pages of runs."""
