"""Evidence: what sampling costs, and whether the verdicts hold against the truth in the lab."""
