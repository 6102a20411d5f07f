"""People: who signs in and how, what they may do, and what they did."""
