#!/bin/sh
# Stops the servers that up.sh started for DIR and waits until they are gone; the data stays for the next up.sh.
#
#   down.sh [DIR]
set -eu

dir=$(cd "${1:-/tmp/mcpress-wordpress}" && pwd)
for name in php mariadbd; do
    [ -s "$dir/$name.pid" ] || continue
    pid=$(cat "$dir/$name.pid")
    # A process id may have gone to another program since, so the command has to speak of DIR.
    if grep -qF "$dir" "/proc/$pid/cmdline" 2>/dev/null; then
        # The whole group: the web server's workers are processes of their own.
        kill -s TERM -- "-$pid"
        tail --pid="$pid" -f /dev/null
    fi
    rm -f "$dir/$name.pid"
done
