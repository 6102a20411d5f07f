#!/bin/bash
# Every file of the package, put in place below a directory: stage.sh TREE
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$1
install -D -m 0755 "$here/pve-link" "$tree/usr/lib/nasadvisor-pve-link/pve-link"
install -D -m 0644 "$here/nasadvisor.js" "$tree/usr/share/pve-manager/js/nasadvisor.js"
