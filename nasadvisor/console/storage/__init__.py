"""Pages of pools and disks, and the drawings of them."""
