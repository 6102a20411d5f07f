"""Every form that outlives a process or crosses the wire: its number, its codec, and how earlier ones become it."""
