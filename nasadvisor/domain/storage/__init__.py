"""What a machine is made of: disks, partitions, pools; sizes, gaps and tables on them."""
