"""The web console: what a user sees. It never touches a host; `hosts` asks host workers, `tasks` stores the answers."""
