"""The pages of disks: the table, the page of each, what one may have done about them."""
