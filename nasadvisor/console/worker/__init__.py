"""The console's background: tasks, the clock, and what hosts say."""
