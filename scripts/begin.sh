# shellcheck shell=bash
# What both ways to run the product say at their end.
PORT=8843
WAIT_S=300

# A line of shell that tries a command each second, and then fails.
trying() {
    echo "for second in {1..$WAIT_S}; do $1 && exit; sleep 1; done 2> /dev/null; exit 1"
}

# wait_and_say_how_to_begin ADDRESS COMMAND…: the command runs a line of shell where the product is installed.
wait_and_say_how_to_begin() {
    local address=$1 link making
    shift
    link=$(mktemp)
    # Beside the other wait: on a slow machine both take long. A service that has started has its certificate.
    {
        "$@" "$(trying 'systemctl --quiet is-active nasadvisor-web')" &&
            "$@" "/usr/lib/nasadvisor/manage setup_link --base-url $address < /dev/null 2> /dev/null"
    } > "$link" &
    making=$!
    "$@" "$(trying "(: < /dev/tcp/127.0.0.1/$PORT)")" ||
        { echo "The web pages do not answer. See why with: journalctl -u 'nasadvisor-*'" >&2 && exit 1; }
    echo "NAS Advisor runs at $address"
    wait "$making" || true
    [ ! -s "$link" ] || printf '%s\n  %s\n' "Make the first administrator here (the link works once, for a day):" \
        "$(cat "$link")"
    rm "$link"
}
