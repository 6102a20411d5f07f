"""Hosts and who asks them: nodes, accounts, roles, hosts on other machines."""
