# shellcheck shell=bash
# What both ways to run the product say at their end.
PORT=8843
WAIT_S=300

# wait_and_say_how_to_begin ADDRESS COMMAND…: the command runs a line of shell where the product is installed.
wait_and_say_how_to_begin() {
    local address=$1 link
    shift
    "$@" "for second in {1..$WAIT_S}; do (: < /dev/tcp/127.0.0.1/$PORT) && exit; sleep 1; done 2> /dev/null; exit 1" ||
        { echo "The web pages do not answer. See why with: journalctl -u 'nasadvisor-*'" >&2 && exit 1; }
    echo "NAS Advisor runs at $address"
    link=$("$@" "/usr/lib/nasadvisor/manage setup_link --base-url $address < /dev/null 2> /dev/null" || true)
    [ -z "$link" ] || printf '%s\n  %s\n' "Make the first administrator here (the link works once, for a day):" "$link"
}
