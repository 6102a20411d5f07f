"""Reading counters every few seconds, and tracing who waits."""
