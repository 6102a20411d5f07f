"""Hosts on other machines: a message service with TLS for them, who may do what there, joining, and what they tell."""
