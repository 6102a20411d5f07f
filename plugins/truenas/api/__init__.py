"""TrueNAS's own API: JSON-RPC 2.0 in a WebSocket over TLS. The supported way, for whole disks only."""
