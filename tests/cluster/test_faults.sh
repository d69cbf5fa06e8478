#!/bin/bash
# A host of three dies, is cut off or stops: the program is over within the timeout, with one line that names task, host and
# operation, and no task of it is left anywhere.
. "$(dirname "${BASH_SOURCE[0]}")/common"
in_lab 3 "$@"
. "$here/faults"

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

for place in ${*:-own map sum exchange wait}; do
    case_of kill h2 $place
    case_of cut h3 $place
    case_of stop h2 $place
done
finish
