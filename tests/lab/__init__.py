"""The lab: a QEMU guest with real OpenZFS and disks that look and misbehave like disks. See README.md."""
