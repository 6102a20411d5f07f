"""Wear over time: from readings of a drive to forecasts of its rated endurance, per drive and per role.

Percent is percent of *rated* endurance: 100 is the end of the warranty's promise, not of the drive.
"""
