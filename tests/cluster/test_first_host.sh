#!/bin/bash
# The host at which the user sits, where the hub and the first task are, dies, is cut off or stops: the tasks on the other
# hosts end by themselves within the timeout, and the daemons that were started for them too.
. "$(dirname "${BASH_SOURCE[0]}")/common"
in_lab 3 "$@"
. "$here/faults"

for place in ${*:-own sum wait}; do
    for fault in kill cut stop; do
        name=$fault.h1.$place
        say "$fault h1, program in $place"
        start "$name" "$place"
        since=$(now)
        "$lab" $fault h1
        until_true no_tasks h2 h3 || fail "$name: tasks are left: $(tasks h2 h3)"
        in_time "$name, tasks of the other hosts"
        clean "$name" h2 h3
        case $fault in
        kill)
            wait "$program"
            on h1 find /tmp -xdev -mindepth 1 -maxdepth 1 -name 'dome-*' -exec rm -r {} +
            "$lab" sshd h1
            ;;
        cut)
            wait "$program"
            status=$?
            in_time "$name"
            failed_with "$name" "task [1-5] on host h[23]" "$(operation_of $place)"
            "$lab" mend h1
            ;;
        stop)
            "$lab" go h1
            wait "$program"
            status=$?
            [ $status -ne 0 ] || fail "$name: status 0"
            ;;
        esac
        clean "$name"
    done
done
finish
