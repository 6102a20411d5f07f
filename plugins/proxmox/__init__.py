"""Proxmox VE."""
