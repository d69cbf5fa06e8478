#!/bin/bash
# A host of three dies, is cut off or stops: the program is over within the timeout, with one line that names task, host and
# operation, and no task of it is left anywhere.
. "$(dirname "${BASH_SOURCE[0]}")/common"
in_lab 3 "$@"
phase=$DOME_BUILD_DIR/tests/cluster/phase
timeout=4

start() { # NAME PLACE
    : >"$work/$1.out" # `until_true` looks at it
    run "$1" on h1 "$dome" run --hosts "$work/hosts" -n 6 "$phase" "$2" --dome-timeout $timeout &
    program=$!
    until_true grep -q there "$work/$1.out" || fail "$1: it does not start: $(errors "$1")"
}

# The tasks of the program on these hosts.
tasks() {
    "$lab" ps "$@" | grep -F "$phase"
}

no_tasks() {
    [ -z "$(tasks "$@")" ]
}

# NAME: since $since, no longer than the timeout and what a busy machine may add.
in_time() {
    local took
    took=$(awk -v a="$since" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }')
    echo "   $1: $took s"
    awk -v t="$took" -v most="$((timeout + 2))" 'BEGIN { exit !(t <= most) }' || fail "$1: over only after $took s"
}

operation_of() {
    case $1 in
    own) echo "was in the program's own code" ;;
    map) echo "was in dvec_(map|sum) of 'x'" ;;
    sum | wait) echo "was in dvec_sum of 'x'" ;;
    exchange) echo "was in dvec_shift of 'y'" ;;
    esac
}

# FAULT HOST PLACE
case_of() {
    local fault=$1 host=$2 place=$3 name=$1.$2.$3
    say "$fault $host, program in $place"
    start "$name" "$place"
    since=$(now)
    "$lab" "$fault" "$host"
    wait "$program"
    status=$?
    in_time "$name"
    failed_with "$name" "task [0-9] on host $host" "$(operation_of "$place")"
    no_tasks h1 || fail "$name: left on the first host: $(tasks h1)"
    case $fault in
    kill)
        until_true no_tasks || fail "$name: tasks are left"
        "$lab" sshd "$host"
        # What a power cut leaves is not the program's.
        on "$host" find /tmp -xdev -mindepth 1 -name 'dome-host.*' -exec rm -r {} +
        ;;
    cut)
        until_true no_tasks || fail "$name: tasks are left: $(tasks)"
        in_time "$name, tasks of the host that is cut off"
        clean "$name, before the link is mended"
        "$lab" mend "$host"
        ;;
    stop) "$lab" go "$host" ;;
    esac
    clean "$name"
}

run() {
    local name=$1
    shift
    "$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null
}

for place in ${*:-own map sum exchange wait}; do
    case_of kill h2 $place
    case_of cut h3 $place
    case_of stop h2 $place
done
finish
