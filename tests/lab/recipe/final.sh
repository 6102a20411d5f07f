#!/bin/sh
# Runs inside the new root after our files are in: what starts at boot, and the initial RAM disk.
set -eu

# One fixed identity: systemd would else take the first boot for an installation.
echo 6e61732d616476696f7220206c616221 > /etc/machine-id
echo LANG=C.UTF-8 > /etc/default/locale

systemctl set-default multi-user.target
systemctl enable lab-network.service
# The product runs a Redis of its own; tests start the rest when they need it.
systemctl mask redis-server.service
for unit in nfs-server nfs-blkmap nfs-idmapd rpcbind.service rpcbind.socket rpc-statd smartmontools \
    mdmonitor lvm2-monitor; do
    systemctl disable "$unit" || true
done
for unit in systemd-logind.service getty@tty1.service serial-getty@ttyS0.service systemd-pstore.service \
    e2scrub_reap.service e2scrub_all.timer apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer \
    fstrim.timer man-db.timer systemd-timesyncd.service nvmefc-boot-connections.service \
    nvmf-autoconnect.service mdcheck_start.timer mdcheck_continue.timer mdmonitor-oneshot.timer \
    lvm2-lvmpolld.socket systemd-hwdb-update.service ldconfig.service systemd-tpm2-setup.service \
    systemd-tpm2-setup-early.service; do
    systemctl mask "$unit" || true
done

update-initramfs -u
# Debian's own units would redo at every boot what these files say is done.
touch /usr
touch -r /usr /etc/.updated /var/.updated
