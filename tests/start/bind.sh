#!/bin/bash
# --dome-bind core: tasks on different processors, each on one; not more tasks than processors; and nothing by default.
. "$(dirname "$0")/../support/checks.bash"
: "${DOME_BUILD_DIR:?}" "${RUN_MULTI:?}"
program=$DOME_BUILD_DIR/tests/programs/bound
if ! command -v pvmd >/dev/null && [ ! -x "${PVM_ROOT:-/usr/lib/pvm3}/lib/pvmd" ]; then
    echo "skipped: PVM is not installed"
    exit 77
fi
processors=$(nproc)
[ "$processors" -ge 2 ] || { echo "skipped: this machine has one processor"; exit 77; }

run() { # TASKS OPTIONS...: "PROCESSORS..." of each task, in order of ranks
    "$RUN_MULTI" "$1" "$program" --dome-output all "${@:2}" | sed 's/^\[[0-9]*\] //' | sort -n | cut -d' ' -f2-
}

all=$(run 2 | sort -u)
[ "$(echo "$all" | wc -w)" -eq "$processors" ] || fail "by default tasks have the processors '$all' instead of all $processors"
bound=$(run 2 --dome-bind core)
[ "$(echo "$bound" | sort -u | wc -l)" -eq 2 ] && [ "$(echo "$bound" | wc -w)" -eq 2 ] || fail "two tasks are bound to: $bound"
[ "$(run 2 --dome-bind none | sort -u)" = "$all" ] || fail "--dome-bind none binds"
many=$(run $((processors + 1)) --dome-bind core | sort -u)
[ "$many" = "$all" ] || fail "more tasks than processors are bound to: $many"
exit $((failures > 0))
