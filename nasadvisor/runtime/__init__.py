"""What every process of the product is made of: its settings, its names and certificates, its sign of life."""
