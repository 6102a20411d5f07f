#!/bin/sh
# Runs inside the new root: installs the package as a user would, but on a system that does not run, and brings the
# database up to date, which the first boot would else do. Argument: where tests look for the Python packages.
set -eu
hostname "$(cat /etc/hostname)"
DEBIAN_FRONTEND=noninteractive apt-get --yes install /tmp/nasadvisor.deb
state=/var/lib/nasadvisor/console
runuser -u nasadvisor -- sh -c "cd $state; umask 0077
    /usr/lib/nasadvisor/venv/bin/python -I /usr/lib/nasadvisor/app/manage.py prepare && touch $state/prepared"
ln -s /usr/lib/nasadvisor/venv "$1"
