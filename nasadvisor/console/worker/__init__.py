"""The console's background: tasks, the clock and its schedules, and what hosts say."""
