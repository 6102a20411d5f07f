"""Commands that join a console on another machine."""
