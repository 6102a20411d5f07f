"""Commands that plan, apply and undo, and that show runs."""
