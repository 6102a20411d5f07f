"""For other programs: tokens, the JSON interface, the metrics for Prometheus."""
