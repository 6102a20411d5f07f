"""What is wrong on any host, since when, and whom it was told: findings, alerts, channels, delivery."""
