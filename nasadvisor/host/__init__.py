"""What touches the machine: adapters to its tools and the services built on them. Runs as root.

Start with `machine` (what a machine is made of here), then `inventory`; `adapters` has one module per tool.
"""
