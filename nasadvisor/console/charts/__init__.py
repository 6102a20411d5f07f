"""Figures over time as SVG: what the charts of every room have in common."""
