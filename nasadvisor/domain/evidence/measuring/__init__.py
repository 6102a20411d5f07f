"""Measurements that write: a probe of a pool, a test of an SSD, and what follows from them."""
