"""A made-up node of Proxmox VE: an /etc/pve in the forms of its manual pages, and what its /sys shows of an SSD."""

from pathlib import Path

from nasadvisor.domain.units import GIB
from plugins.proxmox.host import ProxmoxHost
from tests.unit.machines import NVME1, home_server

VERSION = "dpkg-query '--showformat=${Version}' --show pve-manager"

STORAGES = """dir: local
\tpath /var/lib/vz
\tcontent iso,vztmpl,backup

zfspool: local-zfs
\tpool tank/data
\tcontent images,rootdir
\tsparse 1

dir: files
\tpath /tank/files/images
\tcontent images
"""

MAIL = """boot: order=scsi0
name: mail
scsi0: local-zfs:vm-100-disk-0,iothread=1,size=32G
scsi1: files:100/vm-100-disk-1.qcow2,size=8G
ide2: none,media=cdrom
net0: virtio=BC:24:11:00:00:01,bridge=vmbr0

[before-update]
name: mail
scsi0: local-zfs:vm-999-disk-0,size=32G
"""

CLONE = "scsi0: local-zfs:base-9000-disk-0/vm-102-disk-0,size=8G\n"
CONTAINER = "hostname: web\nrootfs: local-zfs:subvol-101-disk-0,size=8G\nmp0: local-zfs:subvol-101-disk-1,mp=/srv\n"
MOUNTS = "tank /tank zfs rw 0 0\ntank/files /tank/files zfs rw 0 0\n/dev/sda1 / ext4 rw 0 0\n"


def made_node(root: Path) -> ProxmoxHost:
    """A node with two virtual machines and a container."""
    files = {
        "usr/bin/pvesh": "",
        "etc/pve/storage.cfg": STORAGES,
        "etc/pve/qemu-server/100.conf": MAIL,
        "etc/pve/qemu-server/102.conf": CLONE,
        "etc/pve/lxc/101.conf": CONTAINER,
        "proc/self/mounts": MOUNTS,
        "sys/module/zfs/parameters/zfs_arc_max": f"{3 * GIB}\n",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return ProxmoxHost(root)


def give(node: ProxmoxHost, line: str, guest: str = "qemu-server/100") -> None:
    """Put a line into the configuration of a guest, VM 100 unless another is named, before all that is there."""
    path = node.root / f"etc/pve/{guest}.conf"
    path.write_text(f"{line}\n{path.read_text()}")


def append(node: ProxmoxHost, line: str, guest: str) -> None:
    """Put lines after all that is there."""
    path = node.root / f"etc/pve/{guest}.conf"
    path.write_text(f"{path.read_text()}{line}\n")


def link(node: ProxmoxHost) -> None:
    """The first NVMe SSD in /dev, with links to it that udev's database does not know."""
    dev = node.root / "dev"
    (dev / "block").mkdir(parents=True)
    (dev / "nvme0n1").touch()
    (dev / "block/259:0").symlink_to("../nvme0n1")
    (dev / "cache-ssd").symlink_to("block/259:0")
    (node.root / "mnt").mkdir()
    for name in ("my ssd", "my-ssd"):
        (node.root / "mnt" / name).symlink_to("../dev/nvme0n1")


def plug(node: ProxmoxHost, place: str) -> None:
    """The first NVMe SSD hangs there in /sys/devices; a mapping names its address on this node, another on others."""
    ssd = home_server().disk(NVME1)
    assert ssd is not None
    device = node.root / "sys/devices" / place / ssd.kernel_name
    device.mkdir(parents=True)
    (device / "dev").write_text("259:0\n")
    (node.root / "sys/block").mkdir()
    (node.root / "sys/block" / ssd.kernel_name).symlink_to(device)
    pve = node.root / "etc/pve"
    (pve / "nodes/pve1").mkdir(parents=True)
    (pve / "local").symlink_to("nodes/pve1")
    (pve / "mapping").mkdir()
    fast = "fast\n\tmap node=pve1,path=0000:01:00.0,id=144d:a808,iommugroup=1\n"
    vmd = "behind-vmd\n\tmap id=144d:a80a,node=pve1,path=10000:e1:00.0\n"
    other = "other\n# fast\n\tmap node=pve2,path=0000:01:00.0,id=144d:a808\n"
    (pve / "mapping/pci.cfg").write_text(f"{fast}\n{vmd}\n{other}")


def plug_usb(node: ProxmoxHost) -> None:
    """The first SSD is in a case behind a hub at a USB port, as the kernel shows it in /sys; and mappings of it."""
    plug(node, "pci0000:00/0000:00:14.0/usb2/2-1/2-1.4/2-1.4:1.0/host6/target6:0:0/6:0:0:0/block")
    case = node.root / "sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1.4"
    for name, text in (("idVendor", "0bda"), ("idProduct", "9210"), ("busnum", "2"), ("devnum", "5")):
        (case / name).write_text(f"{text}\n")
    mappings = (
        "case-port\n\tmap id=0bda:9210,node=pve1,path=2-1.4\n\n"
        "case-ids\n\tdescription the fast one\n\tmap id=0BDA:9210,node=pve1\n\n"
        "other\n\tmap id=0bda:9210,node=pve2,path=2-1.4\n\tmap id=0bda:9210,node=pve1,path=2-3\n"
    )
    (node.root / "etc/pve/mapping/usb.cfg").write_text(mappings)
