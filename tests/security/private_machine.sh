#!/bin/bash
# A private machine of one host is that host's alone: no socket of a program is bound to an address that others reach; and the
# program starts when the host's name means an address that the host does not have.
. "$(dirname "$0")/../support/checks.bash"
build=${DOME_BUILD_DIR:-build}
worker=$(readlink -f "$build/tests/programs/worker")
starter=$(readlink -f "$build/tests/programs/starter")

if [ -z "${INSIDE:-}" ]; then
    command -v pvmd >/dev/null || [ -x "${PVM_ROOT:-/usr/lib/pvm3}/lib/pvmd" ] || { echo "skipped: PVM is not installed"; exit 77; }
    command -v ip >/dev/null || { echo "skipped: ip is not installed"; exit 77; }
    why=$(unshare --user --map-root-user --net --mount --uts true 2>&1) || { echo "skipped: namespaces cannot be made ($why)"; exit 77; }
    work=$(mktemp -d /tmp/dome-test.XXXXXX) || exit 1
    trap 'rm -rf "$work"' EXIT
    INSIDE=$work TMPDIR=$work PVM_TMP=$work unshare --user --map-root-user --net --mount --uts "$BASH" "$0" </dev/null
    exit
fi

# The host is called inside; its interface has the address 10.1.2.3.
ip link set lo up && ip link add outside0 type veth peer name outside1 && ip addr add 10.1.2.3/24 dev outside0 && ip link set outside0 up && ip link set outside1 up &&
    hostname inside || { echo "skipped: no interface can be made"; exit 77; }
called() {
    printf '127.0.0.1 localhost\n%s inside\n' "$1" >"$INSIDE/hosts"
    mount --bind "$INSIDE/hosts" /etc/hosts
}

# Local addresses of all sockets of this network that are not bound to 127.0.0.1, as the kernel writes them.
open_to_others() {
    awk 'FNR > 1 && $2 !~ /^(0100007F|7F000001):/ { print FILENAME ": " $2 }' /proc/net/tcp /proc/net/udp /proc/net/raw
    awk 'FNR > 1 && $2 !~ /^0{24}01000000:/ { print FILENAME ": " $2 }' /proc/net/tcp6 /proc/net/udp6 2>/dev/null
}

called 10.1.2.3
"$worker" "$INSIDE" 0 sum --dome-tasks 3 2>"$INSIDE/err" &
program=$!
for _ in $(seq 1200); do
    [ -e "$INSIDE/there.2" ] && [ -e "$INSIDE/there.0" ] && [ -e "$INSIDE/there.1" ] && break
    kill -0 $program 2>/dev/null || break
    sleep 0.05
done
[ -e "$INSIDE/there.0" ] || fail "the program does not start: $(cat "$INSIDE/err")"
for _ in 1 2 3 4 5; do
    rest=$(open_to_others)
    [ -z "$rest" ] || break
    sleep 0.1
done
[ -z "$rest" ] || fail "open to others: $rest"
kill -KILL "$(cat "$INSIDE/rank.1")"
wait $program
grep -q 'task 1 on host inside is lost' "$INSIDE/err" || fail "the host is not called by its name: $(cat "$INSIDE/err")"

called 10.9.9.9
got=$("$starter" sum --dome-tasks 3 2>"$INSIDE/err")
[ "$got" = "3 tasks, sum 500" ] || fail "with a name that means another address: '$got' $(cat "$INSIDE/err")"

left=$(find "$INSIDE" -mindepth 1 -maxdepth 1 -name 'dome-*')
[ -z "$left" ] || fail "left behind: $left"
exit $((failures > 0))
