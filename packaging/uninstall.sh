#!/bin/bash
# Remove NAS Advisor from this host. Pools, disks and slices stay as they are: undo runs first if you want them gone.
# With --purge the settings, the users and the journals go as well; without journals no run can be undone any more.
set -euo pipefail

case "${1:-}" in
    "" | --purge) ;;
    *)
        echo "Say uninstall.sh or uninstall.sh --purge." >&2
        exit 2
        ;;
esac
[ "$(id -u)" = 0 ] || { echo "Only root can uninstall. Run it again with sudo." >&2 && exit 1; }

systemctl disable --now --quiet nasadvisor-beat nasadvisor-web nasadvisor-console nasadvisor-host nasadvisor-redis \
    2> /dev/null || true
rm -f /etc/systemd/system/nasadvisor-*.service /usr/lib/sysusers.d/nasadvisor.conf \
    /usr/lib/tmpfiles.d/nasadvisor.conf /usr/bin/nasadvisor
rm -rf /usr/lib/nasadvisor /run/nasadvisor
systemctl daemon-reload

if [ "${1:-}" = --purge ]; then
    rm -rf /etc/nasadvisor /var/lib/nasadvisor
    ! getent passwd nasadvisor > /dev/null || userdel nasadvisor
    echo "NAS Advisor is removed, with its settings and journals."
else
    echo "NAS Advisor is removed. Its settings are kept in /etc/nasadvisor, its journals in /var/lib/nasadvisor."
fi
echo "No pool, disk or slice was touched: logs and caches that it added are still in use."
