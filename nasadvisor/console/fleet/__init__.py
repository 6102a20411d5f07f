"""Hosts and who asks them: nodes, their pages, hosts on other machines."""
