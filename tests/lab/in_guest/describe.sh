# Prints for each disk its partition table and the signatures on it, with separators no output contains.
sync
blockdev --flushbufs "$@"
for disk in "$@"; do
    printf '\034'
    sfdisk --dump "$disk" 2>/dev/null
    printf '\035'
    wipefs --no-act --noheadings --output OFFSET,TYPE,LABEL,UUID "$disk"
done
