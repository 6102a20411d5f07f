"""One module per tool or interface of the machine; each turns its output into the domain's types."""
