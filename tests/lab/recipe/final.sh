#!/bin/sh
# Runs inside the new root after our files are in: what starts at boot, and the initial RAM disk.
# A boot under emulation takes as long as what is started is much, so nothing starts that no test looks at.
set -eu

# One fixed identity: systemd would else take the first boot for an installation.
echo 6e61732d616476696f7220206c616221 > /etc/machine-id
echo LANG=C.UTF-8 > /etc/default/locale

# The modules for the one kernel that is here, in the place of the empty package.
kernel=$(ls /lib/modules)
dpkg --install /tmp/lab-zfs-modules.deb
test -e "/lib/modules/$kernel/extra/zfs.ko"
test -x /usr/sbin/zed
depmod "$kernel"

systemctl --root=/ set-default multi-user.target
systemctl --root=/ enable lab-network.service
# The product runs a Redis of its own; tests start the others when they need them.
systemctl --root=/ disable nfs-server nfs-blkmap nfs-idmapd rpcbind.service rpcbind.socket smartmontools \
    lvm2-monitor blk-availability || true
systemctl --root=/ mask redis-server.service $(cat /tmp/masked-units)

# Generators look for hardware and files that the guest does not have.
mkdir -p /etc/systemd/system-generators /etc/udev/rules.d
for generator in systemd-ssh systemd-gpt-auto systemd-hibernate-resume systemd-rc-local systemd-sysv \
    systemd-system-update systemd-tpm2 systemd-getty systemd-run systemd-debug rpc-pipefs; do
    ln -s /dev/null "/etc/systemd/system-generators/$generator-generator"
done
# Each of these starts programs for every block device: aliases nobody configured, caches nobody uses.
for rules in 69-vdev 69-bcache 90-iocost; do
    ln -s /dev/null "/etc/udev/rules.d/$rules.rules"
done

# The initial RAM disk only needs the boot disk.
for hook in mdadm lvm2 cryptroot dmsetup btrfs bcache resume fsck thermal keymap; do
    rm -f /usr/share/initramfs-tools/hooks/$hook /usr/share/initramfs-tools/scripts/*/$hook
done
update-initramfs -u

# Debian's own units would redo at every boot what these files say is done.
touch /usr
touch -r /usr /etc/.updated /var/.updated
