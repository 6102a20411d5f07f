"""TrueNAS SCALE."""
