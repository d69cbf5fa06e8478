#!/bin/bash
# Each road between tasks of one host, and machines that forbid some of them: the same results, and a word where it is slower.
. "$(dirname "$0")/../support/checks.bash"
: "${DOME_BUILD_DIR:?}" "${RUN_MULTI:?}"
forbid=$DOME_BUILD_DIR/tests/programs/forbid
program=$DOME_BUILD_DIR/tests/multi/collectives
said=$(mktemp) || exit 1
trap 'rm -f "$said"' EXIT

check() { # NAME PATTERN COMMAND...: PATTERN is of the only line that may be said; "" if nothing may
    local name=$1 pattern=$2 status
    shift 2
    echo "-- $name"
    "$RUN_MULTI" "$@" 2>"$said"
    status=$?
    [ $status -ne 77 ] || exit 77
    sed -i '/^dome: running as root/d' "$said"
    [ $status -eq 0 ] || fail "$name: status $status: $(cat "$said")"
    if [ -z "$pattern" ]; then
        [ ! -s "$said" ] || fail "$name: it says: $(cat "$said")"
    else
        [ "$(wc -l <"$said")" -eq 1 ] && grep -Eq "$pattern" "$said" || fail "$name: it says: $(cat "$said")"
    fi
}

if [ ! -x "$program" ] || { ! command -v pvmd && [ ! -x "${PVM_ROOT:-/usr/lib/pvm3}/lib/pvmd" ]; } >/dev/null; then
    echo "skipped: PVM is not installed"
    exit 77
fi
slow='^dome: tasks on host \S+ exchange data through pvm, which is slower: shared memory cannot be had: Operation not permitted$'
for road in best vm shm pvm; do
    check "$road" "" 3 "$program" --dome-road $road
done
check "memory of others forbidden, asked for" "^dome: tasks on host \S+ may not read each other's memory" \
    3 "$forbid" process_vm_readv "$program" --dome-road vm
check "memory of others forbidden" "" 3 "$forbid" process_vm_readv "$program"
check "shared memory forbidden" "$slow" 3 "$forbid" memfd_create "$program"
check "both forbidden" "$slow" 2 "$forbid" process_vm_readv,memfd_create "$program"
exit $((failures > 0))
