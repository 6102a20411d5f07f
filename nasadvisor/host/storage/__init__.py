"""Reading the machine: what it is made of, and one frozen picture of it."""
